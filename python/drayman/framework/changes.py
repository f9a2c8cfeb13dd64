"""Which changes of an object matter for scheduling, as upstream tells them apart."""

from __future__ import annotations

from collections.abc import Iterator

from drayman.framework.events import Action
from drayman.pods.objects import Object
from drayman.pods.resources import pod_requests


def pod_changes(old: Object, new: Object) -> Iterator[Action]:
    """Yield what changed in a pod; nothing for a change, such as a new condition, that no plugin looks at."""
    if old["metadata"].get("labels") != new["metadata"].get("labels"):
        yield Action.UPDATE_POD_LABEL
    before, after = old["spec"], new["spec"]
    if before != after:
        if _scaled_down(old, new):
            yield Action.UPDATE_POD_SCALE_DOWN
        if len(before.get("tolerations") or ()) != len(after.get("tolerations") or ()):
            yield Action.UPDATE_POD_TOLERATION
        if before.get("schedulingGates") and not after.get("schedulingGates"):
            yield Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED
    if any(old.get("status", {}).get(field) != new.get("status", {}).get(field) for field in _CLAIM_FIELDS):
        yield Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM


def node_changes(old: Object, new: Object) -> Iterator[Action]:
    """Yield what changed in a node."""
    if old.get("status", {}).get("allocatable") != new.get("status", {}).get("allocatable"):
        yield Action.UPDATE_NODE_ALLOCATABLE
    if old["metadata"].get("labels") != new["metadata"].get("labels"):
        yield Action.UPDATE_NODE_LABEL
    before, after = old.get("spec", {}), new.get("spec", {})
    made_schedulable = before.get("unschedulable") and not after.get("unschedulable")
    if before.get("taints") != after.get("taints") or made_schedulable:
        yield Action.UPDATE_NODE_TAINT


_CLAIM_FIELDS = ("resourceClaimStatuses", "extendedResourceClaimStatus")


def _scaled_down(old: Object, new: Object) -> bool:
    after = pod_requests(new)
    return any(after.get(name, 0) < value for name, value in pod_requests(old).items())
