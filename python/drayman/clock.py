"""The one source of time.

Every part of drayman that waits or reads the time is given a :class:`Clock`. :class:`RealClock` is the machine's.
:class:`VirtualClock` moves only when nothing else can happen: it runs on an event loop of its own
(:func:`virtual_loop`) whose selector tells it that no callback is ready, so that hours pass in milliseconds and two
runs are equal to the byte.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import heapq
import itertools
import selectors
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

EPOCH = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
"""Where a virtual clock starts."""


class Timer(Protocol):
    """A pending call; :meth:`cancel` may be called at any time, also after it ran."""

    def cancel(self) -> None:
        """Make sure that the call does not happen."""


class Clock(Protocol):
    """Time as the parts of drayman see it.

    Durations are in seconds. Not thread-safe, except :meth:`now` and :meth:`monotonic`.
    """

    def now(self) -> dt.datetime:
        """Return the wall time, in UTC."""

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start; never goes back."""

    async def sleep(self, seconds: float) -> None:
        """Wait for `seconds`; zero or less lets other tasks run once."""

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """Call `callback` on the running loop after `seconds`."""

    def timeout(self, seconds: float | None) -> contextlib.AbstractAsyncContextManager[None]:
        """Cancel the body and raise `TimeoutError` when it runs longer than `seconds`; None means no limit."""

    def busy(self) -> contextlib.AbstractContextManager[None]:
        """Mark work that the event loop cannot see (a gRPC call, a thread): a virtual clock stands still meanwhile."""

    def waiting(self) -> contextlib.AbstractContextManager[None]:
        """Take back one mark of :meth:`busy` while the marked work itself waits for time to pass."""


class RealClock:
    """The machine's clock."""

    def now(self) -> dt.datetime:
        """Return the wall time, in UTC."""
        return dt.datetime.now(dt.UTC)

    def monotonic(self) -> float:
        """Return the machine's monotonic time."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait for `seconds`."""
        await asyncio.sleep(seconds)

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """Call `callback` after `seconds`."""
        return asyncio.get_running_loop().call_later(seconds, callback)

    @contextlib.asynccontextmanager
    async def timeout(self, seconds: float | None) -> AsyncIterator[None]:
        """Limit the body to `seconds`."""
        async with asyncio.timeout(seconds):
            yield

    @contextlib.contextmanager
    def busy(self) -> Iterator[None]:
        """Do nothing: real time passes by itself."""
        yield

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """Do nothing: real time passes by itself."""
        yield


