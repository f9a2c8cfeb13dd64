"""TaintToleration: nodes with taints take only pods that tolerate them."""

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
    QueueingHint,
    Registration,
    Status,
    unresolvable,
)
from drayman.plugins.scores import normalized
from drayman.pods import tolerations

REASON = "node(s) had untolerated taint(s)"


class TaintToleration:
    """Filters by NoSchedule and NoExecute, scores by PreferNoSchedule."""

    name = "TaintToleration"

    def __init__(self, _arguments: Mapping[str, Any], _handle: Handle) -> None:
        pass

    def filter_nodes(self, _state: CycleState, pod: Object, nodes: Sequence[NodeInfo]) -> Sequence[Status]:
        """Refuse nodes with a hard taint that the pod does not tolerate."""
        refusal = unresolvable(REASON)
        return [refusal if node.taints and _is_kept_off(pod, node.taints) else SUCCESS for node in nodes]

    def pre_score(self, _state: CycleState, _pod: Object, nodes: Sequence[NodeInfo]) -> Status:
        """Leave Score out when no node has a soft taint: all would score the same."""
        soft = any(taint["effect"] == tolerations.PREFER_NO_SCHEDULE for node in nodes for taint in node.taints)
        return SUCCESS if soft else SKIP

    def score(self, _state: CycleState, pod: Object, node: NodeInfo) -> int:
        """Count the soft taints that the pod does not tolerate."""
        relevant = [
            each
            for each in tolerations.tolerations_of(pod)
            if not each.get("effect") or each["effect"] == tolerations.PREFER_NO_SCHEDULE
        ]
        return sum(
            1
            for taint in node.taints
            if taint["effect"] == tolerations.PREFER_NO_SCHEDULE
            and not any(tolerations.tolerates(each, taint) for each in relevant)
        )

    def normalize_score(self, _state: CycleState, _pod: Object, scores: Sequence[int]) -> Sequence[int]:
        """Let fewer taints be better."""
        return normalized(scores, reverse=True)

    def events_to_register(self) -> Sequence[Registration]:
        """Wait for taints to go, or for a toleration."""
        return (
            Registration(ClusterEvent(EventResource.NODE, Action.ADD | Action.UPDATE_NODE_TAINT), _after_node),
            Registration(ClusterEvent(EventResource.TARGET_POD, Action.UPDATE_POD_TOLERATION)),
        )


def _taints(node: Object) -> Sequence[tolerations.Taint]:
    return node.get("spec", {}).get("taints") or ()


def _is_kept_off(pod: Object, taints: Sequence[tolerations.Taint]) -> bool:
    return tolerations.first_untolerated(taints, tolerations.tolerations_of(pod), tolerations.HARD) is not None


def _after_node(pod: Object, old: Object | None, new: Object | None) -> QueueingHint:
    was_kept_off = old is None or _is_kept_off(pod, _taints(old))
    is_kept_off = new is None or _is_kept_off(pod, _taints(new))
    return QueueingHint.QUEUE if was_kept_off and not is_kept_off else QueueingHint.SKIP
