"""Objects as the API server would have them: decoded, in `v1`, with defaults, and with no field left out that every
such object has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drayman.api import convert, defaults, schema
from drayman.errors import InputError

Object = Mapping[str, Any]

_CLUSTER_WIDE = frozenset({"Namespace", "Node", "DeviceClass"})

_ALWAYS_THERE: Mapping[str, tuple[str, ...]] = {
    "core.v1.NodeSelectorRequirement": ("key", "operator"),
    "core.v1.PodAffinityTerm": ("topologyKey",),
    "core.v1.PodCondition": ("type", "status"),
    "core.v1.PodResourceClaim": ("name",),
    "core.v1.PodResourceClaimStatus": ("name",),
    "core.v1.PodSchedulingGate": ("name",),
    "core.v1.Taint": ("key", "effect"),
    "meta.v1.Condition": ("type", "status"),
    "meta.v1.LabelSelectorRequirement": ("key", "operator"),
    "meta.v1.OwnerReference": ("kind", "name", "uid"),
    "resource.v1.DeviceRequest": ("name",),
    "resource.v1.DeviceRequestAllocationResult": ("request", "driver", "pool", "device"),
    "resource.v1.DeviceSubRequest": ("name",),
    "resource.v1.ResourceClaimConsumerReference": ("resource", "name", "uid"),
}
"""Fields that the API server asks for. A manifest that it never saw may lack them; Go reads them as empty then."""


def complete(obj: Object) -> Object:
    """Return the object with its namespace and the API's defaults, `resource.k8s.io` in version `v1`.

    Raises :class:`InputError` for one that is not of its kind.
    """
    decoded = schema.decode(obj)
    if decoded.fatal:
        raise InputError(decoded.fatal.message, field=decoded.fatal.field, object=str(obj.get("kind")))
    found: Object = convert.to_v1(decoded.object)
    if not (found.get("metadata") or {}).get("resourceVersion"):  # a server has given its objects their defaults
        found = defaults.apply(found)
    metadata = found.get("metadata") or {}
    if not metadata.get("name"):
        raise InputError("not set", field="metadata.name", object=str(obj.get("kind")))
    if found["kind"] not in _CLUSTER_WIDE:
        metadata = {**metadata, "namespace": metadata.get("namespace") or "default"}
    kind = schema.type_of(str(found["apiVersion"]), str(found["kind"]))
    whole: Object = _filled({**found, "metadata": metadata, "spec": found.get("spec") or {}}, kind or "")
    return whole


def _filled(value: Any, kind: str) -> Any:
    """Return a value of a type with nothing left out that is always there."""
    if value is None:
        return {} if kind in schema.types() else None
    if kind.startswith("[]") and isinstance(value, list):
        return [_filled(item, kind[2:]) for item in value]
    fields = schema.types().get(kind)
    if fields is None or not isinstance(value, dict):
        return value
    filled = {name: _filled(item, fields.get(name, "")) for name, item in value.items()}
    for name in _ALWAYS_THERE.get(kind, ()):
        filled.setdefault(name, "")
    return filled
