"""One object under lint: what it is, and where each part of it stands in its file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from drayman.api import convert, schema
from drayman.errors import InputError
from drayman.lint import scalar
from drayman.manifest import Position, check_type

if TYPE_CHECKING:
    from drayman.api.schema import Decoded
    from drayman.lint.source import Source
    from drayman.manifest import Manifest, Tree

_REQUEST = re.compile(r"(devices\.requests\[\d+\])\.exactly(?=\.)")
_DEVICE = re.compile(
    r"(spec\.devices\[\d+\])(?=\.(?:attributes|capacity|consumesCounters|nodeName|nodeSelector|allNodes|taints"
    r"|bindsToNode|bindingConditions|bindingFailureConditions|allowMultipleAllocations|nodeAllocatableResources)\b)"
)
_START = Position(1, 1, 1, 1)


@dataclass(eq=False)
class Document:
    """One object. `linted` is False for objects that are only context: those are checked, in version v1, and may have
    no source. `default_namespace` is the one of objects that name none.
    """

    manifest: Manifest
    source: Source | None
    linted: bool = True
    default_namespace: str = "default"

    @property
    def given(self) -> dict[str, Any]:
        """The object as it is written."""
        return self.manifest.object

    @property
    def name(self) -> str:
        """The object as messages name it: "Kind namespace/name"."""
        return self.manifest.name

    @property
    def group(self) -> str:
        """The API group, empty for core."""
        return str(self.given.get("apiVersion", "")).rpartition("/")[0]

    @property
    def kind(self) -> str:
        """The kind, empty when there is none."""
        return str(self.given.get("kind") or "")

    @cached_property
    def type_error(self) -> InputError | None:
        """Why this is an object of no kind at all, or None."""
        try:
            check_type(self.manifest)
        except InputError as error:
            return error
        return None

    @cached_property
    def decoded(self) -> Decoded:
        """The object without the fields that its kind does not have, and what was wrong with it."""
        return schema.decode(self.given)

    @cached_property
    def readable(self) -> bool:
        """Whether every field has the type that it must have: rules look at no other objects."""
        return not self.linted or (self.type_error is None and self.decoded.fatal is None)

    @cached_property
    def object(self) -> dict[str, Any]:
        """The object as the API server understands it: known fields only, `resource.k8s.io` in version v1.

        It has no defaults. An object that is not readable has no parts but its type.
        """
        if not self.linted:
            return self.given
        if not self.readable:
            return {"apiVersion": str(self.given.get("apiVersion", "")), "kind": self.kind}
        return convert.to_v1(self.decoded.object)

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """The metadata as it is written, empty when it is no object."""
        metadata = self.given.get("metadata")
        return metadata if isinstance(metadata, dict) else {}

    @property
    def namespace(self) -> str:
        """The namespace in which the object is, or would be."""
        return str(self.metadata.get("namespace") or self.default_namespace)

    @property
    def short_name(self) -> str:
        """The name without kind and namespace, empty when the server is to make one up."""
        return str(self.metadata.get("name") or "")

    def written_path(self, path: str) -> str:
        """Return a path in :attr:`object` as it is in the version in which the object is written."""
        if self.group != convert.GROUP or not str(self.given.get("apiVersion", "")).endswith("/v1beta1"):
            return path
        return _DEVICE.sub(r"\1.basic", _REQUEST.sub(r"\1", path))

    def tree(self, path: str) -> Tree | None:
        """Return what is written at `path` (as written) with its positions, or None when nothing is."""
        found = self.manifest.find(path)
        return found[0] if found and found[1] else None

    def position(self, path: str, *, key: bool = False) -> Position:
        """Return where to point for the field at `path` (as written), or the nearest part of it that is there.

        That is the value of a scalar, and the name of an object or list or, with `key`, of any field.
        """
        found = self.manifest.find(path)
        if found is None or self.source is None:
            return _START
        tree, exact = found
        container = tree.members is not None or tree.items is not None
        if tree.key is not None and (key or container or not exact or tree.value is None):
            return tree.key
        if not container:
            return self.source.first_line(tree.content)
        first = next(iter((tree.members or {}).values()), None)
        name = first.key if first else None
        if not path and tree.members and "kind" in tree.members:
            return self.source.first_line(tree.members["kind"].position)
        return name or self.source.first_line(tree.content)

    def position_within(self, path: str, start: int, end: int) -> Position:
        """Return where the characters from `start` up to `end` of the text at `path` (as written) stand.

        For a text whose characters are not written there one by one, such as an alias, it is the whole.
        """
        tree = self.tree(path)
        if tree is None or self.source is None or not isinstance(tree.value, str):
            return self.position(path)
        found = self._offsets(tree, path)
        if found is None:
            return self.position(path)
        start = min(max(start, 0), len(tree.value))
        end = min(max(end, start), len(tree.value))
        first = found[start]
        last = max(found[end], first)
        return self.source.position(first, last)

    _scalars: dict[str, Any] = field(default_factory=dict, repr=False)

    def _offsets(self, tree: Tree, path: str) -> Any:
        if path not in self._scalars:
            assert self.source is not None
            start, end = self.source.span(tree.content)
            self._scalars[path] = scalar.offsets(self.source.text, start, end, tree.value)
        return self._scalars[path]
