"""Plugins are found by their methods and run in upstream's way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from drayman.framework import (
    SKIP,
    SUCCESS,
    Code,
    CycleState,
    NodeInfo,
    Object,
    PreFilterResult,
    QueuedPod,
    Status,
    failed,
    unresolvable,
    unschedulable,
)
from drayman.framework.fit_error import Diagnosis
from drayman.framework.runtime import PluginError, Runtime

if TYPE_CHECKING:
    from drayman.clock import VirtualClock


class Sort:
    name = "Sort"

    def sort_key(self, pod: QueuedPod) -> tuple[float, ...]:
        return (pod.timestamp,)


class Recording:
    """Refuses what `refuses` names and notes what was asked."""

    def __init__(self, name: str = "Plugin", refuses: Mapping[str, Status] | None = None) -> None:
        self.name = name
        self.refuses = refuses or {}
        self.asked: list[str] = []

    def filter(self, _state: CycleState, _pod: Object, node: NodeInfo) -> Status:
        self.asked.append(node.name)
        return self.refuses.get(node.name, SUCCESS)


class Batch:
    name = "Batch"

    def filter_nodes(self, _state: CycleState, _pod: Object, nodes: Sequence[NodeInfo]) -> Sequence[bool]:
        return [node.name != "n2" for node in nodes]


class Narrowing:
    def __init__(self, name: str, *nodes: str) -> None:
        self.name = name
        self._nodes = frozenset(nodes)

    def pre_filter(self, _state: CycleState, _pod: Object) -> tuple[Status, PreFilterResult | None]:
        return SUCCESS, PreFilterResult(self._nodes)


class Scoring:
    def __init__(self, name: str, scores: Mapping[str, int]) -> None:
        self.name = name
        self._scores = scores

    def score(self, _state: CycleState, _pod: Object, node: NodeInfo) -> int:
        return self._scores[node.name]


class Reserving:
    def __init__(self, name: str, log: list[str], status: Status = SUCCESS) -> None:
        self.name = name
        self._log = log
        self._status = status

    def reserve(self, _state: CycleState, _pod: Object, node_name: str) -> Status:
        self._log.append(f"reserve {self.name} {node_name}")
        return self._status

    async def unreserve(self, _state: CycleState, _pod: Object, node_name: str) -> None:
        self._log.append(f"unreserve {self.name} {node_name}")


class Waiting:
    name = "Waiting"

    def permit(self, _state: CycleState, _pod: Object, _node_name: str) -> tuple[Status, float]:
        return Status(Code.WAIT), 30


@pytest.fixture
def nodes() -> list[NodeInfo]:
    return [NodeInfo({"metadata": {"name": name}}) for name in ("n1", "n2", "n3")]


@pytest.fixture
def pod(make_pod: Callable[..., Any]) -> Any:
    return make_pod("p")


def runtime(clock: VirtualClock, *plugins: Any, **options: Any) -> Runtime:
    return Runtime("default", (Sort(), *plugins), clock, **options)


async def test_later_filters_see_only_nodes_that_earlier_ones_left(
    clock: VirtualClock, nodes: list[NodeInfo], pod: Any
) -> None:
    first, second = Recording("First", {"n1": unschedulable("full")}), Recording("Second")
    diagnosis = Diagnosis(["n1", "n2", "n3"])

    left = runtime(clock, first, Batch(), second).filter(CycleState(), pod, nodes, diagnosis)

    assert [node.name for node in left] == ["n3"]
    assert second.asked == ["n3"]
    assert diagnosis.statuses == {
        "n1": unschedulable("full").by("First"),
        "n2": unschedulable("node(s) didn't satisfy plugin Batch").by("Batch"),
    }


async def test_error_of_a_filter_ends_the_attempt(clock: VirtualClock, nodes: list[NodeInfo], pod: Any) -> None:
    broken = Recording("Broken", {"n2": failed("no idea")})

    with pytest.raises(PluginError) as raised:
        runtime(clock, broken).filter(CycleState(), pod, nodes, Diagnosis([]))

    assert raised.value.status == failed('running "Broken" filter plugin: no idea').by("Broken")


async def test_plugins_that_leave_no_common_node_refuse_the_pod(clock: VirtualClock, pod: Any) -> None:
    profile = runtime(clock, Narrowing("B", "n1"), Narrowing("A", "n2"))

    status, names = profile.pre_filter(CycleState(), pod, Diagnosis([]))

    assert status == unresolvable("node(s) didn't satisfy plugin(s) [A B] simultaneously").by("A")
    assert names is None


async def test_scores_are_weighted_and_added(clock: VirtualClock, nodes: list[NodeInfo], pod: Any) -> None:
    first, second = Scoring("A", {"n1": 1, "n2": 2, "n3": 3}), Scoring("B", {"n1": 10, "n2": 0, "n3": 0})

    assert runtime(clock, first, second, weights={"B": 2}).score(CycleState(), pod, nodes) == [21, 2, 3]


async def test_score_out_of_bounds_ends_the_attempt(clock: VirtualClock, nodes: list[NodeInfo], pod: Any) -> None:
    with pytest.raises(PluginError, match="invalid score 101 for node"):
        runtime(clock, Scoring("A", {"n1": 101, "n2": 0, "n3": 0})).score(CycleState(), pod, nodes)


async def test_unreserve_runs_in_reverse_for_all_plugins(clock: VirtualClock, pod: Any) -> None:
    log: list[str] = []
    profile = runtime(clock, Reserving("A", log, failed("broken")), Reserving("B", log))

    status = profile.reserve(CycleState(), pod, "n1")
    await profile.unreserve(CycleState(), pod, "n1")

    assert status == failed('running Reserve plugin "A": broken')
    assert log == ["reserve A n1", "unreserve B n1", "unreserve A n1"]


async def test_permitted_pod_goes_on(clock: VirtualClock, pod: Any) -> None:
    profile = runtime(clock, Waiting())
    assert profile.permit(CycleState(), pod, "n1").code is Code.WAIT
    verdict = asyncio.create_task(profile.wait_on_permit(pod))
    waiting = profile.waiting_pod("uid-p")
    assert waiting is not None

    waiting.allow("Waiting")

    assert await verdict == SUCCESS
    assert profile.waiting_pod("uid-p") is None


async def test_pod_that_nobody_permits_is_rejected_in_the_end(clock: VirtualClock, pod: Any) -> None:
    profile = runtime(clock, Waiting())
    profile.permit(CycleState(), pod, "n1")
    verdict = asyncio.create_task(profile.wait_on_permit(pod))

    await clock.settle(60)

    assert await verdict == unschedulable('rejected due to timeout after waiting at plugin "Waiting"').by("Waiting")


async def test_plugin_that_skips_pre_filter_is_not_asked_about_nodes(
    clock: VirtualClock, nodes: list[NodeInfo], pod: Any
) -> None:
    class Skipping(Recording):
        def pre_filter(self, _state: CycleState, _pod: Object) -> tuple[Status, PreFilterResult | None]:
            return SKIP, None

    plugin, state = Skipping(refuses={"n1": unschedulable("never")}), CycleState()
    profile = runtime(clock, plugin)
    profile.pre_filter(state, pod, Diagnosis([]))

    assert len(profile.filter(state, pod, nodes, Diagnosis([]))) == 3
    assert plugin.asked == []
