"""The opaque configuration that known drivers take: kinds, fields and values, with the drivers' own messages.

Sources: `api/` of dra-driver-nvidia-gpu 0.4 and of dra-example-driver 0.4. Both decode strictly and check before they
prepare a device, so that a mistake shows on the node only, when the pod is bound already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from drayman.api import schema
from drayman.errors import InputError
from drayman.quantity import Quantity

NVIDIA = "resource.nvidia.com/v1beta1"
EXAMPLE = "gpu.resource.example.com/v1alpha1"

Object: TypeAlias = Mapping[str, Any]
Fields: TypeAlias = Mapping[str, Any]
"""Names to the type `str`, `bool`, `int` or `Quantity`, to a further level, or to `{"*": type}` for free names."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong at `path` in the parameters; the path is empty for the whole."""

    path: str
    message: str
    hint: str | None = None


Problems: TypeAlias = Iterator[Problem]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of configuration: who reads it, its fields, and what the driver checks about their values."""

    drivers: tuple[str, ...]
    fields: Fields
    check: Callable[[Object], Problems]


_INTERVALS = ("Default", "Short", "Medium", "Long")
_TIME_SLICING = {"interval": str}
_MPS = {
    "defaultActiveThreadPercentage": int,
    "defaultPinnedDeviceMemoryLimit": Quantity,
    "defaultPerDevicePinnedMemoryLimit": {"*": Quantity},
    "multiUser": bool,
}


def problems(driver: str, parameters: Any) -> Problems:
    """Yield what `driver` would refuse about its parameters; nothing about drivers and kinds that are not known."""
    if not isinstance(parameters, Mapping):
        return
    version, name = str(parameters.get("apiVersion") or ""), str(parameters.get("kind") or "")
    kind = KINDS.get((version, name))
    if kind is None:
        yield from _unknown_kind(driver, version, name)
    elif kind.drivers and driver in (*_GPU, *_COMPUTE) and driver not in kind.drivers:
        known = ", ".join(f"`{one}`" for one in kind.drivers)
        yield Problem("kind", f"driver `{driver}` does not take a {name}", f"that is a configuration of driver {known}")
    else:
        found = list(_fields(parameters, {"apiVersion": str, "kind": str, **kind.fields}, ""))
        yield from found or kind.check(parameters)


def _unknown_kind(driver: str, version: str, name: str) -> Problems:
    mine = [key for key, kind in KINDS.items() if driver in kind.drivers]
    group = version.partition("/")[0]
    choices = mine or [key for key in KINDS if key[0].partition("/")[0] == group]
    if not choices:
        return
    path = "kind" if version in {key[0] for key in choices} else "apiVersion"
    listed = ", ".join(f"`{kind}` of `{of}`" for of, kind in choices)
    near = schema.did_you_mean(name, [kind for _, kind in choices]) if path == "kind" else None
    hint = f"did you mean `{near}`?" if near else f"the driver takes {listed}"
    yield Problem(path, f'no kind "{name}" is registered for version "{version}"', hint)


def _fields(value: Object, known: Fields, path: str) -> Problems:
    for name, given in value.items():
        at = f"{path}.{name}" if path else name
        kind = known.get(name, known.get("*"))
        if kind is None:
            near = schema.did_you_mean(name, list(known))
            hint = f"did you mean `{near}`?" if near else None
            yield Problem(at, f'strict decoding error: unknown field "{at}"', hint)
        elif given is not None:
            yield from _value(given, kind, at)


def _value(given: Any, kind: Any, path: str) -> Problems:
    if isinstance(kind, Mapping):
        if isinstance(given, Mapping):
            yield from _fields(given, kind, path)
        else:
            yield Problem(path, "expected an object")
    elif kind is Quantity:
        try:
            Quantity(str(given))
        except InputError as error:
            yield Problem(path, error.message)
    elif not isinstance(given, kind) or (kind is int and isinstance(given, bool)):
        yield Problem(path, f"expected {_NAMES[kind]}", "write it in quotes" if kind is str else None)


_NAMES = {str: "text", bool: "`true` or `false`", int: "a whole number"}


def _gpu(config: Object) -> Problems:
    sharing = config.get("sharing")
    if sharing is not None:
        yield from _sharing(sharing, ("TimeSlicing", "MPS"))


def _sharing(sharing: Object, strategies: tuple[str, ...]) -> Problems:
    strategy = sharing.get("strategy") or ""
    if strategy not in strategies:
        listed = ", ".join(strategies)
        text = f"unknown GPU sharing strategy: {strategy}, supported GPU sharing strategies: {listed}"
        near = schema.did_you_mean(strategy, strategies)
        yield Problem("sharing.strategy", text, f"did you mean `{near}`?" if near else None)
        return
    other = {"TimeSlicing": "mpsConfig", "MPS": "timeSlicingConfig"}[strategy]
    if sharing.get(other) is not None:
        go_name = {"mpsConfig": "MpsConfig", "timeSlicingConfig": "TimeSlicingConfig"}[other]
        yield Problem(f"sharing.{other}", f"cannot use {go_name} with the '{strategy}' strategy")
    if strategy == "TimeSlicing":
        yield from _time_slice(sharing.get("timeSlicingConfig") or {})
    else:
        yield from _mps(sharing.get("mpsConfig") or {})


def _time_slice(settings: Object) -> Problems:
    interval = settings.get("interval")
    if interval is not None and interval not in _INTERVALS:
        listed = ", ".join(f"`{one}`" for one in _INTERVALS)
        text = f"unknown time-slice interval: {interval}"
        yield Problem("sharing.timeSlicingConfig.interval", text, f"there are {listed}")


def _mps(settings: Object) -> Problems:
    percentage, path = settings.get("defaultActiveThreadPercentage"), "sharing.mpsConfig"
    if percentage is not None and percentage < 0:
        yield Problem(f"{path}.defaultActiveThreadPercentage", "active thread percentage must not be negative")
    if percentage is not None and percentage > 100:
        text = "active thread percentage must not be greater than 100"
        yield Problem(f"{path}.defaultActiveThreadPercentage", text)
    limit = settings.get("defaultPinnedDeviceMemoryLimit")
    if limit is not None and _below_a_mebibyte(limit):
        text = f"invalid limit: default value set too low: {limit}"
        yield Problem(f"{path}.defaultPinnedDeviceMemoryLimit", text, "the least is `1Mi`")
    for device, value in (settings.get("defaultPerDevicePinnedMemoryLimit") or {}).items():
        if _below_a_mebibyte(value):
            text = f"invalid limit: value set too low: {device}: {value}"
            yield Problem(f"{path}.defaultPerDevicePinnedMemoryLimit[{device}]", text, "the least is `1Mi`")


def _below_a_mebibyte(value: Any) -> bool:
    return Quantity(str(value)) < Quantity("1Mi")


def _vfio(config: Object) -> Problems:
    iommu = config.get("iommu")
    policy = (iommu or {}).get("backendPolicy") or ""
    if iommu is not None and policy not in ("LegacyOnly", "PreferIommuFD"):
        hint = "there are `LegacyOnly` and `PreferIommuFD`"
        yield Problem("iommu.backendPolicy", f'unknown IOMMU backend policy: "{policy}"', hint)


def _domain(config: Object) -> Problems:
    if not config.get("domainID"):
        yield Problem("domainID", "domainID cannot be empty", "it is the UID of the ComputeDomain")


def _channel(config: Object) -> Problems:
    yield from _domain(config)
    mode = config.get("allocationMode")
    if mode and mode not in ("Single", "All"):
        yield Problem("allocationMode", f"unknown allocation mode: {mode}", "there are `Single` and `All`")


def _example(config: Object) -> Problems:
    from drayman.driver import opaque

    try:
        opaque.parse(config)
    except opaque.ConfigError as error:
        yield Problem(_example_path(str(error)), str(error))


def _example_path(message: str) -> str:
    """Return which field a message of the example driver is about."""
    if "interval" in message:
        return "sharing.timeSlicingConfig.interval"
    return "sharing.spacePartitioningConfig.partitionCount" if "partition count" in message else "sharing.strategy"


_GPU = ("gpu.nvidia.com",)
_COMPUTE = ("compute-domain.nvidia.com",)

KINDS: Mapping[tuple[str, str], Kind] = {
    (NVIDIA, "GpuConfig"): Kind(
        _GPU, {"sharing": {"strategy": str, "timeSlicingConfig": _TIME_SLICING, "mpsConfig": _MPS}}, _gpu
    ),
    (NVIDIA, "MigDeviceConfig"): Kind(_GPU, {"sharing": {"strategy": str, "mpsConfig": _MPS}}, _gpu),
    (NVIDIA, "VfioDeviceConfig"): Kind(_GPU, {"iommu": {"backendPolicy": str, "enableAPIDevice": bool}}, _vfio),
    (NVIDIA, "ComputeDomainChannelConfig"): Kind(_COMPUTE, {"domainID": str, "allocationMode": str}, _channel),
    (NVIDIA, "ComputeDomainDaemonConfig"): Kind(_COMPUTE, {"domainID": str}, _domain),
    # The example driver may be installed under any name.
    (EXAMPLE, "GpuConfig"): Kind(
        (),
        {
            "sharing": {
                "strategy": str,
                "timeSlicingConfig": _TIME_SLICING,
                "spacePartitioningConfig": {"partitionCount": int},
            }
        },
        _example,
    ),
}
"""The kinds by `apiVersion` and `kind`."""

TYPES: Mapping[tuple[str, str], str] = {
    ("gpu.nvidia.com", "GpuConfig"): "gpu",
    ("gpu.nvidia.com", "MigDeviceConfig"): "mig",
    ("gpu.nvidia.com", "VfioDeviceConfig"): "vfio",
}
"""The type of the devices that a kind is for, by driver and kind; the driver refuses it for a request of others."""
