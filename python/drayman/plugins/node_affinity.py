"""NodeAffinity: nodeSelector and node affinity of pods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drayman import node_selector
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
    QueueingHint,
    Registration,
    StateKey,
    Status,
    unresolvable,
)
from drayman.plugins.scores import normalized
from drayman.pods import affinity

REASON = "node(s) didn't match Pod's node affinity/selector"
REASON_ENFORCED = "node(s) didn't match scheduler-enforced node affinity"
REASON_CONFLICT = "pod affinity terms conflict"

_PREFERRED: StateKey[Sequence[Mapping[str, Any]]] = StateKey("NodeAffinity/preferred")


class NodeAffinity:
    """Filters by what is required, scores by what is preferred. Argument `addedAffinity` holds for every pod."""

    name = "NodeAffinity"

    def __init__(self, arguments: Mapping[str, Any], _handle: Handle) -> None:
        added = arguments.get("addedAffinity") or {}
        self._added_required = added.get("requiredDuringSchedulingIgnoredDuringExecution")
        self._added_preferred = added.get("preferredDuringSchedulingIgnoredDuringExecution") or ()

    def pre_filter(self, _state: CycleState, pod: Object) -> tuple[Status, PreFilterResult | None]:
        """Leave Filter out for pods that require nothing; look only at the nodes that are required by name."""
        required = affinity.required(pod)
        if self._added_required is None and required is None and not pod["spec"].get("nodeSelector"):
            return SKIP, None
        names = node_selector.names_in_fields(required) if required and required.get("nodeSelectorTerms") else None
        if names is not None and not names:
            return unresolvable(REASON_CONFLICT), None
        return SUCCESS, PreFilterResult(names)

    def filter(self, _state: CycleState, pod: Object, node: NodeInfo) -> Status:
        """Refuse nodes that do not match."""
        if self._added_required is not None and not node_selector.matches(self._added_required, node.node):
            return unresolvable(REASON_ENFORCED)
        return SUCCESS if affinity.matches(pod, node.node) else unresolvable(REASON)

    def pre_score(self, state: CycleState, pod: Object, _nodes: Sequence[NodeInfo]) -> Status:
        """Leave Score out for pods that prefer nothing."""
        preferred = (*self._added_preferred, *_preferred(pod))
        state.write(_PREFERRED, preferred)
        return SUCCESS if preferred else SKIP

    def score(self, state: CycleState, _pod: Object, node: NodeInfo) -> int:
        """Add up the weights of the preferences that hold; one without requirements holds everywhere."""
        return sum(
            int(each["weight"])
            for each in state.read(_PREFERRED) or ()
            if not _has_requirements(each["preference"]) or node_selector.matches_term(each["preference"], node.node)
        )

    def normalize_score(self, _state: CycleState, _pod: Object, scores: Sequence[int]) -> Sequence[int]:
        """Let more weight be better."""
        return normalized(scores)

    def events_to_register(self) -> Sequence[Registration]:
        """Wait for nodes that match."""
        event = ClusterEvent(EventResource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)
        return (Registration(event, self._after_node),)

    def _after_node(self, pod: Object, old: Object | None, new: Object | None) -> QueueingHint:
        matched = old is not None and affinity.matches(pod, old)
        now_matches = new is not None and affinity.matches(pod, new)
        return QueueingHint.QUEUE if now_matches and not matched else QueueingHint.SKIP


def _preferred(pod: Object) -> Sequence[Mapping[str, Any]]:
    return affinity.node_affinity(pod).get("preferredDuringSchedulingIgnoredDuringExecution") or ()


def _has_requirements(term: Mapping[str, Any]) -> bool:
    return bool(term.get("matchExpressions") or term.get("matchFields"))
