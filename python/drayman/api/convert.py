"""Conversion of `resource.k8s.io` objects between `v1` and the versions before it.

`v1beta2` has the shape of `v1`. `v1beta1` keeps the fields of `exactly` in the request itself and those of a device
under `basic`; its `nodeName` and `allNodes` of a ResourceSlice are plain values, so that an empty one means "not set".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    _Step: TypeAlias = Callable[[Any], Any]

GROUP = "resource.k8s.io"
VERSIONS = ("v1", "v1beta2", "v1beta1")
"""Served versions, newest first."""

_EXACT_FIELDS = (
    "deviceClassName",
    "selectors",
    "allocationMode",
    "count",
    "adminAccess",
    "tolerations",
    "capacity",
    "derivedAttributes",
)
_DEVICE_FIELDS = (
    "attributes",
    "capacity",
    "consumesCounters",
    "nodeName",
    "nodeSelector",
    "allNodes",
    "taints",
    "bindsToNode",
    "bindingConditions",
    "bindingFailureConditions",
    "allowMultipleAllocations",
    "nodeAllocatableResources",
)


def to_v1(obj: Mapping[str, Any]) -> dict[str, Any]:
    """Return `obj` in version `v1`; objects of other groups and versions come back as they are (a shallow copy)."""
    group, _, version = str(obj.get("apiVersion", "")).rpartition("/")
    if group != GROUP or version not in VERSIONS:
        return dict(obj)
    converted = {**obj, "apiVersion": f"{GROUP}/v1"}
    return _convert(converted, _request_to_v1, _slice_to_v1) if version == "v1beta1" else converted


def from_v1(obj: Mapping[str, Any], version: str) -> dict[str, Any]:
    """Return the `v1` object `obj` in `version`, one of :data:`VERSIONS`. Raises `ValueError` for another version."""
    if version not in VERSIONS:
        raise ValueError(f"`{GROUP}` has no version `{version}`")
    converted = {**obj, "apiVersion": f"{GROUP}/{version}"}
    return _convert(converted, _request_to_v1beta1, _slice_to_v1beta1) if version == "v1beta1" else converted


def _convert(obj: dict[str, Any], request: _Step, slice_spec: _Step) -> dict[str, Any]:
    steps: dict[Any, _Step] = {
        "ResourceClaim": _below("devices", "requests", step=_each(request)),
        "ResourceClaimTemplate": _below("spec", "devices", "requests", step=_each(request)),
        "ResourceSlice": slice_spec,
    }
    step = steps.get(obj.get("kind"))
    return {**obj, "spec": step(obj["spec"])} if step and "spec" in obj else obj


def _below(*path: str, step: _Step) -> _Step:
    return lambda value: _at(value, path, step)


def _at(value: Any, path: tuple[str, ...], step: _Step) -> Any:
    """Return `value` with `step` applied at `path`; a path that is not there, or is no object, is left alone."""
    if not path:
        return step(value)
    if not isinstance(value, dict) or value.get(path[0]) is None:
        return value
    return {**value, path[0]: _at(value[path[0]], path[1:], step)}


def _each(step: _Step) -> _Step:
    def apply(items: Any) -> Any:
        return [step(item) for item in items] if isinstance(items, list) else items

    return apply


def _is_set(value: Any) -> bool:
    """Whether a value differs from what a plain Go field holds when it was not given."""
    return value is not None and value != "" and (value != 0 or value is False)


def _request_to_v1(request: Any) -> Any:
    if not isinstance(request, dict):
        return request
    exactly = {name: request[name] for name in _EXACT_FIELDS if _is_set(request.get(name))}
    rest = {name: value for name, value in request.items() if name not in _EXACT_FIELDS}
    return {**rest, "exactly": exactly} if exactly else rest


def _request_to_v1beta1(request: Any) -> Any:
    if not isinstance(request, dict) or not isinstance(request.get("exactly"), dict):
        return request
    rest = {name: value for name, value in request.items() if name != "exactly"}
    return {**rest, **request["exactly"]}


def _device_to_v1(device: Any) -> Any:
    if not isinstance(device, dict) or not isinstance(device.get("basic"), dict):
        return device
    rest = {name: value for name, value in device.items() if name != "basic"}
    return {**rest, **device["basic"]}


def _device_to_v1beta1(device: Any) -> Any:
    if not isinstance(device, dict):
        return device
    basic = {name: device[name] for name in _DEVICE_FIELDS if name in device}
    rest = {name: value for name, value in device.items() if name not in _DEVICE_FIELDS}
    return {**rest, "basic": basic}


def _slice_to_v1(spec: Any) -> Any:
    converted = _at(spec, ("devices",), _each(_device_to_v1))
    if not isinstance(converted, dict):
        return converted
    unset = [name for name in ("nodeName", "allNodes") if name in converted and not converted[name]]
    return {name: value for name, value in converted.items() if name not in unset}


def _slice_to_v1beta1(spec: Any) -> Any:
    return _at(spec, ("devices",), _each(_device_to_v1beta1))
