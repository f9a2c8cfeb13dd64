"""NodeResourcesFit: what a pod asks for must be free on its node; emptier nodes are better (LeastAllocated)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from drayman.framework.resources import CPU, MEMORY, PODS, pod_requests

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

    def filter(self, state: CycleState, pod: Object, node: NodeInfo) -> Status:
        """Refuse nodes with too little left; unresolvable when even an empty node would have too little."""
        info = state.read(_POD) or PodInfo(pod)
        reasons, unresolvable = [], False
        if len(node.pods) + 1 > node.allocatable.get(PODS, 0):
            reasons.append(TOO_MANY_PODS)
        for name, wanted in self._missing(info.requests, node):
            reasons.append(f"Insufficient {name}")
            unresolvable = unresolvable or wanted > node.allocatable.get(name, 0)
        if not reasons:
            return SUCCESS
        code = Code.UNSCHEDULABLE_AND_UNRESOLVABLE if unresolvable else Code.UNSCHEDULABLE
        return Status(code, tuple(reasons))

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

    def _missing(self, requests: Mapping[str, int], node: NodeInfo) -> Iterator[tuple[str, int]]:
        for name, wanted in requests.items():
            if wanted <= 0 or name in self._ignored or name.partition("/")[0] in self._ignored_groups:
                continue
            if wanted > node.allocatable.get(name, 0) - node.requested.get(name, 0):
                yield name, wanted

    def _after_node(self, pod: Object, _old: Object | None, new: Object | None) -> QueueingHint:
        if new is None or any(self._missing(pod_requests(pod), NodeInfo(new))):
            return QueueingHint.SKIP
        return QueueingHint.QUEUE
