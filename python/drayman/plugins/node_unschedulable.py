"""NodeUnschedulable: cordoned nodes take no pods that do not tolerate it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drayman.framework import (
    SUCCESS,
    Action,
    ClusterEvent,
    CycleState,
    EventResource,
    Handle,
    NodeInfo,
    Object,
    QueueingHint,
    Registration,
    Status,
    unresolvable,
)
from drayman.pods import tolerations

REASON = "node(s) were unschedulable"


class NodeUnschedulable:
    """Looks at `spec.unschedulable` of nodes."""

    name = "NodeUnschedulable"

    def __init__(self, _arguments: Mapping[str, Any], _handle: Handle) -> None:
        pass

    def filter_nodes(self, _state: CycleState, pod: Object, nodes: Sequence[NodeInfo]) -> Sequence[Status]:
        """Refuse cordoned nodes."""
        refusal = SUCCESS if tolerations.tolerates_cordon(pod) else unresolvable(REASON)
        return [refusal if node.unschedulable else SUCCESS for node in nodes]

    def events_to_register(self) -> Sequence[Registration]:
        """Wait for nodes that are not cordoned, or for a toleration."""
        return (
            Registration(ClusterEvent(EventResource.NODE, Action.ADD | Action.UPDATE_NODE_TAINT), _after_node),
            Registration(ClusterEvent(EventResource.TARGET_POD, Action.UPDATE_POD_TOLERATION), _after_pod),
        )


def _after_node(_pod: Object, old: Object | None, new: Object | None) -> QueueingHint:
    was_open = old is not None and not old.get("spec", {}).get("unschedulable")
    is_open = new is not None and not new.get("spec", {}).get("unschedulable")
    return QueueingHint.QUEUE if is_open and not was_open else QueueingHint.SKIP


def _after_pod(_pod: Object, _old: Object | None, new: Object | None) -> QueueingHint:
    return QueueingHint.QUEUE if new is not None and tolerations.tolerates_cordon(new) else QueueingHint.SKIP
