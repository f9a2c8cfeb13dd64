"""InterPodAffinity: pods that are there keep others away by their anti-affinity.

Only this half is built: a pod with pod affinity or anti-affinity of its own is refused by
:class:`~drayman.plugins.supported_features.SupportedFeatures`.
"""

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
    StateKey,
    Status,
    unschedulable,
)
from drayman.pods import affinity

REASON = "node(s) didn't satisfy existing pods anti-affinity rules"

_FORBIDDEN: StateKey[frozenset[tuple[str, str]]] = StateKey("InterPodAffinity")


class InterPodAffinity:
    """Keeps the state of an attempt as the labels (key and value) of nodes from which the pod is kept away."""

    name = "InterPodAffinity"

    def __init__(self, _arguments: Mapping[str, Any], handle: Handle) -> None:
        self._snapshot = handle.snapshot

    def pre_filter(self, state: CycleState, pod: Object) -> tuple[Status, PreFilterResult | None]:
        """Collect what keeps the pod away; leave Filter out when nothing does."""
        labels = frozenset(
            label
            for node in self._snapshot.nodes()
            if node.with_anti_affinity
            for label, _ in affinity.kept_off(node, pod)
        )
        state.write(_FORBIDDEN, labels)
        return (SUCCESS if labels else SKIP), None

    def filter(self, state: CycleState, _pod: Object, node: NodeInfo) -> Status:
        """Refuse nodes in a domain of a pod that does not want this one near it."""
        labels = node.node["metadata"].get("labels") or {}
        kept_off = state.read(_FORBIDDEN) or frozenset()
        return SUCCESS if kept_off.isdisjoint(labels.items()) else unschedulable(REASON)

    def events_to_register(self) -> Sequence[Registration]:
        """Wait for pods that go or change their labels, and for other domains."""
        pods = Action.DELETE | Action.UPDATE_POD_LABEL
        return (
            Registration(ClusterEvent(EventResource.ASSIGNED_POD, pods)),
            Registration(ClusterEvent(EventResource.TARGET_POD, Action.UPDATE_POD_LABEL)),
            Registration(ClusterEvent(EventResource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)),
        )
