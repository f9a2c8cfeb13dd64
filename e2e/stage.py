"""What a scenario is played on: a cluster, what it has, and what is kept when a scenario does not end as it says."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Protocol, Self

import yaml

from drayman import features, names
from drayman.clock import RealClock
from drayman.errors import APIStatusError
from drayman.testing import FakeCluster, scenario
from drayman.testing.clusters.live import Live
from drayman.testing.scenario import SECONDS, Offer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    import pytest
    from e2e.started import Started

    from drayman.kube.client import Client
    from drayman.testing.scenario import Scenario

_KEPT = ("pods", "resourceclaims", "resourceclaimtemplates", "events")
_KEPT_OF_CLUSTER = ("nodes", "resourceslices", "deviceclasses")


class Stage(Protocol):
    """A cluster with what it offers; `is_shared` says that all tests have the same one."""

    offer: Offer
    is_shared: bool

    async def play(self, played: Scenario) -> tuple[str, ...]:
        """Play a scenario and return how it deviates from what it says."""

    async def clean_up(self, played: Scenario) -> None:
        """Delete what the scenario created and wait until it is gone."""


class VirtualStage:
    """An embedded cluster in virtual time: it settles before anything is looked at."""

    is_shared = False

    def __init__(self, nodes: int) -> None:
        self.offer = Offer(nodes=nodes, gates=features.resolve())
        self._cluster = FakeCluster(nodes=nodes)

    def __enter__(self) -> Self:
        self._cluster.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._cluster.__exit__(None, None, None)

    async def play(self, played: Scenario) -> tuple[str, ...]:
        return (await scenario.run(played, self)).deviations

    async def clean_up(self, played: Scenario) -> None:
        await scenario.clean_up(played, self)

    async def apply(self, objects: Sequence[Mapping[str, Any]]) -> Any:
        return self._cluster.apply(list(objects))

    async def delete(self, kind: str, name: str) -> None:
        self._cluster.delete(kind, name)

    async def views(self, namespace: str) -> dict[str, Any]:
        state = self._cluster.state()
        prefix = f"{namespace}/"
        own = {
            kind: {key: view for key, view in state[kind].items() if key.startswith(prefix)}
            for kind in ("pods", "claims")
        }
        return {**own, "events": [line for line in state["events"] if line.split()[1].startswith(prefix)]}

    async def logs(self, name: str, container: str) -> str:
        return self._cluster.logs(name, container)

    async def wait(self, unmet: Callable[[], Awaitable[str | None]], seconds: float = SECONDS) -> None:
        self._cluster.settle(seconds)
        if (missing := await unmet()) is not None:
            raise TimeoutError(missing)


class LiveStage:
    """A cluster that runs by itself, shared by all tests: every scenario is cleaned up before the next."""

    is_shared = True

    def __init__(self, backend: Live, started: Started, request: pytest.FixtureRequest) -> None:
        chosen = started.chosen
        version = started.kubernetes
        gates = features.resolve(kubernetes_version=version)
        self.offer = Offer(nodes=started.nodes, gates=gates, version=version, root=chosen.is_real)
        self.live = backend
        self._logs = started.logs
        self._node = request.node
        self._scheduler = "default-scheduler" if chosen.scheduler == "upstream" else names.SCHEDULER_NAME

    @classmethod
    async def ready(cls, client: Client, started: Started, request: pytest.FixtureRequest) -> Self:
        """Return the stage when every node has its devices."""
        backend = Live(client, RealClock())
        await backend.wait_for_devices(started.nodes)
        return cls(backend, started, request)

    async def play(self, played: Scenario) -> tuple[str, ...]:
        deviations: tuple[str, ...] = ("it was not played to its end",)
        try:
            deviations = (await scenario.run(played, self.live, scheduler_name=self._scheduler)).deviations
        finally:
            if deviations:
                await self.keep(played.name, played.namespaces)
            await self.clean_up(played)
        return deviations

    async def clean_up(self, played: Scenario) -> None:
        await scenario.clean_up(played, self.live)

    async def keep(self, name: str, namespaces: Sequence[str]) -> None:
        """Write down the objects under `name`, and let the report say where they and the logs are."""
        folder = self._logs / "objects" / name
        folder.mkdir(parents=True, exist_ok=True)
        wanted = [(kind, namespace) for namespace in namespaces for kind in _KEPT]
        for kind, namespace in [*wanted, *((kind, None) for kind in _KEPT_OF_CLUSTER)]:
            with contextlib.suppress(APIStatusError):
                objects = await self.live.list(kind, namespace)
                path = folder / f"{kind}{f'-{namespace}' if namespace else ''}.yaml"
                path.write_text(yaml.safe_dump_all(objects, sort_keys=False))
        places = f"objects: {folder}\noutput of the cluster's processes: {self._logs}"
        self._node.add_report_section("call", "cluster", places)
