"""Fields whose feature gate is off: the API server clears them without a word, unless the old object used them already.

Source: the strategies in upstream's `pkg/registry/resource` and `pkg/registry/coordination`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import TypeAlias

    _Gated: TypeAlias = tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    """Pairs of gates that are needed together, and the paths that need them."""

# Paths are names joined by dots; `[]` stands for every item of a list, `{}` for every value of a map.
_REQUESTS = "devices.requests.[]"
_ALTERNATIVES = f"{_REQUESTS}.firstAvailable.[]"
_RESULTS = "status.allocation.devices.results.[]"
_DEVICES = "spec.devices.[]"

_CLAIM_SPEC: _Gated = (
    (("DRAPrioritizedList",), (f"{_REQUESTS}.firstAvailable",)),
    (("DRADeviceTaints",), (f"{_REQUESTS}.exactly.tolerations", f"{_ALTERNATIVES}.tolerations")),
    (("DRAAdminAccess",), (f"{_REQUESTS}.exactly.adminAccess",)),
    (
        ("DRAConsumableCapacity",),
        (
            "devices.constraints.[].distinctAttribute",
            f"{_REQUESTS}.exactly.capacity",
            f"{_ALTERNATIVES}.capacity",
        ),
    ),
    (("DRADerivedAttributes",), (f"{_REQUESTS}.exactly.derivedAttributes", f"{_ALTERNATIVES}.derivedAttributes")),
)


def _below(prefix: str) -> _Gated:
    return tuple((gates, tuple(f"{prefix}.{path}" for path in paths)) for gates, paths in _CLAIM_SPEC)


_GATED: Mapping[str, _Gated] = {
    "Lease": (
        (("CoordinatedLeaderElection",), ("spec.strategy",)),
        (("CoordinatedLeaderElection",), ("spec.preferredHolder",)),
    ),
    "DeviceClass": ((("DRAExtendedResource",), ("spec.extendedResourceName",)),),
    "ResourceClaim": (
        *_below("spec"),
        (("DRAResourceClaimDeviceStatus",), ("status.devices",)),
        (("DRAAdminAccess",), (f"{_RESULTS}.adminAccess",)),
        (
            ("DRAConsumableCapacity",),
            (f"{_RESULTS}.shareID", f"{_RESULTS}.consumedCapacity", "status.devices.[].shareID"),
        ),
        (
            ("DRADeviceBindingConditions",),
            (f"{_RESULTS}.bindingConditions", f"{_RESULTS}.bindingFailureConditions"),
        ),
        (("DRAOptionalNodeOperations",), (f"{_RESULTS}.skipNodeOperations",)),
    ),
    "ResourceClaimTemplate": _below("spec.spec"),
    "ResourceSlice": (
        (("DRADeviceTaints",), (f"{_DEVICES}.taints",)),
        (
            ("DRAPartitionableDevices",),
            (
                "spec.sharedCounters",
                "spec.perDeviceNodeSelection",
                f"{_DEVICES}.consumesCounters",
                f"{_DEVICES}.nodeName",
                f"{_DEVICES}.nodeSelector",
                f"{_DEVICES}.allNodes",
            ),
        ),
        (
            ("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus"),
            (
                f"{_DEVICES}.bindingConditions",
                f"{_DEVICES}.bindingFailureConditions",
                f"{_DEVICES}.bindsToNode",
            ),
        ),
        (
            ("DRAConsumableCapacity",),
            (f"{_DEVICES}.allowMultipleAllocations", f"{_DEVICES}.capacity.{{}}.requestPolicy"),
        ),
        (("DRADeviceCompatibilityGroups",), (f"{_DEVICES}.consumesCounters.[].compatibilityGroups",)),
        (("DRANodeAllocatableResources",), (f"{_DEVICES}.nodeAllocatableResources",)),
        (
            ("DRAListTypeAttributes",),
            tuple(f"{_DEVICES}.attributes.{{}}.{name}" for name in ("bools", "ints", "strings", "versions")),
        ),
        (("DRAPartitionableDevicesType",), ("spec.partitionTypeAttribute",)),
        (("DRAOptionalNodeOperations",), ("spec.skipNodeOperations",)),
    ),
}


def drop(new: Mapping[str, Any], old: Mapping[str, Any] | None, gates: Collection[str]) -> dict[str, Any]:
    """Return `new` without the fields that need a gate which is not in `gates`.

    Both objects are in version `v1`; `old` is None on creation. Other kinds come back as they are.
    """
    kept: Any = dict(new)
    for needed, paths in _gated_fields(new):
        if not set(needed) <= set(gates) and not any(_is_used(old, path.split(".")) for path in paths):
            for path in paths:
                kept = _without(kept, path.split("."))
    result: dict[str, Any] = kept
    return result


def dropped(new: Mapping[str, Any], gates: Collection[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the fields of a new object that :func:`drop` would clear, each with the gates that it needs."""
    for needed, paths in _gated_fields(new):
        missing = tuple(gate for gate in needed if gate not in gates)
        if missing:
            yield from ((path, missing) for path in paths if _is_used(new, path.split(".")))


def _gated_fields(obj: Mapping[str, Any]) -> _Gated:
    if not str(obj.get("apiVersion", "")).startswith(("resource.k8s.io/", "coordination.k8s.io/")):
        return ()
    return _GATED.get(str(obj.get("kind", "")), ())


def _is_used(value: Any, path: list[str]) -> bool:
    """Return whether anything that is not empty stands at `path`."""
    if not path:
        return value is not None and value not in ([], {})
    if path[0] == "[]":
        return isinstance(value, list) and any(_is_used(item, path[1:]) for item in value)
    if path[0] == "{}":
        return isinstance(value, dict) and any(_is_used(item, path[1:]) for item in value.values())
    return isinstance(value, dict) and _is_used(value.get(path[0]), path[1:])


def _without(value: Any, path: list[str]) -> Any:
    """Return a copy of `value` in which nothing stands at `path`; parts that do not change are shared."""
    if path[0] == "[]":
        return [_without(item, path[1:]) for item in value] if isinstance(value, list) else value
    if not isinstance(value, dict):
        return value
    if path[0] == "{}":
        return {key: _without(item, path[1:]) for key, item in value.items()}
    if path[0] not in value:
        return value
    if len(path) == 1:
        return {key: item for key, item in value.items() if key != path[0]}
    return {**value, path[0]: _without(value[path[0]], path[1:])}
