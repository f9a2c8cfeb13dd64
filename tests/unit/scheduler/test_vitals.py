"""What probes are told about a scheduler."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from drayman import scheduler
from drayman.framework import Status
from drayman.kube.client import Client
from drayman.kube.http import Request, Response

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.unit.scheduler.conftest import Cluster


@contextlib.asynccontextmanager
async def running(cluster: Cluster, **options: Any) -> AsyncIterator[scheduler.Vitals]:
    vitals = scheduler.Vitals(cluster.clock)
    client, configuration = Client(cluster.transport), scheduler.Configuration(serve_all=True)
    work = scheduler.run(client, configuration, cluster.clock, random=None, vitals=vitals, **options)
    task = asyncio.create_task(work)
    try:
        yield vitals
    finally:
        task.cancel()
        await asyncio.wait([task])


async def ask(vitals: scheduler.Vitals, path: str) -> tuple[int, str]:
    answer = await vitals.probes().answer(path, verbose=True)
    assert answer is not None
    return answer.status, answer.text


async def test_scheduler_is_ready_when_it_has_seen_the_cluster(cluster: Cluster) -> None:
    async with running(cluster) as vitals:
        before = await ask(vitals, "/readyz")
        await cluster.settle()
        after = await ask(vitals, "/readyz")
        live = await ask(vitals, "/livez")

    ended = await ask(vitals, "/readyz/shutdown")
    assert before[1] == (
        "[+]ping ok\n[+]shutdown ok\n[-]sched-handler-sync failed: reason withheld\nreadyz check failed\n"
    )
    assert after == (200, "[+]ping ok\n[+]shutdown ok\n[+]sched-handler-sync ok\nreadyz check passed\n")
    assert live == (200, "[+]ping ok\n[+]scheduling-cycle ok\n[+]watches ok\nlivez check passed\n")
    assert ended == (500, "internal server error: process is shutting down\n")


async def test_resources_that_cannot_be_listed_are_named(cluster: Cluster) -> None:
    async def forbid(request: Request) -> Response | None:
        forbidden = b'{"kind":"Status","reason":"Forbidden","code":403}'
        return Response(403, forbidden) if request.path.endswith("/nodes") else None

    cluster.transport.before = forbid
    async with running(cluster) as vitals:
        await cluster.settle()
        reason = await ask(vitals, "/readyz/sched-handler-sync")
        live = await ask(vitals, "/livez")

    assert reason == (500, "internal server error: handlers are not fully synchronized: nodes, pods\n")
    assert live[0] == 200


async def test_attempt_that_does_not_end_is_noticed(cluster: Cluster) -> None:
    class Endless:
        name = "Endless"

        def __init__(self, *_: object) -> None: ...

        def pre_filter(self, *_: object) -> tuple[Status, None]:
            return Status.unschedulable("never"), None

        async def post_filter(self, *_: object) -> Status:
            await asyncio.Event().wait()
            raise AssertionError

    await cluster.node()
    await cluster.pod("p")
    async with running(cluster, plugins=[Endless]) as vitals:
        await cluster.clock.advance(600)
        before = await ask(vitals, "/livez/scheduling-cycle")
        await cluster.clock.advance(1)
        after = await ask(vitals, "/livez/scheduling-cycle")

    assert before == (200, "ok")
    assert after == (500, "internal server error: one pod has been tried for 601 s\n")


async def test_watch_that_is_silent_for_too_long_is_noticed(cluster: Cluster) -> None:
    async with running(cluster) as vitals:
        await cluster.clock.advance(900)
        before = await ask(vitals, "/livez/watches")
        await cluster.node()
        await cluster.clock.advance(1)
        after = await ask(vitals, "/livez/watches")

    assert before == (200, "ok")
    silent = "deviceclasses, resourceslices, devicetaintrules, resourceclaims, pods"
    assert after == (500, f"internal server error: nothing was heard of {silent} for 900 s\n")
