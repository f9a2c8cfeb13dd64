"""NodeResourcesFit: what a pod asks for must be free on its node; emptier nodes are better (LeastAllocated)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drayman.errors import InputError
from drayman.framework import (
    MAX_NODE_SCORE,
    SUCCESS,
    Action,
    ClusterEvent,
    Code,
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
)
from drayman.pods.resources import CPU, MEMORY, PODS, pod_requests

TOO_MANY_PODS = "Too many pods"

_POD: StateKey[PodInfo] = StateKey("NodeResourcesFit")
_STRATEGY = "LeastAllocated"
_DEFAULT_WEIGHTS = {CPU: 1, MEMORY: 1}


class NodeResourcesFit:
    """Arguments: `scoringStrategy` with type LeastAllocated and the weights of `resources`; `ignoredResources`;
    `ignoredResourceGroups`.
    """

    name = "NodeResourcesFit"

    def __init__(self, arguments: Mapping[str, Any], _handle: Handle) -> None:
        strategy = arguments.get("scoringStrategy") or {}
        if strategy.get("type", _STRATEGY) != _STRATEGY:
            raise InputError(f"`{strategy['type']}` is not supported, only `{_STRATEGY}`", field="scoringStrategy.type")
        weights = {each["name"]: int(each.get("weight") or 1) for each in strategy.get("resources") or ()}
        self._weights = weights or _DEFAULT_WEIGHTS
        self._ignored = frozenset(arguments.get("ignoredResources") or ())
        self._ignored_groups = frozenset(arguments.get("ignoredResourceGroups") or ())

    def pre_filter(self, state: CycleState, pod: Object) -> tuple[Status, PreFilterResult | None]:
        """Add up what the pod asks for."""
        state.write(_POD, PodInfo(pod))
        return SUCCESS, None

    def filter_nodes(self, state: CycleState, pod: Object, nodes: Sequence[NodeInfo]) -> Sequence[Status]:
        """Refuse nodes with too little left."""
        requests = self._counted((state.read(_POD) or PodInfo(pod)).requests)
        return [SUCCESS if _has_room(requests, node) else _refusal(requests, node) for node in nodes]

    def score(self, state: CycleState, pod: Object, node: NodeInfo) -> int:
        """Return the weighted mean of the free shares that would be left."""
        requests = (state.read(_POD) or PodInfo(pod)).scoring_requests
        total = weights = 0
        for name, weight in self._weights.items():
            capacity = node.allocatable.get(name, 0)
            if capacity == 0:
                continue
            used = node.scoring_requested.get(name, 0) + requests.get(name, 0)
            total += weight * (max(capacity - used, 0) * MAX_NODE_SCORE // capacity)
            weights += weight
        return total // weights if weights else 0

    def events_to_register(self) -> Sequence[Registration]:
        """Wait for room: pods that go or shrink, nodes that come or grow."""
        pods = Action.DELETE | Action.UPDATE_POD_SCALE_DOWN
        nodes = Action.ADD | Action.UPDATE_NODE_ALLOCATABLE
        return (
            Registration(ClusterEvent(EventResource.ASSIGNED_POD, pods)),
            Registration(ClusterEvent(EventResource.TARGET_POD, Action.UPDATE_POD_SCALE_DOWN)),
            Registration(ClusterEvent(EventResource.NODE, nodes), self._after_node),
        )

    def _counted(self, requests: Mapping[str, int]) -> Sequence[tuple[str, int]]:
        """Return the requests that count."""
        return tuple(
            (name, wanted)
            for name, wanted in requests.items()
            if wanted > 0 and name not in self._ignored and name.partition("/")[0] not in self._ignored_groups
        )

    def _after_node(self, pod: Object, _old: Object | None, new: Object | None) -> QueueingHint:
        """Queue when the node would have room if it were empty."""
        if new is None:
            return QueueingHint.SKIP
        fits = _has_room(self._counted(pod_requests(pod)), NodeInfo(new))
        return QueueingHint.QUEUE if fits else QueueingHint.SKIP


def _has_room(requests: Sequence[tuple[str, int]], node: NodeInfo) -> bool:
    allocatable, requested = node.allocatable, node.requested
    if len(node.pods) >= allocatable.get(PODS, 0):
        return False
    return all(wanted <= allocatable.get(name, 0) - requested.get(name, 0) for name, wanted in requests)


def _refusal(requests: Sequence[tuple[str, int]], node: NodeInfo) -> Status:
    """Say what is short on `node`; unresolvable when even an empty node would have too little."""
    reasons = [TOO_MANY_PODS] if len(node.pods) >= node.allocatable.get(PODS, 0) else []
    code = Code.UNSCHEDULABLE
    for name, wanted in requests:
        if wanted > node.allocatable.get(name, 0) - node.requested.get(name, 0):
            reasons.append(f"Insufficient {name}")
            if wanted > node.allocatable.get(name, 0):
                code = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    return Status(code, tuple(reasons))
