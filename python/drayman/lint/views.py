"""What rules look at inside objects: pods, claims, requests, devices and CEL expressions, each with its place.

Paths are those of version v1 of the object; :meth:`drayman.lint.document.Document.written_path` turns them into those
of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from drayman.api import schema
from drayman.api.validation import names

if TYPE_CHECKING:
    from drayman.lint.document import Document

Object = Mapping[str, Any]

_TEMPLATES: Mapping[tuple[str, str], str] = {
    ("", "PodTemplate"): "template",
    ("", "ReplicationController"): "spec.template",
    ("apps", "DaemonSet"): "spec.template",
    ("apps", "Deployment"): "spec.template",
    ("apps", "ReplicaSet"): "spec.template",
    ("apps", "StatefulSet"): "spec.template",
    ("batch", "CronJob"): "spec.jobTemplate.spec.template",
    ("batch", "Job"): "spec.template",
}


@dataclass(frozen=True, slots=True)
class PodView:
    """A pod, or the template of pods. `path` is where the template stands, empty for a pod."""

    document: Document
    path: str
    metadata: Object
    spec: Object

    @property
    def spec_path(self) -> str:
        """The path of the pod's spec."""
        return f"{self.path}.spec" if self.path else "spec"

    @property
    def is_template(self) -> bool:
        """Whether pods are made of this."""
        return bool(self.path)

    @property
    def replicas(self) -> int | None:
        """How many pods there are at once, None when nothing says so."""
        spec = self.document.object.get("spec") or {}
        match self.document.kind:
            case "Pod":
                return 1
            case "Deployment" | "ReplicaSet" | "StatefulSet" | "ReplicationController":
                return int(spec.get("replicas", 1))
            case "Job":
                return int(spec.get("parallelism", 1))
            case "CronJob":
                return int(((spec.get("jobTemplate") or {}).get("spec") or {}).get("parallelism", 1))
            case _:
                return None

    def has_claim(self, entry: Object) -> bool:
        """Whether the pod has its claim for an entry already, made from the template."""
        statuses = (self.document.object.get("status") or {}).get("resourceClaimStatuses") or ()
        return any(one.get("name") == entry.get("name") for one in statuses)

    def claims(self) -> Iterator[tuple[str, Object]]:
        """Yield the entries of `resourceClaims` with their paths."""
        for index, entry in enumerate(self.spec.get("resourceClaims") or ()):
            yield f"{self.spec_path}.resourceClaims[{index}]", entry

    def containers(self) -> Iterator[tuple[str, Object]]:
        """Yield all containers with their paths."""
        for name in ("initContainers", "containers", "ephemeralContainers"):
            for index, container in enumerate(self.spec.get(name) or ()):
                yield f"{self.spec_path}.{name}[{index}]", container


@dataclass(frozen=True, slots=True)
class ClaimView:
    """The spec of a ResourceClaim or ResourceClaimTemplate; `path` is where it stands."""

    document: Document
    path: str
    spec: Object

    @property
    def is_template(self) -> bool:
        """Whether claims are made of this."""
        return self.document.kind == "ResourceClaimTemplate"

    @property
    def devices(self) -> Object:
        """The part of the spec that asks for devices."""
        return self.spec.get("devices") or {}

    def requests(self) -> Iterator[RequestView]:
        """Yield what asks for devices of a class: requests, and the alternatives of requests that have some."""
        for index, request in enumerate(self.devices.get("requests") or ()):
            at, name = f"{self.path}.devices.requests[{index}]", str(request.get("name", ""))
            if request.get("exactly") is not None:
                yield RequestView(self, f"{at}.exactly", name, request["exactly"])
            for number, alternative in enumerate(request.get("firstAvailable") or ()):
                part = f"{name}/{alternative.get('name', '')}"
                yield RequestView(self, f"{at}.firstAvailable[{number}]", part, alternative)

    def requests_named(self, names: Object | list[str] | None) -> list[RequestView]:
        """Return the requests that a constraint or configuration for `names` (none: all) is about."""
        chosen = set(names or ())
        every = list(self.requests())
        return [one for one in every if not chosen or one.name in chosen or one.base in chosen]


@dataclass(frozen=True, slots=True)
class RequestView:
    """A request, or an alternative of one, called "request/alternative"; `path` is where its fields stand."""

    claim: ClaimView
    path: str
    name: str
    fields: Object

    @property
    def base(self) -> str:
        """The name of the request, without the alternative."""
        return self.name.partition("/")[0]

    @property
    def device_class(self) -> str:
        """The name of the DeviceClass, empty when none is given."""
        return str(self.fields.get("deviceClassName") or "")

    @property
    def mode(self) -> str:
        """The allocation mode with its default."""
        return str(self.fields.get("allocationMode") or "ExactCount")

    @property
    def count(self) -> int:
        """How many devices are asked for, 1 by default."""
        return int(self.fields.get("count") or 1)


