"""Clusters for the scenarios: `--backend` chooses which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from drayman.testing import FakeCluster
from drayman.testing.scenario import SECONDS, Offer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

    from drayman.testing.scenario import Backend

NODES = 2


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--backend", choices=("fake",), default="fake", help="cluster to run scenarios on")


class VirtualBackend:
    """The embedded cluster in virtual time: it settles before anything is looked at."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster

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


@pytest.fixture
def backend() -> Iterator[Backend]:
    """A fresh cluster."""
    with FakeCluster(nodes=NODES) as cluster:
        yield VirtualBackend(cluster)


@pytest.fixture
def offer() -> Offer:
    """What the cluster has."""
    return Offer(nodes=NODES)
