"""What this scheduler knows of ResourceClaims beyond what the watch has told it so far.

Three things go beyond the informer's store. A claim that was just written is known as the server answered, until the
watch is as far. An allocation that was chosen but not written is *in flight*: its devices count as held, its claim
cannot be used by another pod. And an allocation that was written is *confirmed* only when it comes back on the watch of
claims: then every earlier write by anybody has been seen too, and a device that somebody else got first shows.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman.framework import Action, ClusterEvent, EventResource, Handle, Happening, Object
from drayman.plugins.dynamic_resources.claims import allocation_of, exclusive_devices
from drayman.pods.objects import key_of, uid_of

if TYPE_CHECKING:
    from drayman.plugins.dynamic_resources.inventory import Inventory

log = logging.getLogger(__name__)

KIND = "ResourceClaim"
CLASH_REASON = "DeviceAllocatedTwice"
"""Reason of the event on a claim that was given a device which another claim holds."""


@dataclass(frozen=True, slots=True)
class Clash:
    """`device` is also held by the claim `holder` ("namespace/name")."""

    device: str
    holder: str

    def __str__(self) -> str:
        return f"device {self.device} is held by claim {self.holder}"


@dataclass(slots=True, eq=False)
class InFlight:
    """An allocation from Reserve until it is seen on the watch.

    `seen` ends with the clashes at that moment, or None when the claim is gone; `written` says that the server took it.
    """

    claim: Object
    pod_uid: str
    seen: asyncio.Future[Sequence[Clash] | None]
    written: bool = False


class ClaimTracker:
    """Observes the claims of the cluster; one for all profiles of a scheduler. Not thread-safe."""

    def __init__(self, handle: Handle, inventory: Inventory) -> None:
        self._handle = handle
        self._inventory = inventory
        self._watched = handle.objects(KIND)
        self._written: dict[str, Object] = {}
        self._in_flight: dict[str, InFlight] = {}
        self._confirmed: set[str] = set()
        self._late: dict[str, Sequence[Clash]] = {}
        self._listeners: dict[str, list[asyncio.Future[None]]] = {}

    def get(self, key: str) -> Object | None:
        """Return the claim "namespace/name" in its newest known version."""
        return self._written.get(key) or self._watched.get(key)

    def wrote(self, claim: Object) -> None:
        """Remember what the server answered to a write."""
        key = key_of(claim)
        watched = self._watched.get(key)
        if watched is None or _version(watched) < _version(claim):
            self._written[key] = claim

    def in_flight(self, claim: Object) -> InFlight | None:
        """Return the allocation of `claim` that is not confirmed yet."""
        return self._in_flight.get(uid_of(claim))

    def start(self, claim: Object, allocation: Mapping[str, Any], pod: Object) -> None:
        """Count `allocation` as held by `claim`, for `pod`."""
        metadata = claim["metadata"]
        seen = asyncio.get_running_loop().create_future()
        self._in_flight[uid_of(claim)] = InFlight(claim, uid_of(pod), seen)
        self._inventory.assume(metadata["namespace"], metadata["name"], allocation)

    def abandon(self, claim: Object) -> None:
        """Give up an allocation that was not written; pods that wait for its devices are woken.

        One that was written stays in flight until the watch shows it. Where the answer to the write was lost, the watch
        may show it later: whoever took the devices meanwhile is found out when its own allocation is confirmed.
        """
        entry = self._in_flight.get(uid_of(claim))
        if entry is None or entry.written:
            return
        del self._in_flight[uid_of(claim)]
        entry.seen.cancel()
        metadata = claim["metadata"]
        self._inventory.forget(metadata["namespace"], metadata["name"])
        event = ClusterEvent(EventResource.RESOURCE_CLAIM, Action.UPDATE_OTHER)
        held = {**claim, "status": {**claim.get("status", {}), "allocation": {}}}
        self._handle.wake(Happening(event, held, claim))

    def allocated(self, claim: Object) -> None:
        """Note that the allocation in flight for `claim` is written."""
        entry = self._in_flight.get(uid_of(claim))
        if entry is not None:
            entry.written = True

    def clashes(self, claim: Object) -> Sequence[Clash]:
        """Return the devices of `claim` that other claims hold too, as far as the watch has told."""
        allocation = allocation_of(claim)
        if allocation is None:
            return ()
        key = key_of(claim)
        devices = dict.fromkeys(exclusive_devices(allocation))
        return tuple(
            Clash(device, holder) for device in devices for holder in self._inventory.holders(device) if holder != key
        )

    def came_late(self, claim: Object) -> Sequence[Clash]:
        """Return the devices of `claim` that others were seen to get before it, and still hold."""
        late = self._late.get(uid_of(claim), ())
        return tuple(clash for clash in late if clash.holder in self._inventory.holders(clash.device))

    def is_confirmed(self, claim: Object) -> bool:
        """Tell whether this scheduler has seen that `claim` got its devices first."""
        return uid_of(claim) in self._confirmed

    def confirm(self, claim: Object) -> None:
        """Note that `claim` may be used."""
        self._confirmed.add(uid_of(claim))

    async def next_change(self, claim: Object) -> None:
        """Return when the watch shows another version of `claim`, or that it is gone."""
        changed = asyncio.get_running_loop().create_future()
        self._listeners.setdefault(uid_of(claim), []).append(changed)
        await changed

    def report(self, claim: Object, clashes: Sequence[Clash]) -> None:
        """Tell people that two claims have one device."""
        note = "; ".join(str(clash) for clash in clashes)
        log.error("claim %s: %s", key_of(claim), note)
        self._handle.events.record(claim, "Warning", CLASH_REASON, "Allocating", note)

    def observe_raw(self, event: str, raw: bytes) -> None:
        """Hand the claim's JSON to the inventory."""
        if event != "DELETED":
            self._inventory.apply(raw)

    def observe(self, old: Object | None, new: Object | None) -> None:
        """Follow the watch."""
        if new is None:
            assert old is not None
            self._forget(old)
            return
        self._tell_listeners(new)
        written = self._written.get(key_of(new))
        if written is not None and (uid_of(written) != uid_of(new) or _version(written) <= _version(new)):
            del self._written[key_of(new)]
        if allocation_of(new) is None:
            self._confirmed.discard(uid_of(new))
            self._late.pop(uid_of(new), None)
            return
        clashes = self.clashes(new)
        is_new = old is not None and allocation_of(old) is None
        if clashes and is_new:
            self._late[uid_of(new)] = clashes
        entry = self._in_flight.pop(uid_of(new), None)
        if entry is not None:
            entry.seen.set_result(clashes)
            if not clashes:
                self.confirm(new)
        elif clashes and (old is None or is_new):
            self._report_foreign(new, clashes)

    def _report_foreign(self, claim: Object, clashes: Sequence[Clash]) -> None:
        """Report a claim that was given a device after one of ours; what was there before us is not ours to judge."""
        ours = [clash for clash in clashes if self._is_ours(clash.holder)]
        if ours:
            self.report(claim, ours)

    def _is_ours(self, key: str) -> bool:
        claim = self._watched.get(key)
        return claim is not None and self.is_confirmed(claim)

    def _tell_listeners(self, claim: Object) -> None:
        for listener in self._listeners.pop(uid_of(claim), ()):
            if not listener.done():
                listener.set_result(None)

    def _forget(self, claim: Object) -> None:
        metadata = claim["metadata"]
        self._tell_listeners(claim)
        self._written.pop(key_of(claim), None)
        self._confirmed.discard(uid_of(claim))
        self._late.pop(uid_of(claim), None)
        entry = self._in_flight.pop(uid_of(claim), None)
        if entry is not None:
            entry.seen.set_result(None)
            self._inventory.forget(metadata["namespace"], metadata["name"])
        self._inventory.delete(KIND, metadata["name"], metadata["namespace"])


def _version(obj: Object) -> int:
    """Return the resourceVersion as a number, by which versions of one object may be compared since Kubernetes 1.35."""
    return int(obj["metadata"].get("resourceVersion") or 0)
