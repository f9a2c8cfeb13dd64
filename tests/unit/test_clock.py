from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from drayman.clock import EPOCH, OwnTimers, VirtualClock, virtual_loop
from drayman.timestamps import rfc3339

T = TypeVar("T")


def run(clock: VirtualClock, main: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=lambda: virtual_loop(clock)) as runner:
        return runner.run(main)


def test_settle_runs_timers_within_the_window_and_stops_at_the_last() -> None:
    clock = VirtualClock()
    woken: list[float] = []

    async def sleeper() -> None:
        for seconds in (5, 50, 100):
            await clock.sleep(seconds)
            woken.append(clock.monotonic())

    async def main() -> None:
        task = asyncio.ensure_future(sleeper())
        await clock.settle(60)
        assert (woken, clock.monotonic()) == ([5.0, 55.0], 55.0)
        await clock.advance(200)
        assert (woken, clock.monotonic()) == ([5.0, 55.0, 155.0], 255.0)
        await task

    run(clock, main())


def test_timers_due_together_run_in_the_order_in_which_they_were_set() -> None:
    clock = VirtualClock()
    order: list[str] = []

    async def main() -> None:
        clock.call_later(1, lambda: order.append("first"))
        clock.call_later(1, lambda: order.append("second"))
        clock.call_later(1, lambda: order.append("cancelled")).cancel()
        await clock.settle()

    run(clock, main())
    assert order == ["first", "second"]


def test_timeout_cancels_a_body_that_sleeps_too_long() -> None:
    clock = VirtualClock()

    async def main() -> float:
        async def body() -> None:
            with pytest.raises(TimeoutError):
                async with clock.timeout(3):
                    await clock.sleep(100)

        task = asyncio.ensure_future(body())
        await clock.settle()
        await task
        return clock.monotonic()

    assert run(clock, main()) == 3.0


def test_time_stands_still_while_outside_work_is_under_way() -> None:
    clock = VirtualClock()

    async def main() -> float:
        seen: list[float] = []

        async def outside_call() -> None:
            with clock.busy():
                await asyncio.to_thread(lambda: None)
                seen.append(clock.monotonic())

        task = asyncio.ensure_future(outside_call())
        clock.call_later(1, lambda: None)
        await clock.settle()
        await task
        return seen[0]

    assert run(clock, main()) == 0.0


def test_rfc3339_prints_whole_seconds_in_utc() -> None:
    assert rfc3339(EPOCH) == "2026-01-01T00:00:00Z"


def test_step_runs_one_timer_and_what_it_wakes() -> None:
    clock = VirtualClock()
    woken: list[float] = []

    async def sleeper() -> None:
        while True:
            await clock.sleep(2)
            woken.append(clock.monotonic())

    async def main() -> None:
        task = asyncio.ensure_future(sleeper())
        assert await clock.step(limit=5)
        assert woken == [2.0]
        assert await clock.step(limit=5)
        assert not await clock.step(limit=5)
        assert woken == [2.0, 4.0]
        task.cancel()

    run(clock, main())


def test_timers_of_a_part_end_with_it_and_leave_those_of_others_alone() -> None:
    clock = VirtualClock()
    part = OwnTimers(clock)
    rang: list[str] = []

    async def main() -> None:
        part.call_later(1, lambda: rang.append("before the end"))
        part.call_later(2, lambda: rang.append("cancelled")).cancel()
        part.call_later(9, lambda: rang.append("after the end"))
        clock.call_later(9, lambda: rang.append("of another"))
        await clock.advance(5)
        part.close()
        part.call_later(1, lambda: rang.append("set after the end"))
        await clock.advance(5)

    run(clock, main())
    assert rang == ["before the end", "of another"]
