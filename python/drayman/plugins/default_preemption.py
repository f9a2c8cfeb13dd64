"""DefaultPreemption: says, in upstream's words, why removing other pods does not help. It removes none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drayman.framework import (
    Code,
    CycleState,
    Handle,
    Object,
    Status,
    unresolvable,
    unschedulable,
)
from drayman.framework.fit_error import count_reasons
from drayman.pods.objects import priority_of

NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"
NOT_SUPPORTED = "preemption is not supported by drayman"


class DefaultPreemption:
    """Explains the outcome for the pod's message; nodes where pods of lower priority run are named as such."""

    name = "DefaultPreemption"

    def __init__(self, _arguments: Mapping[str, Any], handle: Handle) -> None:
        self._handle = handle

    async def post_filter(self, _state: CycleState, pod: Object, statuses: Mapping[str, Status]) -> Status:
        """Return the text about preemption."""
        if pod["spec"].get("preemptionPolicy") == "Never":
            return unschedulable("preemption: not eligible due to preemptionPolicy=Never.")
        verdicts = [self._verdict(pod, node, status) for node, status in statuses.items()]
        text = f"0/{len(statuses)} nodes are available: {count_reasons(verdicts)}."
        return unschedulable(f"preemption: {text}")

    def _verdict(self, pod: Object, node_name: str, status: Status) -> Status:
        if status.code is not Code.UNSCHEDULABLE:
            return unresolvable(NOT_HELPFUL)
        node = self._handle.snapshot.get(node_name)
        priority = priority_of(pod)
        has_victims = node is not None and any(other.priority < priority for other in node.pods.values())
        return unresolvable(NOT_SUPPORTED if has_victims else NO_VICTIMS)
