"""What scheduler and driver ask the API server for, over a run in which a lot happens, as RBAC sees it."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from e2e.stage import VirtualStage

from drayman import scheduler
from drayman.clock import VirtualClock, virtual_loop
from drayman.kube.client import Client
from drayman.kube.http import Request, Response, Stream
from drayman.kube.resources import LEASES, NAMESPACES
from drayman.scheduler import Configuration
from drayman.testing import core, scenario
from drayman.testing.apiserver import APIServer, InProcessTransport, paths

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping
    from typing import Any

    import pytest

    from drayman.kube.election import LeaderElection
    from drayman.testing import FakeCluster

DRIVER = "gpu.example.com"
_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


class Right(NamedTuple):
    """One verb on one resource; subresources stand behind a slash."""

    verb: str
    group: str
    resource: str


class RecordingTransport(InProcessTransport):
    """Notes the requests of each part by its user agent, and refuses some once: what is done then needs rights, too."""

    asked: ClassVar[dict[str, set[Right]]]
    refusals: ClassVar[dict[tuple[str, Right], list[Response | Exception]]]

    async def request(self, request: Request) -> Response:
        refusal = self._note(request)
        if isinstance(refusal, Exception):
            raise refusal
        return refusal or await super().request(request)

    @contextlib.asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[Stream | Response]:
        self._note(request)
        async with super().stream(request) as answer:
            yield answer

    def _note(self, request: Request) -> Response | Exception | None:
        place = paths.place(request.path)
        if place is None:  # discovery and versions: open to everybody
            return None
        reading = "get" if place.name else "watch" if request.param("watch") else "list"
        resource = f"{place.plural}/{place.subresource}" if place.subresource else place.plural
        right = Right(_VERBS.get(request.method, reading), place.group, resource)
        part = request.headers.get("user-agent", "").partition("/")[0]
        self.asked.setdefault(part, set()).add(right)
        refusals = self.refusals.get((part, right))
        return refusals.pop() if refusals else None


def rights(rules: Iterable[Mapping[str, Any]]) -> set[Right]:
    """Return what rules of a role allow."""
    return {
        Right(verb, group, resource)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


async def record(monkeypatch: pytest.MonkeyPatch) -> Mapping[str, set[Right]]:
    """Play the shipped scenarios and some misfortune in one cluster; return what each part asked for."""
    conflict = Response(409, b'{"kind": "Status", "reason": "Conflict", "code": 409}')
    RecordingTransport.asked = {}
    broken = ConnectionError("connection reset by peer")
    RecordingTransport.refusals = {
        ("drayman-scheduler", Right("update", "resource.k8s.io", "resourceclaims/status")): [conflict],
        ("drayman-scheduler", Right("patch", "", "pods/status")): [conflict],
        # Twice, so that the second event is a repetition of the first.
        ("drayman-scheduler", Right("create", "", "pods/binding")): [broken, broken],
    }
    monkeypatch.setattr(core, "InProcessTransport", RecordingTransport)
    with VirtualStage(nodes=2) as stage:
        for played in scenario.shipped():
            if played.unmet(stage.offer) is None:
                await stage.play(played)
                await stage.clean_up(played)
        _quarrel_about_slices(stage._cluster)
    assert not any(RecordingTransport.refusals.values())
    return RecordingTransport.asked


def _quarrel_about_slices(cluster: FakeCluster) -> None:
    """Let somebody change a slice of a driver, and add one that the driver does not want."""
    published = next(one for one in cluster.list("resourceslices") if one["spec"]["nodeName"] == "node-1")
    spec = published["spec"]
    cluster.apply({**published, "spec": {**spec, "devices": spec["devices"][1:]}})
    stranger = {**published, "metadata": {"name": "stranger"}}
    cluster.apply({**stranger, "spec": {**spec, "pool": {**spec["pool"], "name": "stranger"}}})
    cluster.settle()


def record_election(settings: LeaderElection) -> set[Right]:
    """Let a scheduler lead, renew its lease and give it up; return what it asked for."""
    RecordingTransport.asked, RecordingTransport.refusals = {}, {}
    clock = VirtualClock()

    async def lead() -> None:
        server = APIServer(clock=clock)
        administrator = Client(InProcessTransport(server))
        await administrator.create(NAMESPACES, {"metadata": {"name": settings.resource_namespace}})
        client = Client(RecordingTransport(server), user_agent="drayman-scheduler")
        configuration = Configuration(leader_election=settings)
        leader = asyncio.create_task(scheduler.run(client, configuration, clock, random=None))
        await clock.settle()
        held = await administrator.get(LEASES, settings.resource_name, settings.resource_namespace)
        assert held["spec"]["renewTime"] > held["spec"]["acquireTime"]
        leader.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await leader
        given_up = await administrator.get(LEASES, settings.resource_name, settings.resource_namespace)
        assert held["spec"]["holderIdentity"]
        assert not given_up["spec"]["holderIdentity"]

    with contextlib.closing(virtual_loop(clock)) as loop:
        loop.run_until_complete(lead())
    return RecordingTransport.asked["drayman-scheduler"]
