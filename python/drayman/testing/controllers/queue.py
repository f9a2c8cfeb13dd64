"""Keys waiting to be worked on, each by one worker at a time, again after a failure."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from drayman.errors import APIStatusError, DraymanError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from drayman.clock import Clock, Timer

log = logging.getLogger(__name__)

FIRST_DELAY = 0.005
LONGEST_DELAY = 1000.0
"""Seconds between attempts: the delay doubles with every failure in a row (client-go's default limiter)."""


class SyncError(DraymanError):
    """A key cannot be brought to its wanted state now; it is tried again later."""


class WorkQueue:
    """A queue of string keys. A key added while it waits counts once; while it is worked on, it runs once more."""

    def __init__(self, clock: Clock, name: str) -> None:
        self._clock = clock
        self._name = name
        self._ready: asyncio.Queue[str] = asyncio.Queue()
        self._waiting: set[str] = set()
        self._active: set[str] = set()
        self._failures: dict[str, int] = {}
        self._timers: dict[str, tuple[float, Timer]] = {}

    def add(self, key: str) -> None:
        """Let `key` be worked on as soon as possible."""
        if key in self._waiting:
            return
        self._waiting.add(key)
        if key not in self._active:
            self._ready.put_nowait(key)

    def add_after(self, key: str, seconds: float) -> None:
        """Add `key` in `seconds`, unless it is due earlier already."""
        due = self._clock.monotonic() + seconds
        if key in self._timers:
            known, timer = self._timers[key]
            if known <= due:
                return
            timer.cancel()
        self._timers[key] = (due, self._clock.call_later(seconds, lambda: self._due(key)))

    async def run(self, sync: Callable[[str], Awaitable[None]], *, workers: int = 4) -> None:
        """Call `sync` for every key until cancelled.

        Refusals of the API server, lost connections and :class:`SyncError` lead to another attempt; other exceptions
        are bugs and end the run.
        """
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(self._work(sync))
        finally:
            for _, timer in self._timers.values():
                timer.cancel()
            self._timers.clear()

    def _due(self, key: str) -> None:
        del self._timers[key]
        self.add(key)

    async def _work(self, sync: Callable[[str], Awaitable[None]]) -> None:
        while True:
            key = await self._ready.get()
            self._waiting.discard(key)
            self._active.add(key)
            try:
                await sync(key)
            except (APIStatusError, ConnectionError, SyncError) as error:
                self._retry(key, error)
            else:
                self._failures.pop(key, None)
            finally:
                self._active.discard(key)
                if key in self._waiting:
                    self._ready.put_nowait(key)

    def _retry(self, key: str, error: Exception) -> None:
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        log.debug("%s: %s failed, will be tried again: %s", self._name, key, error)
        self.add_after(key, min(FIRST_DELAY * 2**failures, LONGEST_DELAY))
