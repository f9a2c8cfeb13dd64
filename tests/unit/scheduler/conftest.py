"""A scheduler and an API server in one process under virtual time: no controllers, no kubelet, no driver."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pytest

from drayman import scheduler
from drayman.clock import VirtualClock, virtual_loop
from drayman.kube.client import Client
from drayman.kube.http import Request, Response, Stream
from drayman.kube.resources import CLAIMS, DEVICE_CLASSES, EVENTS, NODES, PODS, SLICES, Resource
from drayman.pods.objects import condition_of
from drayman.testing.apiserver import APIServer, InProcessTransport

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

DRIVER = "gpu.example.com"

_CLOCKS: WeakKeyDictionary[asyncio.AbstractEventLoop, VirtualClock] = WeakKeyDictionary()


def _loop() -> asyncio.AbstractEventLoop:
    clock = VirtualClock()
    loop = virtual_loop(clock)
    _CLOCKS[loop] = clock
    return loop


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"virtual": _loop}


class WatchedTransport(InProcessTransport):
    """Notes the scheduler's writes.

    `before` is called with each request and may act on the cluster first, or answer itself. While `claims_flow` is
    not set, nothing comes through the watch of claims.
    """

    def __init__(self, server: APIServer) -> None:
        super().__init__(server)
        self.writes: list[str] = []
        self.before: Callable[[Request], Any] | None = None
        self.claims_flow = asyncio.Event()
        self.claims_flow.set()

    async def request(self, request: Request) -> Response:
        if self.before is not None:
            answer = await self.before(request)
            if isinstance(answer, Response):
                return answer
        answer = await super().request(request)
        if request.method != "GET" and "/events" not in request.path:
            self.writes.append(f"{request.method} {request.path.split('/namespaces/default/')[-1]} {answer.status}")
        return answer

    @contextlib.asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[Stream | Response]:
        async with super().stream(request) as answer:
            is_held = isinstance(answer, Stream) and request.path.endswith("/resourceclaims")
            yield dataclasses.replace(answer, chunks=self._held(answer.chunks)) if is_held else answer

    async def _held(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for chunk in chunks:
            await self.claims_flow.wait()
            yield chunk


class Cluster:
    """The API server of a test, and what tests do to it and ask of it."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.server = APIServer(clock=clock)
        self.client = Client(InProcessTransport(self.server))
        self.transport = WatchedTransport(self.server)

    @contextlib.asynccontextmanager
    async def scheduler(
        self, configuration: scheduler.Configuration | None = None, *, plugins: Sequence[Any] = ()
    ) -> AsyncIterator[None]:
        """Run a scheduler for as long as the body lasts."""
        chosen = configuration or scheduler.Configuration(serve_all=True)
        client = Client(self.transport)
        task = asyncio.create_task(scheduler.run(client, chosen, self.clock, random=None, plugins=plugins))
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def settle(self, seconds: float = 60) -> None:
        await self.clock.settle(seconds)

    async def get(self, resource: Resource, name: str) -> Any:
        namespace = "default" if resource.namespaced else None
        return await self.client.get(resource, name, namespace)

    async def node_of(self, pod: str) -> str | None:
        node: str | None = (await self.get(PODS, pod))["spec"].get("nodeName")
        return node

    async def verdict(self, pod: str) -> tuple[str, str]:
        """Return reason and message of the condition PodScheduled=False."""
        condition = condition_of(await self.get(PODS, pod), "PodScheduled")
        assert condition is not None
        assert condition["status"] == "False"
        return condition["reason"], condition["message"]

    async def events(self, pod: str) -> list[str]:
        items, _ = await self.client.list(EVENTS)
        return [f"{each['reason']}: {each['note']}" for each in items if each["regarding"]["name"] == pod]

    async def device_class(self) -> None:
        await self.client.create(DEVICE_CLASSES, {"metadata": {"name": DRIVER}, "spec": {}})

    async def node(self, name: str = "n1", *, devices: int = 0, **spec: Any) -> None:
        """Create a node and, with `devices`, the slice of its driver."""
        allocatable = {"cpu": "4", "memory": "8Gi", "pods": "110"}
        await self.client.create(NODES, {"metadata": {"name": name}, "spec": spec})
        await self.client.patch(NODES, name, None, {"status": {"allocatable": allocatable}}, subresource="status")
        if devices:
            await self.slice(name, devices)

    async def slice(self, node: str, devices: int) -> None:
        spec = {
            "driver": DRIVER,
            "nodeName": node,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": f"gpu-{index}"} for index in range(devices)],
        }
        await self.client.create(SLICES, {"metadata": {"name": f"{node}-slice"}, "spec": spec})

    async def claim(self, name: str, count: int = 1, **metadata: Any) -> Any:
        exactly = {"deviceClassName": DRIVER, "allocationMode": "ExactCount", "count": count}
        spec = {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}
        return await self.client.create(
            CLAIMS, {"metadata": {"name": name, "namespace": "default", **metadata}, "spec": spec}
        )

    async def pod(self, name: str, *claims: str, requests: Mapping[str, str] | None = None, **spec: Any) -> Any:
        """Create a pod that uses `claims`, which are ResourceClaims by name."""
        entries = [{"name": claim, "resourceClaimName": claim} for claim in claims]
        container = {"name": "main", "image": "busybox", "resources": {"requests": requests or {}}}
        body = {"containers": [container], **({"resourceClaims": entries} if entries else {}), **spec}
        return await self.client.create(PODS, {"metadata": {"name": name, "namespace": "default"}, "spec": body})

    async def allocate(self, claim: str, *consumers: Any, device: str = "gpu-0", node: str = "n1") -> Any:
        """Allocate a device as another scheduler would."""
        found = await self.get(CLAIMS, claim)
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
        result = {"request": "gpu", "driver": DRIVER, "pool": node, "device": device}
        allocation = {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": [term]}}
        reserved = [consumer(pod) for pod in consumers]
        found["status"] = {"allocation": allocation, **({"reservedFor": reserved} if reserved else {})}
        return await self.client.update(CLAIMS, found, subresource="status")

    async def reserve(self, claim: str, pod: Any) -> None:
        """Add `pod` to those who rely on the claim."""
        found = await self.get(CLAIMS, claim)
        found["status"]["reservedFor"].append(consumer(pod))
        await self.client.update(CLAIMS, found, subresource="status")

    async def deallocate(self, claim: str) -> None:
        """Free the claim's devices as the claim controller would once nobody uses it."""
        found = await self.get(CLAIMS, claim)
        found["status"] = {}
        await self.client.update(CLAIMS, found, subresource="status")

    async def devices(self, claim: str) -> list[str]:
        status = (await self.get(CLAIMS, claim)).get("status", {})
        results = status.get("allocation", {}).get("devices", {}).get("results", ())
        return [f"{result['pool']}/{result['device']}" for result in results]

    async def reserved_for(self, claim: str) -> list[str]:
        status = (await self.get(CLAIMS, claim)).get("status", {})
        return [each["name"] for each in status.get("reservedFor", ())]


def consumer(pod: Any) -> dict[str, str]:
    return {"resource": "pods", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}


@pytest.fixture
async def cluster() -> Cluster:
    """A cluster without nodes; tests start the scheduler when its objects are there, or before."""
    return Cluster(_CLOCKS[asyncio.get_running_loop()])
