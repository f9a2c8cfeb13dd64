"""Candidates for one lease in virtual time, with networks and clocks that fail them; nothing is scheduled here."""

from __future__ import annotations

import asyncio
import datetime as dt
import itertools
import random
from typing import TYPE_CHECKING, Any

import pytest

from drayman.api.validation import names
from drayman.clock import VirtualClock
from drayman.errors import InputError
from drayman.kube.client import Client
from drayman.kube.election import Elector, LeaderElection, LeadershipLostError
from drayman.kube.resources import EVENTS, LEASES, NAMESPACES
from drayman.testing.apiserver import InProcessTransport

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.scheduler.conftest import Cluster

    from drayman.kube.http import Request, Response

SETTINGS = LeaderElection(leader_elect=True, resource_namespace="default")


class Network(InProcessTransport):
    """The way of one candidate to the server; `trouble` happens to each request before and after it."""

    before: Callable[[], Any] | None = None
    after: Callable[[], Any] | None = None

    async def request(self, request: Request) -> Response:
        if self.before is not None:
            await self.before()
        answer = await super().request(request)
        if self.after is not None:
            await self.after()
        return answer


class WrongClock:
    """A clock whose wall time is wrong, and which may jump, as for a process that was suspended."""

    def __init__(self, clock: VirtualClock, wrong: float) -> None:
        self._clock = clock
        self._wrong = dt.timedelta(seconds=wrong)
        self.jumped = 0.0
        self.sleep, self.call_later, self.timeout = clock.sleep, clock.call_later, clock.timeout
        self.busy, self.waiting = clock.busy, clock.waiting

    def now(self) -> dt.datetime:
        return self._clock.now() + self._wrong

    def monotonic(self) -> float:
        return self._clock.monotonic() + self.jumped


class Prompt(random.Random):
    """Lets a candidate wait as briefly as there is."""

    def random(self) -> float:
        return 0.0


async def cut() -> None:
    raise ConnectionError("the network is down")


async def hang() -> None:
    await asyncio.Event().wait()


class Candidate:
    """Takes part until it is killed or ends; `terms` is when it led, from and to."""

    def __init__(
        self,
        cluster: Cluster,
        name: str,
        *,
        settings: LeaderElection = SETTINGS,
        wrong: float = 0,
        source: random.Random | None = None,
    ) -> None:
        self.network = Network(cluster.server)
        self.clock = WrongClock(cluster.clock, wrong)
        self.terms: list[tuple[float, float]] = []
        self._true_clock = cluster.clock
        self.elector = Elector(
            Client(self.network),
            self.clock,
            settings,
            identity=name,
            random=source or random.Random(0),
            component="drayman",
        )
        self.task = asyncio.create_task(self.elector.lead(self._work))

    async def _work(self) -> None:
        began = self._true_clock.monotonic()
        self.terms.append((began, float("inf")))
        try:
            await asyncio.Event().wait()
        finally:
            self.terms[-1] = (began, self._true_clock.monotonic())

    @property
    def leads(self) -> bool:
        return bool(self.terms) and self.terms[-1][1] == float("inf")

    async def end(self) -> None:
        """Tell it to end, as SIGTERM does."""
        self.task.cancel()
        await asyncio.wait([self.task])

    async def kill(self) -> None:
        """End it without a last word."""
        self.network.before = cut
        await self.end()

    def lost(self) -> str:
        """Return what it said when it ended by itself."""
        error = self.task.exception()
        assert isinstance(error, ExceptionGroup)
        (inner,) = error.exceptions
        assert isinstance(inner, LeadershipLostError)
        return str(inner)


def assert_one_at_a_time(*candidates: Candidate) -> None:
    terms = sorted(term for candidate in candidates for term in candidate.terms)
    for (_, end), (begin, _) in itertools.pairwise(terms):
        assert end <= begin, terms


async def lease(cluster: Cluster) -> Any:
    return (await cluster.get(LEASES, "drayman-scheduler"))["spec"]


async def test_one_candidate_leads_and_says_so(cluster: Cluster) -> None:
    first = Candidate(cluster, "first")
    await cluster.clock.advance(1)
    second = Candidate(cluster, "second")
    await cluster.clock.advance(60)

    assert (first.leads, second.leads) == (True, False)
    spec = await lease(cluster)
    assert spec == {
        "holderIdentity": "first",
        "leaseDurationSeconds": 15,
        "acquireTime": "2026-01-01T00:00:00.000000Z",
        "renewTime": spec["renewTime"],
        "leaseTransitions": 0,
    }
    assert spec["renewTime"] > "2026-01-01T00:00:58"
    events, _ = await cluster.client.list(EVENTS)
    assert [(one["reason"], one["note"]) for one in events] == [("LeaderElection", "first became leader")]
    assert (events[0]["regarding"]["kind"], events[0]["reportingController"]) == ("Lease", "drayman")
    await first.end()
    await second.end()


