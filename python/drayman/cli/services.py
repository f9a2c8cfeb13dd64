"""Running what ends only when it is told to: services, as which a pod runs them."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run `work` on an event loop until it ends. SIGTERM cancels it, and that is no error; Ctrl-C raises as ever.

    As the first process of a container nothing but handlers of its own makes it end: there are no default ones.
    """
    asyncio.run(_until_told(work))


async def _until_told(work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.ensure_future(work)
    was_told = False

    def end() -> None:
        nonlocal was_told
        if not was_told:  # once: what it does to end would be cancelled, too
            was_told = True
            task.cancel()

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, end)
    try:
        await asyncio.wait([task])
    except asyncio.CancelledError:  # interrupted
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            task.result()
        raise
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
    if not (task.cancelled() and was_told):
        task.result()
