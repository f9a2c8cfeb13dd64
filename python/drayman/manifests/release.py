"""What the manifests of all parts have in common: names, namespace, image, nodes.

They begin as the files in `plain/`, which helm made from the charts with default values, and are changed as the charts'
values would change them.
"""

from __future__ import annotations

import abc
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, ClassVar

from drayman import manifest
from drayman.api.validation import names
from drayman.errors import InputError

Object = dict[str, Any]

NAMESPACE = "drayman-system"
"""Where the parts are unless told otherwise."""

_NAME_LIMIT = 53
"""Bytes that helm accepts in the name of a release."""
_FULL_NAME_LIMIT = 63
_INSTANCE = "app.kubernetes.io/instance"
_REFERENCES = frozenset({"name", "serviceAccountName", "policyName", "resourceNames"})
"""Fields that hold the name of the release's objects."""
_COMPONENT = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_IMAGE = re.compile(
    rf"(?:[a-z0-9.-]+(?::[0-9]+)?/)?{_COMPONENT}(?:/{_COMPONENT})*"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Release(abc.ABC):
    """One part as it is to be deployed.

    `name` is what helm calls the release: that of the chart when empty. An `image` without a tag gets this version's,
    an empty one is drayman's own. Raises :class:`~drayman.errors.InputError` for what no cluster would take.
    """

    chart: ClassVar[str]

    name: str = ""
    namespace: str = NAMESPACE
    image: str = ""
    node_selector: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _refuse("name", self.name, [*names.dns_label(self.name or self.chart), *_too_long(self.name)])
        _refuse("namespace", self.namespace, names.dns_label(self.namespace))
        if self.image and _IMAGE.fullmatch(self.image) is None:
            hint = "REPOSITORY, REPOSITORY:TAG or REPOSITORY@sha256:…, in small letters but for the tag"
            raise InputError(f"`{self.image}` is not the name of an image", field="image", hint=hint)
        for key, value in self.node_selector.items():
            _refuse("node selector", f"{key}={value}", [*names.label_key(key), *names.label_value(value)])
        self.check()

    @abc.abstractmethod
    def check(self) -> None:
        """Raise :class:`~drayman.errors.InputError` for wrong values of one part."""

    @abc.abstractmethod
    def objects(self) -> list[Object]:
        """Return the objects in the order in which they can be created."""

    @property
    def full_name(self) -> str:
        """What the objects of the release are called."""
        name = self.name or self.chart
        return (name if self.chart in name else f"{name}-{self.chart}")[:_FULL_NAME_LIMIT].rstrip("-")

    def named(self, objects: Iterable[Object]) -> list[Object]:
        """Return `objects`, which have the chart's names, with the names of this release."""
        return [self._named("", one) for one in objects]

    def _named(self, key: str, value: Any) -> Any:
        match value:
            case dict():
                return {name: self._named(name, inner) for name, inner in value.items()}
            case list():
                return [self._named(key, inner) for inner in value]
            case self.chart if key in _REFERENCES:
                return self.full_name
            case self.chart if key == _INSTANCE:
                return self.name or self.chart
            case str() if value == NAMESPACE and key in ("name", "namespace"):
                return self.namespace
            case str() if key == "expression":
                return value.replace(f":{NAMESPACE}:{self.chart}'", f":{self.namespace}:{self.full_name}'")
        return value

    def place(self, spec: Object) -> None:
        """Change the spec of the pods: where they run, and from which image."""
        spec["nodeSelector"] = {**spec["nodeSelector"], **self.node_selector}
        (container,) = spec["containers"]
        parsed = _IMAGE.fullmatch(self.image)
        if parsed is not None:
            version = container["image"].rpartition(":")[2]
            is_exact = parsed["tag"] or parsed["digest"]
            container["image"] = self.image if is_exact else f"{self.image}:{version}"


def load(file: str) -> list[Object]:
    """Return the objects of a file in `plain/`."""
    with resources.as_file(resources.files("drayman.manifests") / "plain" / file) as path:
        return [dict(one.object) for one in manifest.load([path])]


def role(part: str) -> Object:
    """Return the ClusterRole of `part`: `scheduler` or `driver`."""
    chart = resources.files("drayman.manifests") / "charts" / f"drayman-{part}"
    with resources.as_file(chart / "files" / "role.yaml") as path:
        (loaded,) = manifest.load([path])
    return dict(loaded.object)


def _refuse(what: str, value: str, problems: Iterable[str]) -> None:
    for problem in problems:
        raise InputError(f"`{value}`: {problem}", field=what)


def _too_long(name: str) -> list[str]:
    return [f"must be no more than {_NAME_LIMIT} bytes"] if names.size(name) > _NAME_LIMIT else []
