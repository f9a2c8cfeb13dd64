"""A cluster in one process under virtual time: API server and controllers, no scheduler, no kubelet."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pytest

from drayman.clock import VirtualClock, virtual_loop
from drayman.kube.client import Client
from drayman.kube.resources import CLAIM_TEMPLATES, CLAIMS, EVENTS, NODES, PODS, Resource
from drayman.testing import controllers
from drayman.testing.apiserver import APIServer, InProcessTransport

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

GATES = frozenset({"DRAAdminAccess", "DRAPrioritizedList", "DRADeviceTaints", "DRADeviceTaintRules"})

_CLOCKS: WeakKeyDictionary[asyncio.AbstractEventLoop, VirtualClock] = WeakKeyDictionary()


def _loop() -> asyncio.AbstractEventLoop:
    clock = VirtualClock()
    loop = virtual_loop(clock)
    _CLOCKS[loop] = clock
    return loop


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"virtual": _loop}


class Cluster:
    """The API server of a test with what tests ask of it."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.server = APIServer(clock=clock, runtime_config={"resource.k8s.io/v1beta2": True})
        self.client = Client(InProcessTransport(self.server))

    @contextlib.asynccontextmanager
    async def controllers(self, **options: Any) -> AsyncIterator[None]:
        """Run controllers for as long as the body lasts."""
        task = asyncio.create_task(controllers.run(self.client, self.clock, **{"gates": GATES, **options}))
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

    async def list(self, resource: Resource) -> list[Any]:
        items, _ = await self.client.list(resource)
        return items

    async def names(self, resource: Resource) -> list[str]:
        return [item["metadata"]["name"] for item in await self.list(resource)]

    async def events(self) -> list[str]:
        return sorted(
            f"{event['reason']} {event['regarding']['name']}: {event['note']}" for event in await self.list(EVENTS)
        )

    async def node(self, name: str = "n1") -> None:
        await self.client.create(NODES, {"metadata": {"name": name}})

    async def template(self, name: str = "gpu", **metadata: Any) -> None:
        spec = {"metadata": metadata, "spec": gpu_request()}
        await self.client.create(CLAIM_TEMPLATES, {"metadata": {"name": name, "namespace": "default"}, "spec": spec})

    async def claim(self, name: str, **metadata: Any) -> Any:
        return await self.client.create(
            CLAIMS, {"metadata": {"name": name, "namespace": "default", **metadata}, "spec": gpu_request()}
        )

    async def pod(self, name: str, claims: Mapping[str, Mapping[str, str]] | None = None, **spec: Any) -> Any:
        entries = [{"name": entry, **source} for entry, source in (claims or {}).items()]
        return await self.client.create(
            PODS,
            {
                "metadata": {"name": name, "namespace": "default"},
                "spec": {
                    "containers": [{"name": "main", "image": "busybox"}],
                    **({"resourceClaims": entries} if entries else {}),
                    **spec,
                },
            },
        )

    async def phase(self, pod: str, phase: str) -> None:
        """Let the pod reach `phase`, as its kubelet would."""
        await self.client.patch(PODS, pod, "default", {"status": {"phase": phase}}, subresource="status")

    async def allocate(self, claim: str, *pods: Any, device: str = "gpu-0", **result: Any) -> Any:
        """Allocate the claim and reserve it for `pods`, as a scheduler would."""
        found = await self.get(CLAIMS, claim)
        found["metadata"].setdefault("finalizers", []).append("resource.kubernetes.io/delete-protection")
        found = await self.client.update(CLAIMS, found)
        result = {"request": "gpu", "driver": "gpu.example.com", "pool": "n1", "device": device, **result}
        found["status"] = {
            "allocation": {"devices": {"results": [result]}},
            "reservedFor": [consumer(pod) for pod in pods],
        }
        return await self.client.update(CLAIMS, found, subresource="status")


def gpu_request() -> dict[str, Any]:
    return {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]}}


def consumer(pod: Any) -> dict[str, str]:
    return {"resource": "pods", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}


@pytest.fixture
async def cluster() -> Cluster:
    """A cluster without controllers: tests start those that they are about."""
    return Cluster(_CLOCKS[asyncio.get_running_loop()])
