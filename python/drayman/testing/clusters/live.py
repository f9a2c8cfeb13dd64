"""A cluster that runs by itself, in real time: what scenarios and the demo do with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from drayman.kube.resources import SLICES
from drayman.testing.access import Access

if TYPE_CHECKING:
    from drayman.clock import Clock
    from drayman.kube.client import Client

_INTERVAL_SECONDS = 0.1


class Live(Access):
    """Works on a running cluster and waits for it."""

    def __init__(self, client: Client, clock: Clock) -> None:
        super().__init__(client)
        self._clock = clock

    async def wait(self, unmet: Callable[[], Awaitable[str | None]], seconds: float = 60.0) -> None:
        """Wait until `unmet()` returns None; it returns what is still missing.

        Raises `TimeoutError` with what was missing last.
        """
        limit = self._clock.monotonic() + seconds
        while (missing := await unmet()) is not None:
            if self._clock.monotonic() > limit:
                raise TimeoutError(f"{missing}, after {seconds:g} s")
            await self._clock.sleep(_INTERVAL_SECONDS)

    async def wait_for_devices(self, nodes: int) -> None:
        """Wait until so many nodes have published devices. Raises `TimeoutError`."""

        async def published() -> str | None:
            slices, _ = await self.client.list(SLICES)
            known = {item["spec"].get("nodeName") for item in slices}
            return None if len(known) >= nodes else f"{len(known)} of {nodes} nodes have published their devices"

        await self.wait(published)
