"""Devices that have to be made ready after they were allocated (KEP-5007): the pod is bound only when they are.

A driver's controller reports in `status.devices` of the claim. Where it reports failure, or nothing in time, the
attempt fails; the next one finds the claim unusable, gives its allocation up, and the one after that allocates anew.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from drayman.errors import DraymanError
from drayman.framework import Handle, Object
from drayman.plugins.dynamic_resources.claims import allocation_of, results_of
from drayman.pods.objects import key_of
from drayman.timestamps import parse_rfc3339

if TYPE_CHECKING:
    from drayman.plugins.dynamic_resources.tracker import ClaimTracker

GATES = frozenset({"DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus"})
DEFAULT_TIMEOUT = 600.0

PENDING_REASON = "BindingConditionsPending"


class DeviceBindingError(DraymanError):
    """A device was not made ready; `str()` is upstream's text."""


class BindingConditions:
    """Waits for devices; does nothing unless both feature gates are on. `timeout` is in seconds."""

    def __init__(self, handle: Handle, tracker: ClaimTracker, timeout: float) -> None:
        self._handle = handle
        self._tracker = tracker
        self._timeout = timeout
        self._enabled = handle.settings.features >= GATES

    def block(self, claim: Object) -> bool:
        """Tell whether the allocation of `claim` should be given up: a device failed, or was not ready in time."""
        if not self._enabled:
            return False
        try:
            return not _is_ready(claim) and self._seconds_left(claim) <= 0
        except DeviceBindingError:
            return True

    async def wait(self, claims: Sequence[Object], pod: Object, node_name: str) -> None:
        """Return when all devices of `claims` are ready. Raises :class:`DeviceBindingError`."""
        waiting = [claim for claim in claims if any(_conditional(claim))]
        if not self._enabled or not waiting:
            return
        note = f"waiting for binding conditions for device on node {node_name}"
        self._handle.events.record(pod, "Normal", PENDING_REASON, "Scheduling", note)
        for claim in waiting:
            await self._wait_for(claim)

    async def _wait_for(self, claim: Object) -> None:
        text = f"device binding timeout: claim={claim['metadata']['name']}"
        try:
            async with self._handle.clock.timeout(max(self._seconds_left(claim), 0)):
                while True:
                    newest = self._tracker.get(key_of(claim))
                    if newest is None:
                        raise DeviceBindingError(f'could not find ResourceClaim "{key_of(claim)}"')
                    if _is_ready(newest):
                        return
                    await self._tracker.next_change(newest)
        except TimeoutError as error:
            raise DeviceBindingError(text) from error

    def _seconds_left(self, claim: Object) -> float:
        stamp = (allocation_of(claim) or {}).get("allocationTimestamp")
        if stamp is None:
            return self._timeout
        deadline = parse_rfc3339(stamp) + dt.timedelta(seconds=self._timeout)
        return (deadline - self._handle.clock.now()).total_seconds()


def _conditional(claim: Object) -> Iterator[Mapping[str, Any]]:
    """Yield the allocated devices that have conditions."""
    allocation = allocation_of(claim)
    return (result for result in results_of(allocation or {}) if result.get("bindingConditions"))


def _is_ready(claim: Object) -> bool:
    """Tell whether all conditions of all devices hold. Raises :class:`DeviceBindingError` when one reports failure."""
    if allocation_of(claim) is None:
        return False
    for result in _conditional(claim):
        conditions = _conditions_of(claim, result)
        if conditions is None:
            return False
        for type_ in result.get("bindingFailureConditions") or ():
            failure = conditions.get(type_)
            if failure is not None and failure.get("status") == "True":
                detail = f"reason={failure.get('reason', '')}, message={json.dumps(failure.get('message', ''))}"
                raise DeviceBindingError(f"device binding failed: claim={claim['metadata']['name']}, {detail}")
        if any(conditions.get(type_, {}).get("status") != "True" for type_ in result["bindingConditions"]):
            return False
    return True


def _conditions_of(claim: Object, result: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]] | None:
    """Return the conditions of an allocated device by type; None when its driver has not reported yet."""
    identity = [result.get(field) for field in _IDENTITY]
    for device in claim["status"].get("devices") or ():
        if [device.get(field) for field in _IDENTITY] == identity:
            return {condition["type"]: condition for condition in device.get("conditions") or ()}
    return None


_IDENTITY = ("driver", "pool", "device", "shareID")