async def test_lease_of_a_leader_that_ends_is_free_at_once(cluster: Cluster) -> None:
    first = Candidate(cluster, "first")
    await cluster.clock.advance(60)
    second = Candidate(cluster, "second")
    await cluster.clock.advance(10)
    await first.end()
    released = await lease(cluster)
    await cluster.clock.advance(2 * (1 + 1.2))

    assert (released["holderIdentity"], released["leaseDurationSeconds"]) == ("", 1)
    assert second.leads
    assert (await lease(cluster))["leaseTransitions"] == 1
    notes = [one["note"] for one in (await cluster.client.list(EVENTS))[0]]
    assert notes == ["first became leader", "first stopped leading", "second became leader"]
    await second.end()


async def test_lease_of_a_leader_that_is_killed_runs_out(cluster: Cluster) -> None:
    first = Candidate(cluster, "first")
    second = Candidate(cluster, "second")
    await cluster.clock.advance(60)
    assert first.leads
    await first.kill()
    await cluster.clock.advance(12.9)
    assert not second.leads
    # Another candidate sees the last renewal up to one wait late, and that it was the last one up to one more.
    await cluster.clock.advance(2.1 + 2 * 4.4)

    assert second.leads
    await second.end()


@pytest.mark.parametrize("trouble", [cut, hang])
@pytest.mark.parametrize("moment", ["before", "after"])
async def test_leader_without_a_server_ends_before_another_leads(
    cluster: Cluster, trouble: Callable[[], Any], moment: str
) -> None:
    first, second = Candidate(cluster, "first"), Candidate(cluster, "second")
    await cluster.clock.advance(61)
    setattr(first.network, moment, trouble)
    await cluster.clock.advance(40)

    assert first.lost().startswith("leaderelection lost: lease default/drayman-scheduler was not renewed for ")
    assert second.leads
    assert second.terms[0][0] - first.terms[0][1] >= 3
    await second.end()


async def test_late_answer_does_not_let_a_leader_lead_for_longer(cluster: Cluster) -> None:
    first = Candidate(cluster, "first")
    await cluster.clock.advance(0.01)
    second = Candidate(cluster, "second", source=Prompt())
    await cluster.clock.advance(60.99)

    async def late() -> None:
        first.network.before = cut
        await cluster.clock.sleep(4.9)

    first.network.after = late
    await cluster.clock.advance(30)

    assert (len(first.terms), second.leads) == (1, True)
    assert_one_at_a_time(first, second)
    await second.end()


async def test_leader_outlives_a_server_that_is_away_for_less_than_the_deadline(cluster: Cluster) -> None:
    first, second = Candidate(cluster, "first"), Candidate(cluster, "second")
    await cluster.clock.advance(60)
    first.network.before = cut
    await cluster.clock.advance(8)
    first.network.before = None
    await cluster.clock.advance(60)

    assert (first.leads, len(first.terms), second.terms) == (True, 1, [])
    await first.end()
    await second.end()


@pytest.mark.parametrize("wrong", [-3600.0, 3600.0])
async def test_clocks_that_differ_do_not_matter(cluster: Cluster, wrong: float) -> None:
    first, second = Candidate(cluster, "first"), Candidate(cluster, "second", wrong=wrong)
    await cluster.clock.advance(300)
    assert (first.leads, second.leads) == (True, False)
    await first.kill()
    await cluster.clock.advance(20)

    assert second.leads
    third = Candidate(cluster, "third", wrong=-wrong)
    await cluster.clock.advance(300)
    assert (second.leads, third.leads) == (True, False)
    await second.end()
    await third.end()


async def test_leader_that_was_suspended_does_not_go_on(cluster: Cluster) -> None:
    first = Candidate(cluster, "first")
    await cluster.clock.advance(60)
    healthy = first.elector.reason()
    first.clock.jumped = 36
    reason = first.elector.reason()
    await cluster.clock.advance(2)

    assert healthy == ""
    assert reason == "failed election to renew leadership on lease drayman-scheduler"
    assert "was not renewed for 3" in first.lost()
    assert (await lease(cluster))["holderIdentity"] == ""


@pytest.mark.parametrize(("holder", "told"), [("thief", "`thief`"), ("", "nobody")])
async def test_leader_that_sees_another_holder_ends_and_leaves_the_lease_alone(
    cluster: Cluster, holder: str, told: str
) -> None:
    first = Candidate(cluster, "first")
    await cluster.clock.advance(61)
    found = await cluster.get(LEASES, "drayman-scheduler")
    await cluster.client.update(LEASES, {**found, "spec": {**found["spec"], "holderIdentity": holder}})
    await cluster.clock.advance(2)

    assert first.lost() == f"leaderelection lost: lease default/drayman-scheduler is held by {told} now"
    assert (await lease(cluster))["holderIdentity"] == holder


