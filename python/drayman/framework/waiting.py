"""Pods that a Permit plugin asked to wait after their node was chosen."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING

from drayman.framework.status import SUCCESS, Status, unschedulable
from drayman.pods.objects import Object

if TYPE_CHECKING:
    from drayman.clock import Clock


class WaitingPod:
    """Waits until every plugin in `timeouts` has allowed it, one has rejected it, or the time of one is over."""

    def __init__(self, pod: Object, timeouts: Mapping[str, float], clock: Clock) -> None:
        self.pod = pod
        self._pending = dict(timeouts)
        self._verdict: asyncio.Future[Status] = asyncio.get_running_loop().create_future()
        self._timers = [
            clock.call_later(seconds, functools.partial(self.reject, plugin, _timed_out(plugin)))
            for plugin, seconds in timeouts.items()
        ]

    @property
    def pending(self) -> tuple[str, ...]:
        """The plugins that have not decided yet."""
        return tuple(self._pending)

    def allow(self, plugin: str) -> None:
        """Let the pod go on as far as `plugin` is concerned."""
        self._pending.pop(plugin, None)
        if not self._pending:
            self._decide(SUCCESS)

    def reject(self, plugin: str, message: str) -> None:
        """Send the pod back to the queue."""
        self._decide(unschedulable(message).by(plugin))

    async def verdict(self) -> Status:
        """Return what was decided, once it is."""
        return await self._verdict

    def _decide(self, status: Status) -> None:
        if not self._verdict.done():
            self._verdict.set_result(status)
        for timer in self._timers:
            timer.cancel()


def _timed_out(plugin: str) -> str:
    return f'rejected due to timeout after waiting at plugin "{plugin}"'
