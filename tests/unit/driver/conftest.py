"""A node with one mock driver under virtual time, and what a kubelet does with it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pytest

from drayman.clock import VirtualClock, virtual_loop
from drayman.driver import Driver, catalogue
from drayman.driver.proto import dra_v1_pb2, dra_v1_pb2_grpc
from drayman.kube.client import Client
from drayman.kube.resources import CLAIMS, NAMESPACES, NODES, SLICES
from drayman.testing.apiserver import APIServer, InProcessTransport
from drayman.testing.kubelet import plugins

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping

NODE = "worker-1"
DRIVER = "gpu.example.com"

_CLOCKS: WeakKeyDictionary[asyncio.AbstractEventLoop, VirtualClock] = WeakKeyDictionary()


def _loop() -> asyncio.AbstractEventLoop:
    clock = VirtualClock()
    loop = virtual_loop(clock)
    _CLOCKS[loop] = clock
    return loop


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"virtual": _loop}


class DriverNode:
    """The folders and objects of one node; drivers are started on it with :meth:`running`."""

    def __init__(self, client: Client, clock: VirtualClock, root: Path) -> None:
        self.client = client
        self.clock = clock
        self.root = root
        self.cdi = root / "cdi"
        self.registration = root / "reg" / f"{DRIVER}-reg.sock"
        self.socket = root / "plugins" / DRIVER / "dra.sock"
        self.checkpoint = root / "plugins" / DRIVER / "checkpoint.json"

    def driver(self, **hardware: Any) -> Driver:
        return Driver(
            self.client,
            self.clock,
            NODE,
            profile=catalogue.profile(DRIVER, **hardware),
            plugins_dir=self.root / "plugins",
            registry_dir=self.root / "reg",
            cdi_dir=self.cdi,
        )

    @contextlib.asynccontextmanager
    async def running(self, **hardware: Any) -> AsyncIterator[Driver]:
        """Run a driver until the block ends; its slices are published when it begins."""
        driver = self.driver(**hardware)
        async with asyncio.TaskGroup() as group:
            task = group.create_task(driver.run())
            await self.clock.settle(0.5)
            yield driver
            task.cancel()

    async def call(self, method: str, *claims: dict[str, Any]) -> Any:
        """Call NodePrepareResources or NodeUnprepareResources for `claims`."""
        references = [
            dra_v1_pb2.Claim(namespace=one["namespace"], name=one["name"], uid=one["uid"])
            for one in (claim["metadata"] for claim in claims)
        ]
        with plugins.open_channel(str(self.socket)) as channel:
            stub = dra_v1_pb2_grpc.DRAPluginStub(channel)
            request = getattr(dra_v1_pb2, f"{method}Request")(claims=references)
            answering = asyncio.ensure_future(plugins.call(self.clock, getattr(stub, method), request, 45))
            await self.clock.settle()
            return await answering

    async def prepare(self, *claims: dict[str, Any]) -> Any:
        return (await self.call("NodePrepareResources", *claims)).claims

    async def unprepare(self, *claims: dict[str, Any]) -> Any:
        return (await self.call("NodeUnprepareResources", *claims)).claims

    async def claim(self, name: str, *devices: Any, config: Any = ()) -> dict[str, Any]:
        """Create a claim, allocated `devices`: names, or allocation results to lay over the usual one."""
        results = [
            {
                "request": "gpu",
                "driver": DRIVER,
                "pool": NODE,
                **({"device": one} if isinstance(one, str) else one),
            }
            for one in devices
        ]
        request: dict[str, Any] = {"name": "gpu", "exactly": {"deviceClassName": DRIVER, "count": len(devices) or 1}}
        if any("/" in one["request"] for one in results):
            request = {"name": "gpu", "firstAvailable": [{"name": "older", "deviceClassName": DRIVER}]}
        created = await self.client.create(
            CLAIMS,
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceClaim",
                "metadata": {"name": name, "namespace": "team-a"},
                "spec": {"devices": {"requests": [request]}},
            },
        )
        if not devices:
            return created
        allocation = {"devices": {"results": results, **({"config": list(config)} if config else {})}}
        return await self.client.update(CLAIMS, {**created, "status": {"allocation": allocation}}, subresource="status")

    async def slices(self) -> list[dict[str, Any]]:
        return (await self.client.list(SLICES))[0]

    def cdi_spec(self, claim: dict[str, Any]) -> Any:
        path = self.cdi / f"k8s.{DRIVER}-gpu_{claim['metadata']['uid']}.json"
        return json.loads(path.read_text()) if path.exists() else None


@pytest.fixture
def short_root() -> Iterator[Path]:
    root = Path(tempfile.mkdtemp(prefix="dm-", dir="/tmp"))
    yield root
    shutil.rmtree(root)


@pytest.fixture
async def node(short_root: Path) -> DriverNode:
    clock = _CLOCKS[asyncio.get_running_loop()]
    client = Client(InProcessTransport(APIServer(clock=clock)))
    await client.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}})
    await client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}})
    return DriverNode(client, clock, short_root)
