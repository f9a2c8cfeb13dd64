"""Which changes may let a pod fit whose claims could not be allocated (upstream's `EventsToRegister`)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from drayman.framework import Action, ClusterEvent, EventResource, Object, QueueingHint, Registration
from drayman.plugins.dynamic_resources.claims import allocation_of
from drayman.plugins.dynamic_resources.manager import DeviceManager
from drayman.pods.objects import key_of, uid_of
from drayman.resourceclaim import ClaimReferenceError


def registrations(manager: DeviceManager) -> Sequence[Registration]:
    """Return the changes, with indexes: a change that frees nothing is shown only to the pods that use the claim."""
    hints = _Hints(manager)
    nodes = Action.ADD | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_ALLOCATABLE
    claims = Action.ADD | Action.UPDATE | Action.DELETE
    generated = Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM
    return (
        Registration(ClusterEvent(EventResource.NODE, nodes)),
        Registration(ClusterEvent(EventResource.RESOURCE_CLAIM, claims), hints.after_claim, hints.affected_by_claim),
        Registration(ClusterEvent(EventResource.TARGET_POD, generated), hints.after_pod),
        Registration(ClusterEvent(EventResource.DEVICE_CLASS, Action.ADD | Action.UPDATE)),
        Registration(
            ClusterEvent(EventResource.RESOURCE_SLICE, Action.ADD | Action.UPDATE | Action.DELETE),
            affected=hints.affected_by_slice,
        ),
    )


class _Hints:
    def __init__(self, manager: DeviceManager) -> None:
        self._manager = manager

    def affected_by_claim(self, old: Object | None, new: Object | None) -> Collection[str] | None:
        """Return None, all pods, when devices came free; else the pods that use the claim."""
        if _frees(old, new):
            return None
        claim = new or old
        return () if claim is None else self._manager.pods.pods_of(key_of(claim))

    def affected_by_slice(self, _old: Object | None, _new: Object | None) -> Collection[str] | None:
        """Return None, all pods, when the change may let a claim fit; else nobody.

        Upstream does not look at deleted slices; but without a slice an incomplete or invalid pool can become usable.
        """
        change = self._manager.last_change
        return None if change is not None and (change.devices_freed or change.capacity_added) else ()

    def after_claim(self, pod: Object, old: Object | None, new: Object | None) -> QueueingHint:
        """Queue for freed devices, and for news about a claim of the pod's own."""
        if new is None:
            return _queue_if(_frees(old, new))
        try:
            claims = self._manager.claims_of(pod)
        except ClaimReferenceError:
            return QueueingHint.SKIP
        if _frees(old, new):
            return QueueingHint.QUEUE
        if not any(uid_of(claim) == uid_of(new) for claim in claims):
            return QueueingHint.SKIP
        return _queue_if(old is None or old.get("status") != new.get("status"))

    def after_pod(self, pod: Object, _old: Object | None, new: Object | None) -> QueueingHint:
        """Queue when all claims of the pod can be found."""
        try:
            self._manager.claims_of(new or pod)
        except ClaimReferenceError:
            return QueueingHint.SKIP
        return QueueingHint.QUEUE


def _frees(old: Object | None, new: Object | None) -> bool:
    return old is not None and allocation_of(old) is not None and (new is None or allocation_of(new) is None)


def _queue_if(condition: bool) -> QueueingHint:
    return QueueingHint.QUEUE if condition else QueueingHint.SKIP
