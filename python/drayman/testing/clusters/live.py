"""A cluster that runs by itself, in real time: what scenarios and the demo do with it."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from drayman.errors import APIStatusError
from drayman.kube.resources import SLICES
from drayman.testing.access import Access

if TYPE_CHECKING:
    from drayman.clock import Clock
    from drayman.kube.client import Client, Object

T = TypeVar("T")

_INTERVAL_SECONDS = 0.1
_ACCOUNT_SECONDS = 10.0


class Live(Access):
    """Works on a running cluster and waits for it."""

    def __init__(self, client: Client, clock: Clock) -> None:
        super().__init__(client)
        self._clock = clock

    async def apply(self, objects: Iterable[Mapping[str, Any]]) -> Sequence[Object]:
        """Create the objects, or update those that exist; missing namespaces are created first."""
        applied: list[Object] = []
        for obj in objects:
            applied += await when_accounts_are_there(self._clock, functools.partial(super().apply, [obj]))
        return applied

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


async def when_accounts_are_there(clock: Clock, write: Callable[[], Awaitable[T]]) -> T:
    """Return what `write()` does, which creates a pod: a controller gives new namespaces their service account, and
    until then no pod is taken there.
    """
    limit = clock.monotonic() + _ACCOUNT_SECONDS
    while True:
        try:
            return await write()
        except APIStatusError as error:
            if "error looking up service account" not in str(error) or clock.monotonic() > limit:
                raise
        await clock.sleep(_INTERVAL_SECONDS)
