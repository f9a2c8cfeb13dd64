"""SchedulingGates: a pod with gates is not attempted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drayman.framework import (
    SUCCESS,
    Action,
    ClusterEvent,
    EventResource,
    Handle,
    Object,
    Registration,
    Status,
    unresolvable,
)


class SchedulingGates:
    """Holds pods back until their last gate is removed. The API server writes the condition of such pods itself."""

    name = "SchedulingGates"

    def __init__(self, _arguments: Mapping[str, Any], _handle: Handle) -> None:
        pass

    def pre_enqueue(self, pod: Object) -> Status:
        """Refuse a pod with gates."""
        gates = [gate["name"] for gate in pod["spec"].get("schedulingGates") or ()]
        return unresolvable(f"waiting for scheduling gates: [{' '.join(gates)}]") if gates else SUCCESS

    def events_to_register(self) -> Sequence[Registration]:
        """Wait for the pod's own gates to go."""
        event = ClusterEvent(EventResource.TARGET_POD, Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
        return (Registration(event),)
