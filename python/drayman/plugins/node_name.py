"""NodeName: a pod that names its node runs there or nowhere."""

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
    PreFilterResult,
    Registration,
    Status,
    unresolvable,
)
from drayman.pods.objects import node_name_of

REASON = "node(s) didn't match the requested node name"


class NodeName:
    """Compares `spec.nodeName`, which a scheduler sees only in pods that it is asked about before they are bound."""

    name = "NodeName"

    def __init__(self, _arguments: Mapping[str, Any], _handle: Handle) -> None:
        pass

    def pre_filter(self, _state: CycleState, pod: Object) -> tuple[Status, PreFilterResult | None]:
        """Leave Filter out for pods that name no node."""
        return (SUCCESS if node_name_of(pod) else SKIP), None

    def filter(self, _state: CycleState, pod: Object, node: NodeInfo) -> Status:
        """Refuse every node but the named one."""
        return SUCCESS if node_name_of(pod) == node.name else unresolvable(REASON)

    def events_to_register(self) -> Sequence[Registration]:
        """Wait for new nodes."""
        return (Registration(ClusterEvent(EventResource.NODE, Action.ADD)),)
