"""Two schedulers of which one is elected."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.scheduler.conftest import WatchedTransport

from drayman import scheduler
from drayman.errors import InputError
from drayman.kube.client import Client
from drayman.kube.election import LeaderElection, LeadershipLostError

if TYPE_CHECKING:
    from tests.unit.scheduler.conftest import Cluster

    from drayman.kube.http import Request, Response

ELECTION = LeaderElection(leader_elect=True, resource_namespace="default")


class CountingTransport(WatchedTransport):
    """Notes what is read, too."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster.server)
        self.requests: list[str] = []

    async def request(self, request: Request) -> Response:
        self.requests.append(f"{request.method} {request.path}")
        return await super().request(request)


class Replica:
    """One of the schedulers."""

    def __init__(self, cluster: Cluster, name: str, **options: Any) -> None:
        self.transport = CountingTransport(cluster)
        configuration = scheduler.Configuration(serve_all=True, leader_election=ELECTION, **options)
        self.vitals = scheduler.Vitals(cluster.clock, configuration)
        client = Client(self.transport)
        self.task = asyncio.create_task(
            scheduler.run(client, configuration, cluster.clock, random=None, vitals=self.vitals, identity=name)
        )

    async def ask(self, path: str) -> tuple[int, str]:
        answer = await self.vitals.probes().answer(path, verbose=True)
        assert answer is not None
        return answer.status, answer.text

    async def end(self) -> None:
        self.task.cancel()
        await asyncio.wait([self.task])


async def pair(cluster: Cluster, **options: Any) -> tuple[Replica, Replica]:
    """Return a leader, and one who waits."""
    first = Replica(cluster, "first", **options)
    await cluster.clock.advance(1)
    second = Replica(cluster, "second", **options)
    await cluster.clock.advance(1)
    return first, second


async def test_only_the_leader_schedules_and_the_other_goes_on_when_it_ends(cluster: Cluster) -> None:
    await cluster.node()
    first, second = await pair(cluster)
    await cluster.pod("p")
    await cluster.clock.advance(30)
    bound = await cluster.node_of("p")
    written = list(second.transport.writes)
    await first.end()
    await cluster.pod("q")
    await cluster.clock.advance(4.4)

    assert (bound, written) == ("n1", [])
    assert await cluster.node_of("q") == "n1"
    await second.end()


async def test_scheduler_that_waits_is_as_ready_and_live_as_the_leader(cluster: Cluster) -> None:
    first, second = await pair(cluster)
    await cluster.clock.advance(30)

    for replica in (first, second):
        assert await replica.ask("/readyz") == (
            200,
            "[+]ping ok\n[+]leaderElection ok\n[+]shutdown ok\n[+]sched-handler-sync ok\nreadyz check passed\n",
        )
        assert await replica.ask("/livez") == (
            200,
            "[+]ping ok\n[+]leaderElection ok\n[+]scheduling-cycle ok\n[+]watches ok\nlivez check passed\n",
        )
    await first.end()
    await second.end()


async def test_scheduler_that_has_lost_the_lead_ends_with_an_error(cluster: Cluster) -> None:
    await cluster.node()
    first, second = await pair(cluster)

    async def cut(_: Request) -> None:
        raise ConnectionError("the network is down")

    first.transport.before = cut
    await cluster.clock.advance(60)
    await cluster.pod("p")
    await cluster.clock.advance(1)

    error = first.task.exception()
    while isinstance(error, ExceptionGroup):
        (error,) = error.exceptions
    assert isinstance(error, LeadershipLostError)
    assert await cluster.node_of("p") == "n1"
    await second.end()


async def test_pods_that_are_held_back_are_told_so_by_the_leader_alone(cluster: Cluster) -> None:
    await cluster.pod("p", "missing")
    first, second = await pair(cluster)
    await cluster.clock.advance(60)
    written = list(second.transport.writes)
    told = await cluster.verdict("p")
    await first.end()
    await cluster.pod("q", "missing")
    await cluster.clock.advance(60)

    assert written == []
    assert told == await cluster.verdict("q")
    await second.end()


async def test_cache_that_is_delayed_is_filled_when_the_scheduler_leads(cluster: Cluster) -> None:
    await cluster.node()
    first, second = await pair(cluster, delay_cache_until_active=True)
    await cluster.clock.advance(30)
    ready = await second.ask("/readyz")
    read = {one for one in second.transport.requests if "/leases/" not in one}
    await first.end()
    await cluster.pod("p")
    await cluster.clock.advance(4.4)

    assert (ready[0], read) == (200, {"GET /apis/resource.k8s.io/v1/devicetaintrules"})
    assert await cluster.node_of("p") == "n1"
    assert (await second.ask("/readyz"))[0] == 200
    await second.end()


async def test_candidates_of_one_host_are_told_apart(cluster: Cluster) -> None:
    configuration = scheduler.Configuration(leader_election=ELECTION)
    first, second = scheduler.Vitals(cluster.clock), scheduler.Vitals(cluster.clock)
    tasks = [
        asyncio.create_task(
            scheduler.run(Client(cluster.transport), configuration, cluster.clock, random=None, vitals=one)
        )
        for one in (first, second)
    ]
    await cluster.clock.advance(20)
    leaders = [one.elector is not None and one.elector.is_leader for one in (first, second)]
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)

    assert sorted(leaders) == [False, True]


async def test_election_that_cannot_work_is_refused(cluster: Cluster) -> None:
    configuration = scheduler.Configuration(leader_election=LeaderElection(leader_elect=True, lease_duration=5))
    with pytest.raises(InputError, match="leaderElection"):
        await scheduler.run(Client(cluster.transport), configuration, cluster.clock, random=None)