class OwnTimers:
    """The clock of one part: `clock`, but :meth:`close` cancels the timers that the part has set.

    Timers outlive the tasks that set them: without this, those of a part that was stopped would go on working for it.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._timers: set[_OwnTimer] = set()
        self._closed = False
        self.now = clock.now
        self.monotonic = clock.monotonic
        self.sleep = clock.sleep
        self.timeout = clock.timeout
        self.busy = clock.busy
        self.waiting = clock.waiting

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """Call `callback` after `seconds`, unless the part has ended by then."""
        timer = _OwnTimer(self._timers, callback)
        if not self._closed:
            self._timers.add(timer)
            timer.inner = self._clock.call_later(seconds, timer.run)
        return timer

    def close(self) -> None:
        """Cancel all timers, and those that are set later."""
        self._closed = True
        for timer in list(self._timers):
            timer.cancel()


@dataclass(slots=True, eq=False)
class _OwnTimer:
    among: set[_OwnTimer]
    callback: Callable[[], object]
    inner: Timer | None = None

    def run(self) -> None:
        self.among.discard(self)
        self.callback()

    def cancel(self) -> None:
        self.among.discard(self)
        if self.inner is not None:
            self.inner.cancel()


@dataclass(order=True, slots=True)
class _VirtualTimer:
    due: float
    order: int
    callback: Callable[[], object] = field(compare=False)
    cancelled: bool = field(default=False, compare=False)

    def cancel(self) -> None:
        self.cancelled = True


@dataclass(slots=True)
class _Run:
    """One move of the clock: up to `limit`, at most `timers` timers; `done` is set when nothing is left to do."""

    limit: float
    timers: float = float("inf")
    done: asyncio.Event = field(default_factory=asyncio.Event)


class VirtualClock:
    """Time that moves only inside :meth:`settle` and :meth:`advance`, and only while the loop of :func:`virtual_loop`
    is idle.

    Timers due at the same moment run in the order in which they were set, each followed by everything that it wakes.
    """

    def __init__(self, start: dt.datetime = EPOCH) -> None:
        self._start = start
        self._elapsed = 0.0
        self._timers: list[_VirtualTimer] = []
        self._order = itertools.count()
        self._busy = 0
        self._run: _Run | None = None

    def now(self) -> dt.datetime:
        """Return the virtual wall time."""
        return self._start + dt.timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        """Return the virtual seconds since the start."""
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        """Wait until `seconds` of virtual time have passed."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        done = asyncio.Event()
        timer = self.call_later(seconds, done.set)
        try:
            await done.wait()
        finally:
            timer.cancel()

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """Call `callback` after `seconds` of virtual time."""
        timer = _VirtualTimer(self._elapsed + max(seconds, 0.0), next(self._order), callback)
        heapq.heappush(self._timers, timer)
        return timer

    @contextlib.asynccontextmanager
    async def timeout(self, seconds: float | None) -> AsyncIterator[None]:
        """Limit the body to `seconds` of virtual time."""
        async with asyncio.timeout(None) as scope:
            timer = None
            if seconds is not None:
                timer = self.call_later(seconds, lambda: scope.reschedule(asyncio.get_running_loop().time()))
            try:
                yield
            finally:
                if timer is not None:
                    timer.cancel()

    @contextlib.contextmanager
    def busy(self) -> Iterator[None]:
        """Hold the time while work outside the loop is under way."""
        self._busy += 1
        try:
            yield
        finally:
            self._busy -= 1

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """Let the time move although work outside the loop is under way, because that work waits for it."""
        marked = self._busy > 0
        self._busy -= marked
        try:
            yield
        finally:
            self._busy += marked

    async def settle(self, seconds: float = 60.0) -> None:
        """Run until nothing is ready and no timer is due within `seconds` of the start of this call.

        Time stops at the last timer that ran.
        """
        await self._move(_Run(self._elapsed + seconds))

    async def advance(self, seconds: float) -> None:
        """Let exactly `seconds` pass, running every timer on the way."""
        limit = self._elapsed + seconds
        await self._move(_Run(limit))
        self._elapsed = limit

    async def step(self, limit: float) -> bool:
        """Run what is ready, then the next timer if due by `limit` (in :meth:`monotonic` time), then what it wakes.

        Returns False when there was no such timer.
        """
        run = _Run(limit, timers=1)
        await self._move(run)
        return run.timers == 0

    async def _move(self, run: _Run) -> None:
        if self._run is not None:
            raise RuntimeError("the virtual clock is being moved already")
        self._run = run
        try:
            await run.done.wait()
        finally:
            self._run = None

    def on_idle(self) -> bool:
        """Run the next timer, or end the move in progress.

        Called by the loop when nothing is ready; returns whether anything was done.
        """
        run = self._run
        if run is None or run.done.is_set() or self._busy:
            return False
        while self._timers and self._timers[0].cancelled:
            heapq.heappop(self._timers)
        if run.timers > 0 and self._timers and self._timers[0].due <= run.limit:
            timer = heapq.heappop(self._timers)
            run.timers -= 1
            self._elapsed = max(self._elapsed, timer.due)
            timer.callback()
        else:
            run.done.set()
        return True


class _IdleSelector(selectors.DefaultSelector):
    """A selector that offers the clock a move whenever the loop would block and no file is ready."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if self._clock.on_idle():
            return []
        return super().select(timeout)


def virtual_loop(clock: VirtualClock) -> asyncio.AbstractEventLoop:
    """Return a new event loop that moves `clock` when it is idle."""
    return asyncio.SelectorEventLoop(_IdleSelector(clock))
