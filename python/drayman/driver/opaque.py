"""Opaque configuration of a claim for this driver: `GpuConfig` of `gpu.resource.example.com/v1alpha1`.

Decides which configuration applies to a device and what it means. Precedence is upstream's: what a claim says comes
before what a class says, and later entries before earlier ones. An entry for a request also applies to its subrequests
(upstream: `resourceclaim.ConfigForResult`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drayman.driver.claims import base_request
from drayman.errors import DraymanError

API_VERSION = "gpu.resource.example.com/v1alpha1"
KIND = "GpuConfig"
INTERVALS = ("Default", "Short", "Medium", "Long")

_FIELDS = {"apiVersion", "kind", "sharing"}
_SHARING_FIELDS = {"strategy", "timeSlicingConfig", "spacePartitioningConfig"}


class ConfigError(DraymanError):
    """A configuration for this driver that it cannot use."""


@dataclass(frozen=True, slots=True)
class TimeSlicing:
    """Users of the device take turns of the length `interval`, one of :data:`INTERVALS`."""

    interval: str = "Default"


@dataclass(frozen=True, slots=True)
class SpacePartitioning:
    """The device is divided into `partition_count` equal parts."""

    partition_count: int = 1


Sharing = TimeSlicing | SpacePartitioning


def sharing_for(configurations: Sequence[Mapping[str, Any]], driver: str, request: str) -> Sharing:
    """Return how a device allocated for `request` is shared; time-slicing by default.

    All entries for `driver` are checked, those for other requests too. Raises :class:`ConfigError`.
    """
    chosen: Sharing = TimeSlicing()
    by_source = [entry for entry in configurations if entry.get("source") == "FromClass"]
    by_source += [entry for entry in configurations if entry.get("source") != "FromClass"]
    for entry in by_source:
        opaque = entry.get("opaque")
        if opaque is None:
            raise ConfigError("only opaque parameters are supported by this driver")
        if opaque["driver"] != driver:
            continue
        parsed = parse(opaque.get("parameters"))
        if applies_to(entry.get("requests") or (), request):
            chosen = parsed
    return chosen


def applies_to(requests: Sequence[str], request: str) -> bool:
    """Return whether an entry for `requests` (none: all) applies to `request`, which may name a subrequest."""
    return not requests or request in requests or base_request(request) in requests


def parse(parameters: Any) -> Sharing:
    """Return what a `GpuConfig` says about sharing. Raises :class:`ConfigError`, also for fields that do not exist."""
    config = _mapping(parameters, "parameters")
    if (config.get("apiVersion"), config.get("kind")) != (API_VERSION, KIND):
        raise ConfigError(
            f'no kind "{config.get("kind", "")}" is registered for version "{config.get("apiVersion", "")}"'
        )
    _refuse_unknown(config, _FIELDS, "")
    if config.get("sharing") is None:
        return TimeSlicing()
    sharing = _mapping(config["sharing"], "sharing")
    _refuse_unknown(sharing, _SHARING_FIELDS, "sharing.")
    match sharing.get("strategy"):
        case "TimeSlicing":
            return _time_slicing(sharing.get("timeSlicingConfig"))
        case "SpacePartitioning":
            return _space_partitioning(sharing.get("spacePartitioningConfig"))
        case None | "":
            raise ConfigError("no sharing strategy set")
        case strategy:
            raise ConfigError(f"unknown GPU sharing strategy: {strategy}")


def _time_slicing(settings: Any) -> TimeSlicing:
    if settings is None:
        return TimeSlicing()
    settings = _mapping(settings, "sharing.timeSlicingConfig")
    _refuse_unknown(settings, {"interval"}, "sharing.timeSlicingConfig.")
    interval = settings.get("interval") or "Default"
    if interval not in INTERVALS:
        raise ConfigError(f"unknown time-slice interval: {interval}")
    return TimeSlicing(interval)


def _space_partitioning(settings: Any) -> SpacePartitioning:
    if settings is None:
        return SpacePartitioning()
    settings = _mapping(settings, "sharing.spacePartitioningConfig")
    _refuse_unknown(settings, {"partitionCount"}, "sharing.spacePartitioningConfig.")
    count = settings.get("partitionCount", 1)
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise ConfigError("invalid partition count")
    return SpacePartitioning(count)


def _mapping(value: Any, path: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"error decoding config parameters: {path}: expected an object")
    return value


def _refuse_unknown(value: Mapping[str, Any], known: set[str], prefix: str) -> None:
    for name in sorted(set(value) - known):
        raise ConfigError(f'error decoding config parameters: strict decoding error: unknown field "{prefix}{name}"')