@dataclass(frozen=True, slots=True)
class DeviceView:
    """A device of a ResourceSlice; `path` is where it stands, `fields` its content."""

    document: Document
    path: str
    driver: str
    pool: str
    fields: Object

    @property
    def name(self) -> str:
        """The device as messages name it."""
        return f"{self.driver}/{self.pool}/{self.fields.get('name', '')}"

    @property
    def sound(self) -> Object:
        """The device without versions that no server would take: CEL cannot be asked about those."""
        attributes = self.fields.get("attributes") or {}
        kept = {name: one for name, one in attributes.items() if not any(map(names.semver, _versions(one)))}
        return {**self.fields, "attributes": kept} if len(kept) < len(attributes) else self.fields

    def attribute(self, name: str) -> Object | None:
        """Return the attribute of the qualified name `name`, or None."""
        attributes = self.fields.get("attributes") or {}
        domain, _, bare = name.rpartition("/")
        if name in attributes:
            found: Object = attributes[name]
            return found
        return attributes.get(bare) if domain == self.driver else None

    def attribute_names(self) -> set[str]:
        """Return the qualified names of the attributes."""
        return {self._qualified(name) for name in self.fields.get("attributes") or {}}

    def capacity_names(self) -> set[str]:
        """Return the qualified names of the capacities."""
        return {self._qualified(name) for name in self.fields.get("capacity") or {}}

    def _qualified(self, name: str) -> str:
        return name if "/" in name else f"{self.driver}/{name}"


@dataclass(frozen=True, slots=True)
class ExpressionView:
    """A CEL expression about devices. `request` is the one that it belongs to, None in a DeviceClass.

    A `selector` says whether a device is chosen; a `derived` one computes an attribute.
    """

    document: Document
    path: str
    text: str
    kind: Literal["selector", "derived"]
    request: RequestView | None


def pods(document: Document) -> Iterator[PodView]:
    """Yield the pod that the document is, or the template of pods that it has."""
    obj = document.object
    if (document.group, document.kind) == ("", "Pod"):
        yield PodView(document, "", obj.get("metadata") or {}, obj.get("spec") or {})
        return
    path = _TEMPLATES.get((document.group, document.kind))
    if path is None:
        if document.group not in schema.groups():
            yield from _custom(document)
        return
    template: Any = obj
    for name in path.split("."):
        template = template.get(name) or {}
    yield PodView(document, path, template.get("metadata") or {}, template.get("spec") or {})


def pod_groups(document: Document) -> Iterator[PodView]:
    """Yield a PodGroup, which has claims as a pod has them but no containers."""
    if (document.group, document.kind) == ("scheduling.k8s.io", "PodGroup"):
        obj = document.object
        yield PodView(document, "", obj.get("metadata") or {}, obj.get("spec") or {})


def _custom(document: Document) -> Iterator[PodView]:
    """Yield the templates of pods in an object of a custom kind: whatever has containers in its spec."""
    queue: list[tuple[str, Any, int]] = [("", document.object, 0)]
    while queue:
        path, value, depth = queue.pop(0)
        spec = value.get("spec") if isinstance(value, dict) else None
        if path and isinstance(spec, dict) and isinstance(spec.get("containers"), list):
            decoded = schema.decode({"apiVersion": "v1", "kind": "PodTemplate", "template": value})
            if decoded.fatal is None:
                template = decoded.object["template"]
                yield PodView(document, path, template.get("metadata") or {}, template.get("spec") or {})
        elif depth < _MAX_DEPTH and isinstance(value, dict):
            queue += [(f"{path}.{name}" if path else name, below, depth + 1) for name, below in value.items()]
        elif depth < _MAX_DEPTH and isinstance(value, list):
            queue += [(f"{path}[{index}]", below, depth + 1) for index, below in enumerate(value)]


_MAX_DEPTH = 12
"""How deep a custom kind is searched; templates of real ones are at most half as deep."""


def claims(document: Document) -> Iterator[ClaimView]:
    """Yield the claim spec of a ResourceClaim or ResourceClaimTemplate."""
    if document.group != "resource.k8s.io":
        return
    spec = document.object.get("spec") or {}
    if document.kind == "ResourceClaim":
        yield ClaimView(document, "spec", spec)
    elif document.kind == "ResourceClaimTemplate":
        yield ClaimView(document, "spec.spec", spec.get("spec") or {})


def devices(document: Document) -> Iterator[DeviceView]:
    """Yield the devices of a ResourceSlice."""
    if (document.group, document.kind) != ("resource.k8s.io", "ResourceSlice"):
        return
    spec = document.object.get("spec") or {}
    pool = (spec.get("pool") or {}).get("name", "")
    for index, device in enumerate(spec.get("devices") or ()):
        yield DeviceView(document, f"spec.devices[{index}]", str(spec.get("driver", "")), str(pool), device)


def expressions(document: Document) -> Iterator[ExpressionView]:
    """Yield the CEL expressions of a DeviceClass, ResourceClaim or ResourceClaimTemplate."""
    if (document.group, document.kind) == ("resource.k8s.io", "DeviceClass"):
        yield from _selectors(document, "spec", document.object.get("spec") or {}, None)
    for claim in claims(document):
        for request in claim.requests():
            yield from _selectors(document, request.path, request.fields, request)
            for index, attribute in enumerate(request.fields.get("derivedAttributes") or ()):
                path = f"{request.path}.derivedAttributes[{index}].expression"
                if attribute.get("expression"):
                    yield ExpressionView(document, path, attribute["expression"], "derived", request)


def _versions(attribute: Object) -> list[str]:
    return [*([attribute["version"]] if "version" in attribute else []), *(attribute.get("versions") or ())]


def _selectors(document: Document, path: str, holder: Object, request: RequestView | None) -> Iterator[ExpressionView]:
    for index, selector in enumerate(holder.get("selectors") or ()):
        expression = (selector.get("cel") or {}).get("expression")
        if expression:
            yield ExpressionView(document, f"{path}.selectors[{index}].cel.expression", expression, "selector", request)
