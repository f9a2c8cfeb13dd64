from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import pytest

from drayman.errors import InputError
from drayman.testing import controllers
from drayman.testing.controllers.queue import SyncError, WorkQueue

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


async def work(cluster: Any, queue: WorkQueue, sync: Callable[[str], Awaitable[None]], seconds: float = 60) -> None:
    task = asyncio.create_task(queue.run(sync))
    await cluster.settle(seconds)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def test_key_added_twice_runs_once(cluster: Any) -> None:
    queue, seen = WorkQueue(cluster.clock, "test"), []

    async def sync(key: str) -> None:
        seen.append(key)

    queue.add("a")
    queue.add("b")
    queue.add("a")
    await work(cluster, queue, sync)
    assert seen == ["a", "b"]


async def test_key_added_while_it_is_worked_on_runs_again_afterwards(cluster: Any) -> None:
    queue, active, seen = WorkQueue(cluster.clock, "test"), set(), []

    async def sync(key: str) -> None:
        assert key not in active
        active.add(key)
        if not seen:
            queue.add(key)
        await cluster.clock.sleep(1)
        active.discard(key)
        seen.append(key)

    queue.add("a")
    await work(cluster, queue, sync)
    assert seen == ["a", "a"]


async def test_failed_key_is_tried_again_with_doubling_delays(cluster: Any) -> None:
    queue, times = WorkQueue(cluster.clock, "test"), []

    async def sync(_: str) -> None:
        times.append(cluster.clock.monotonic())
        if len(times) < 4:
            raise SyncError("not yet")

    queue.add("a")
    await work(cluster, queue, sync)
    assert [round(time, 3) for time in times] == [0, 0.005, 0.015, 0.035]


async def test_earlier_of_two_delays_counts(cluster: Any) -> None:
    queue, times = WorkQueue(cluster.clock, "test"), []

    async def sync(_: str) -> None:
        times.append(cluster.clock.monotonic())

    queue.add_after("a", 20)
    queue.add_after("a", 10)
    queue.add_after("a", 30)
    await work(cluster, queue, sync)
    assert times == [10]


async def test_bug_in_a_controller_is_not_hidden(cluster: Any) -> None:
    queue = WorkQueue(cluster.clock, "test")

    async def sync(_: str) -> None:
        raise KeyError("bug")

    queue.add("a")
    with pytest.raises(ExceptionGroup):
        await queue.run(sync)


async def test_unknown_controller_is_refused(cluster: Any) -> None:
    with pytest.raises(InputError) as refusal:
        await controllers.run(cluster.client, cluster.clock, gates=frozenset(), names={"cronjob-controller"})
    assert str(refusal.value) == "unknown controller `cronjob-controller`"
