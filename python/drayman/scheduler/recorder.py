"""Events of the scheduler and its plugins, written in the background, in order."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from drayman.framework import Object

if TYPE_CHECKING:
    from drayman.kube.events import Recorder


class BackgroundEvents:
    """Hands events to a :class:`~drayman.kube.events.Recorder` from a task of its own, which :meth:`run` is.

    Workers share the events by object: those about one object stay in order.
    """

    def __init__(self, recorder: Recorder, *, workers: int = 8) -> None:
        self._recorder = recorder
        self._queues: list[asyncio.Queue[tuple[Object, str, str, str, str]]] = [asyncio.Queue() for _ in range(workers)]

    def record(self, regarding: Object, type_: str, reason: str, action: str, note: str) -> None:
        """Write an event soon."""
        uid = str(regarding["metadata"].get("uid", ""))
        queue = self._queues[sum(uid.encode()) % len(self._queues)]
        queue.put_nowait((regarding, type_, reason, action, note))

    async def run(self) -> None:
        """Write events until cancelled."""
        async with asyncio.TaskGroup() as group:
            for queue in self._queues:
                group.create_task(self._work(queue))

    async def _work(self, queue: asyncio.Queue[tuple[Object, str, str, str, str]]) -> None:
        while True:
            regarding, type_, reason, action, note = await queue.get()
            await self._recorder.event(regarding, type_, reason, note, action=action)