async def test_lease_that_somebody_deletes_is_made_again(cluster: Cluster) -> None:
    first = Candidate(cluster, "first")
    await cluster.clock.advance(61)
    await cluster.client.delete(LEASES, "drayman-scheduler", "default")
    await cluster.clock.advance(2)

    assert (await lease(cluster))["holderIdentity"] == "first"
    assert first.leads
    await first.end()


async def test_release_is_tried_again_after_a_conflict(cluster: Cluster) -> None:
    first = Candidate(cluster, "first")
    await cluster.clock.advance(61)
    disturbed = False

    async def disturb() -> None:
        nonlocal disturbed
        if not disturbed:
            disturbed = True
            labels = {"metadata": {"labels": {"a": "b"}}}
            await cluster.client.patch(LEASES, "drayman-scheduler", "default", labels)

    first.network.after = disturb
    await first.end()

    assert (await lease(cluster))["holderIdentity"] == ""


async def test_candidate_waits_for_rights_and_namespace(cluster: Cluster) -> None:
    settings = LeaderElection(leader_elect=True, resource_namespace="later")
    first = Candidate(cluster, "first", settings=settings)
    await cluster.clock.advance(20)
    assert not first.leads
    await cluster.client.create(NAMESPACES, {"metadata": {"name": "later"}})
    await cluster.clock.advance(5)

    assert first.leads
    await first.end()


@pytest.mark.parametrize("seed", range(25))
async def test_there_are_never_two_leaders_however_bad_the_network(cluster: Cluster, seed: int) -> None:
    source = random.Random(seed)
    candidates: list[Candidate] = []

    async def trouble() -> None:
        kind = source.random()
        if kind < 0.15:
            raise ConnectionError
        if kind < 0.4:
            await cluster.clock.sleep(source.uniform(0, 8))

    def start(number: int) -> Candidate:
        one = Candidate(cluster, f"candidate-{number}", wrong=source.uniform(-60, 60), source=source)
        one.network.before = one.network.after = trouble
        candidates.append(one)
        return one

    running = [start(number) for number in range(3)]
    for number in range(3, 20):
        await cluster.clock.advance(source.uniform(1, 40))
        gone = source.choice(running)
        ending = asyncio.create_task(gone.kill() if source.random() < 0.5 else gone.end())
        await cluster.clock.advance(6)
        await ending
        running = [one for one in running if one is not gone and not one.task.done()]
        running += [start(number * 10 + index) for index in range(3 - len(running))]
    for one in candidates:
        one.network.before = cut
        one.network.after = None
    await asyncio.gather(*(one.end() for one in candidates))

    assert_one_at_a_time(*candidates)
    assert sum(len(one.terms) for one in candidates) > 3


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"lease_duration": 0}, 'leaseDuration: Invalid value: "0s": must be greater than zero'),
        ({"renew_deadline": -90}, 'renewDeadline: Invalid value: "-1m30s": must be greater than zero'),
        ({"retry_period": 0}, 'retryPeriod: Invalid value: "0s": must be greater than zero'),
        ({"lease_duration": 10}, 'leaseDuration: Invalid value: "10s": must be greater than `RenewDeadline`'),
        ({"retry_period": 9}, "renewDeadline: must be greater than retryPeriod*JitterFactor"),
        ({"resource_lock": ""}, "resourceLock: Required value"),
        ({"resource_lock": "pods"}, 'resourceLock: Invalid value: "pods": resourceLock value must be "leases"'),
        ({"resource_name": ""}, "resourceName: Required value"),
        ({"resource_namespace": ""}, "resourceNamespace: Required value"),
        ({"resource_name": "A/../x"}, f'resourceName: Invalid value: "A/../x": {names.dns_subdomain("A/../x")[0]}'),
        ({"resource_name": "n" * 254}, f'resourceName: Invalid value: "{"n" * 254}": must be no more than 253 bytes'),
        ({"resource_namespace": "../x"}, f'resourceNamespace: Invalid value: "../x": {names.dns_label("../x")[0]}'),
        ({"resource_namespace": "a.b"}, 'resourceNamespace: Invalid value: "a.b": must not contain dots'),
        (
            {"lease_duration": 0.9, "renew_deadline": 0.5, "retry_period": 0.1},
            'leaseDuration: Invalid value: "900ms": must be at least 1s: leases count whole seconds',
        ),
    ],
)  # fmt: skip
def test_settings_that_cannot_work_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        LeaderElection(leader_elect=True, **fields).check()
    assert str(caught.value) == f"leaderElection.{message}"
    LeaderElection(**fields).check()
