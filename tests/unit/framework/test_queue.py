"""The scheduling queue: order, back-off, hints, gates."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from drayman.framework import (
    SUCCESS,
    Action,
    ClusterEvent,
    EventResource,
    Happening,
    Object,
    QueuedPod,
    QueueingHint,
    Registration,
    Status,
    unresolvable,
)
from drayman.framework.queue import SchedulingQueue

if TYPE_CHECKING:
    from drayman.clock import VirtualClock

NODE_ADDED = ClusterEvent(EventResource.NODE, Action.ADD)
NONE: frozenset[str] = frozenset()
PLUGIN = frozenset({"Plugin"})


class Profile:
    """One plugin called `Plugin`, which waits for new nodes and holds pods with gates back."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.hint = QueueingHint.QUEUE
        self.affected: list[str] | None = None

    @property
    def registrations(self) -> Mapping[str, Sequence[Registration]]:
        gates = ClusterEvent(EventResource.TARGET_POD, Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
        return {"Plugin": [Registration(NODE_ADDED, self._hint, lambda _old, _new: self.affected), Registration(gates)]}

    def pre_enqueue(self, pod: Object) -> Status:
        return unresolvable("gated").by("Plugin") if pod["spec"].get("schedulingGates") else SUCCESS

    def sort_key(self, pod: QueuedPod) -> tuple[float, ...]:
        return (-pod.info.priority, pod.timestamp)

    def _hint(self, pod: Object, _old: Object | None, _new: Object | None) -> QueueingHint:
        self.asked.append(pod["metadata"]["name"])
        return self.hint


@pytest.fixture
def profile() -> Profile:
    return Profile()


@pytest.fixture
async def queue(clock: VirtualClock, profile: Profile) -> SchedulingQueue:
    return SchedulingQueue(clock, {"default": profile})


async def pop(queue: SchedulingQueue, clock: VirtualClock) -> str | None:
    """Return the name of the pod that is ready now."""
    task = asyncio.create_task(queue.pop())
    await clock.settle(0)
    if not task.done():
        task.cancel()
        return None
    return task.result().key.removeprefix("default/")


def node_added() -> Happening:
    return Happening(NODE_ADDED, None, {"metadata": {"name": "n1"}})


async def test_higher_priority_goes_first_then_the_older_pod(
    queue: SchedulingQueue, clock: VirtualClock, make_pod: Callable[..., Any]
) -> None:
    queue.add(make_pod("old"), "default")
    await clock.advance(1)
    queue.add(make_pod("young"), "default")
    queue.add(make_pod("urgent", priority=5), "default")

    assert [await pop(queue, clock) for _ in range(4)] == ["urgent", "old", "young", None]


async def test_refused_pod_waits_for_a_change_its_plugin_registered_for(
    queue: SchedulingQueue, clock: VirtualClock, make_pod: Callable[..., Any]
) -> None:
    queue.add(make_pod("p"), "default")
    queue.retry_refused(await queue.pop(), PLUGIN, NONE)
    await clock.advance(60)
    assert await pop(queue, clock) is None

    queue.move(Happening(ClusterEvent(EventResource.NODE, Action.DELETE), {}, None))
    assert await pop(queue, clock) is None

    queue.move(node_added())
    assert await pop(queue, clock) == "p"


async def test_hint_that_says_skip_leaves_the_pod_where_it_is(
    queue: SchedulingQueue, profile: Profile, clock: VirtualClock, make_pod: Callable[..., Any]
) -> None:
    profile.hint = QueueingHint.SKIP
    queue.add(make_pod("p"), "default")
    queue.retry_refused(await queue.pop(), PLUGIN, NONE)
    queue.move(node_added())

    assert await pop(queue, clock) is None
    assert profile.asked == ["p"]


async def test_index_keeps_hints_from_being_asked_for_other_pods(
    queue: SchedulingQueue, profile: Profile, make_pod: Callable[..., Any]
) -> None:
    for name in ("a", "b", "c"):
        queue.add(make_pod(name), "default")
    for _ in range(3):
        queue.retry_refused(await queue.pop(), PLUGIN, NONE)
    profile.affected = ["default/b", "default/unknown"]
    queue.move(node_added())

    assert profile.asked == ["b"]


async def test_change_during_the_attempt_counts_afterwards(
    queue: SchedulingQueue, clock: VirtualClock, make_pod: Callable[..., Any]
) -> None:
    queue.add(make_pod("p"), "default")
    queued = await queue.pop()
    queue.move(node_added())
    queue.retry_refused(queued, PLUGIN, NONE)

    assert await pop(queue, clock) == "p"


async def test_failed_pod_backs_off_twice_as_long_each_time_up_to_ten_seconds(
    queue: SchedulingQueue, clock: VirtualClock, make_pod: Callable[..., Any]
) -> None:
    queue.add(make_pod("p"), "default")
    waits = []
    queued = await queue.pop()
    for _ in range(6):
        queue.retry_failed(queued)
        failed_at = clock.monotonic()
        next_pod = asyncio.create_task(queue.pop())
        await clock.settle(20)
        waits.append(clock.monotonic() - failed_at)
        queued = await next_pod

    assert waits == [1, 2, 4, 8, 10, 10]


async def test_refused_pod_may_go_before_its_time_when_nothing_else_is_ready(
    queue: SchedulingQueue, clock: VirtualClock, make_pod: Callable[..., Any]
) -> None:
    queue.add(make_pod("refused"), "default")
    queue.retry_refused(await queue.pop(), PLUGIN, NONE)
    queue.move(node_added())
    queue.add(make_pod("fresh"), "default")

    assert [await pop(queue, clock) for _ in range(2)] == ["fresh", "refused"]


async def test_refused_pod_is_tried_again_after_five_minutes(
    queue: SchedulingQueue, clock: VirtualClock, make_pod: Callable[..., Any]
) -> None:
    queue.add(make_pod("p"), "default")
    queue.retry_refused(await queue.pop(), PLUGIN, NONE)

    await clock.advance(299)
    assert await pop(queue, clock) is None
    await clock.advance(1)
    assert await pop(queue, clock) == "p"


async def test_gated_pod_is_held_back_until_its_gate_is_gone(
    queue: SchedulingQueue, clock: VirtualClock, make_pod: Callable[..., Any]
) -> None:
    gated = make_pod("p", schedulingGates=[{"name": "g"}])
    queue.add(gated, "default")
    queue.move(node_added())
    assert await pop(queue, clock) is None

    queue.update(gated, make_pod("p"))
    assert await pop(queue, clock) == "p"


async def test_pod_deleted_during_its_attempt_does_not_come_back(
    queue: SchedulingQueue, clock: VirtualClock, make_pod: Callable[..., Any]
) -> None:
    queue.add(make_pod("p"), "default")
    queued = await queue.pop()
    queue.delete(make_pod("p"))
    queue.retry_failed(queued)
    await clock.advance(60)

    assert await pop(queue, clock) is None


async def test_pod_of_the_same_name_takes_the_place_of_the_old_one(
    queue: SchedulingQueue, clock: VirtualClock, make_pod: Callable[..., Any]
) -> None:
    queue.add(make_pod("p"), "default")
    replacement = make_pod("p")
    replacement["metadata"]["uid"] = "another"
    queue.add(replacement, "default")

    assert (await queue.pop()).uid == "another"
    assert await pop(queue, clock) is None
