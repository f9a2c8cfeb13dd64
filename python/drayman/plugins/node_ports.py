"""NodePorts: two pods cannot have the same port of one node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drayman.framework import (
    SKIP,
    SUCCESS,
    Action,
    ClusterEvent,
    CycleState,
    EventResource,
    Handle,
    NodeInfo,
    Object,
    PodInfo,
    PreFilterResult,
    QueueingHint,
    Registration,
    StateKey,
    Status,
    unschedulable,
)
from drayman.pods.node_info import HostPort

REASON = "node(s) didn't have free ports for the requested pod ports"

_WANTED: StateKey[tuple[HostPort, ...]] = StateKey("NodePorts")


class NodePorts:
    """Compares the host ports of containers."""

    name = "NodePorts"

    def __init__(self, _arguments: Mapping[str, Any], _handle: Handle) -> None:
        pass

    def pre_filter(self, state: CycleState, pod: Object) -> tuple[Status, PreFilterResult | None]:
        """Leave Filter out for pods without host ports."""
        wanted = PodInfo(pod).host_ports
        state.write(_WANTED, wanted)
        return (SUCCESS if wanted else SKIP), None

    def filter(self, state: CycleState, _pod: Object, node: NodeInfo) -> Status:
        """Refuse nodes where a port is taken."""
        wanted = state.read(_WANTED) or ()
        taken = (port for pod in node.pods.values() for port in pod.host_ports)
        return unschedulable(REASON) if any(port.clashes_with_any(wanted) for port in taken) else SUCCESS

    def events_to_register(self) -> Sequence[Registration]:
        """Wait for new nodes, and for pods that free a port."""
        return (
            Registration(ClusterEvent(EventResource.ASSIGNED_POD, Action.DELETE), _after_pod_deleted),
            Registration(ClusterEvent(EventResource.NODE, Action.ADD)),
        )


def _after_pod_deleted(pod: Object, old: Object | None, _new: Object | None) -> QueueingHint:
    wanted = PodInfo(pod).host_ports
    freed = old is not None and any(port.clashes_with_any(wanted) for port in PodInfo(old).host_ports)
    return QueueingHint.QUEUE if freed else QueueingHint.SKIP
