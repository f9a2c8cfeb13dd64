"""InterPodAffinity: pods that are there keep others away by their anti-affinity.

Only this half is built: a pod with pod affinity or anti-affinity of its own is refused by
:class:`~drayman.plugins.supported_features.SupportedFeatures`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    Registration,
    StateKey,
    Status,
    unschedulable,
)
from drayman.framework.label_selector import matches

REASON = "node(s) didn't satisfy existing pods anti-affinity rules"

_FORBIDDEN: StateKey[frozenset[tuple[str, str]]] = StateKey("InterPodAffinity")


class InterPodAffinity:
    """Keeps the state of an attempt as the labels (key and value) of nodes from which the pod is kept away."""

    name = "InterPodAffinity"

    def __init__(self, _arguments: Mapping[str, Any], handle: Handle) -> None:
        self._snapshot = handle.snapshot

    def pre_filter(self, state: CycleState, pod: Object) -> tuple[Status, PreFilterResult | None]:
        """Collect what keeps the pod away; leave Filter out when nothing does."""
        forbidden = frozenset(
            label for node in self._snapshot.nodes() if node.with_anti_affinity for label in _forbidden(node, pod)
        )
        state.write(_FORBIDDEN, forbidden)
        return (SUCCESS if forbidden else SKIP), None

    def filter(self, state: CycleState, _pod: Object, node: NodeInfo) -> Status:
        """Refuse nodes in a domain of a pod that does not want this one near it."""
        labels = node.node["metadata"].get("labels") or {}
        forbidden = state.read(_FORBIDDEN) or frozenset()
        return SUCCESS if forbidden.isdisjoint(labels.items()) else unschedulable(REASON)

    def events_to_register(self) -> Sequence[Registration]:
        """Wait for pods that go or change their labels, and for other domains."""
        pods = Action.DELETE | Action.UPDATE_POD_LABEL
        return (
            Registration(ClusterEvent(EventResource.ASSIGNED_POD, pods)),
            Registration(ClusterEvent(EventResource.TARGET_POD, Action.UPDATE_POD_LABEL)),
            Registration(ClusterEvent(EventResource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)),
        )


def _forbidden(node: NodeInfo, pod: Object) -> Iterator[tuple[str, str]]:
    labels = node.node["metadata"].get("labels") or {}
    for resident in node.with_anti_affinity.values():
        for term in resident.anti_affinity:
            key = term["topologyKey"]
            if key in labels and _is_about(term, resident, pod):
                yield key, labels[key]


def _is_about(term: Mapping[str, Any], resident: PodInfo, pod: Object) -> bool:
    """Tell whether `term` of `resident` is about `pod`.

    Labels of namespaces are not watched: a selector of namespaces counts as matching all of them, which may keep a pod
    away from a node that it could use, but never lets it in where it must not be.
    """
    metadata = pod["metadata"]
    namespaces = term.get("namespaces") or ()
    if term.get("namespaceSelector") is None:
        own = resident.pod["metadata"]["namespace"]
        if metadata["namespace"] not in (namespaces or (own,)):
            return False
    return matches(term.get("labelSelector"), metadata.get("labels") or {})
