"""Reading ResourceClaims: what is allocated, to whom, and on which nodes it can be used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from drayman import node_selector
from drayman.framework import Object

RESERVED_FOR_LIMIT = 256
"""How many consumers the API server accepts in `status.reservedFor`."""


def allocation_of(claim: Object) -> Mapping[str, Any] | None:
    """Return the allocation, if there is one."""
    allocation: Mapping[str, Any] | None = claim.get("status", {}).get("allocation")
    return allocation


def reserved_for(claim: Object) -> Sequence[Mapping[str, Any]]:
    """Return the consumers for which the claim is reserved."""
    return claim.get("status", {}).get("reservedFor") or ()


def is_reserved_for_others(claim: Object, pod: Object) -> bool:
    """Tell whether anybody but `pod` has the claim reserved."""
    return any(consumer.get("uid") != pod["metadata"]["uid"] for consumer in reserved_for(claim))


def results_of(allocation: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the allocated devices."""
    return allocation.get("devices", {}).get("results") or ()


def exclusive_devices(allocation: Mapping[str, Any]) -> Iterator[str]:
    """Yield "driver/pool/device" of the devices that nobody else may have: not shared, not for administration."""
    for result in results_of(allocation):
        if not result.get("adminAccess") and not result.get("shareID"):
            yield f"{result['driver']}/{result['pool']}/{result['device']}"


def usable_on(allocation: Mapping[str, Any], node: Object) -> bool:
    """Tell whether the allocated devices can be reached from `node`."""
    selector = allocation.get("nodeSelector")
    return selector is None or node_selector.matches(selector, node)


def has_alternatives(claim: Object) -> bool:
    """Tell whether a request of `claim` is a prioritized list."""
    return any(request.get("firstAvailable") for request in _requests(claim))


def alternative_index(claim: Object, request: str) -> int | None:
    """Return the position of `request` ("request/subrequest") among its alternatives; None when it has none."""
    name, _, alternative = request.partition("/")
    for candidate in _requests(claim):
        if candidate["name"] == name:
            names = [each["name"] for each in candidate.get("firstAvailable") or ()]
            return names.index(alternative) if alternative in names else None
    return None


def _requests(claim: Object) -> Sequence[Mapping[str, Any]]:
    return claim["spec"].get("devices", {}).get("requests") or ()
