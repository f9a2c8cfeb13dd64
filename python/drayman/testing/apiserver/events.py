"""Events of `core/v1` and `events.k8s.io/v1` are the same objects under different field names; `core/v1` is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_CORE_TO_EVENTS = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_EVENTS_TO_CORE = {new: old for old, new in _CORE_TO_EVENTS.items()}


def to_core(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return an `events.k8s.io/v1` event as the `core/v1` event that it is stored as."""
    core = {_EVENTS_TO_CORE.get(name, name): value for name, value in event.items()}
    defaults: dict[str, Any] = {"involvedObject": {}, "source": {}, "reportingComponent": "", "reportingInstance": ""}
    defaults |= {"firstTimestamp": None, "lastTimestamp": None}
    return {**defaults, **core, "apiVersion": "v1"}


def from_core(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored event as `events.k8s.io/v1`."""
    renamed = {_CORE_TO_EVENTS.get(name, name): value for name, value in event.items()}
    return {**renamed, "apiVersion": "events.k8s.io/v1"}
