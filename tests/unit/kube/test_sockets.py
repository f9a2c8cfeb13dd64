"""The transport over sockets leaves nothing open when its loop ends."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import warnings
from pathlib import Path

from tests.unit.servers import live_server

from drayman.kube import connect
from drayman.kube.resources import PODS


def test_watch_that_is_left_is_closed_before_the_loop_ends(tmp_path: Path) -> None:
    """Its connection is encrypted: to close that in its order takes an answer of the server, for which nobody waits."""

    async def watch() -> None:
        async with connect.client(str(server.kubeconfig)) as client:
            _, version = await client.list(PODS)
            started = asyncio.Event()

            async def follow() -> None:
                watched = client.watch(PODS, resource_version=version)
                async with contextlib.aclosing(watched):
                    started.set()
                    async for _ in watched:
                        pass

            task = asyncio.create_task(follow())
            await started.wait()
            await client.list(PODS)
            task.cancel()
            await asyncio.wait([task])

    with live_server(tmp_path) as server, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        asyncio.run(watch())
        gc.collect()

    assert [str(one.message) for one in caught if one.category is ResourceWarning] == []
