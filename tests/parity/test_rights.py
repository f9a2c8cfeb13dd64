"""What kube-apiserver makes of the manifests: their fields, the rights it asks for itself, the admission policy."""

from __future__ import annotations

import contextlib
import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.parity import servers

from drayman.clock import RealClock
from drayman.errors import APIStatusError
from drayman.kube.client import Client
from drayman.kube.resources import CLAIMS, NODES, PODS, SLICES, Resource
from drayman.kube.sockets import SocketTransport
from drayman.manifests import NAMESPACE, Driver, Scheduler
from drayman.testing.clusters.live import Live

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from drayman.manifests import Object

pytestmark = pytest.mark.parity

ACCOUNTS = Resource("", "v1", "ServiceAccount", "serviceaccounts")
DRIVER = "gpu.example.com"


class Server:
    """The real server, with our manifests applied by its administrator."""

    def __init__(self, transport: SocketTransport) -> None:
        self._config = transport._config
        self.live = Live(Client(transport), RealClock())
        self.client = self.live.client

    async def create(self, objects: Sequence[Object]) -> None:
        """Create objects, which may have no field that the server does not know."""
        for one in objects:
            resource = await self.live.discovery.of(one["apiVersion"], one["kind"])
            await self.client.create(resource, one, field_validation="Strict")

    @contextlib.asynccontextmanager
    async def account(self, name: str, pod: Object | None = None) -> AsyncIterator[Client]:
        """Yield a client that is a service account of ours; with `pod`, by a token as that pod gets it."""
        spec: Object = {"expirationSeconds": 3600}
        if pod is not None:
            metadata = pod["metadata"]
            spec["boundObjectRef"] = {
                "apiVersion": "v1",
                "kind": "Pod",
                "name": metadata["name"],
                "uid": metadata["uid"],
            }
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        request["metadata"] = {"name": name, "namespace": NAMESPACE}
        answer = await self.client.create(ACCOUNTS, request, subresource="token")
        transport = SocketTransport(replace(self._config, token=answer["status"]["token"]))
        try:
            yield Client(transport)
        finally:
            await transport.close()

    async def until(self, said: str, attempt: Callable[[], Awaitable[object]]) -> None:
        """Try until the server says this: policies and roles take effect a moment after they were written."""

        async def unmet() -> str | None:
            found = await refusal(attempt)
            return None if said in found and bool(said) == bool(found) else f"`{found}` instead of `{said}`"

        await self.live.wait(unmet, 30)


async def refusal(attempt: Callable[[], Awaitable[object]]) -> str:
    """Return why the server refuses, or nothing."""
    try:
        await attempt()
    except APIStatusError as error:
        return str(error)
    return ""


@contextlib.asynccontextmanager
async def server() -> AsyncIterator[Server]:
    async with servers.real() as transport:
        assert isinstance(transport, SocketTransport)
        yield Server(transport)


async def test_driver_writes_the_slices_of_its_own_node_and_driver_only() -> None:
    async with server() as real:
        await real.create(Driver().objects())
        for name in ("node-1", "node-2"):
            await real.client.create(NODES, {"metadata": {"name": name}})
        pod = await real.client.create(PODS, pod_on("node-1"))
        async with real.account("drayman-driver", pod) as driver, real.account("drayman-driver") as nowhere:
            await real.until("`node-1` may be written", lambda: driver.create(SLICES, slice_of("node-2"), dry_run=True))
            denied = (
                "resourceslices.resource.k8s.io \"{}\" is forbidden: ValidatingAdmissionPolicy 'drayman-driver' "
                "with binding 'drayman-driver' denied request: {}"
            )
            assert await refusal(lambda: driver.create(SLICES, slice_of("node-2"))) == denied.format(
                "node-2", "slices of node `node-1` may be written, not those of `node-2`"
            )
            assert await refusal(lambda: driver.create(SLICES, slice_of("node-1", driver="other.example"))) == (
                denied.format("node-1", f"slices of driver `{DRIVER}` may be written, not those of others")
            )
            assert await refusal(lambda: nowhere.create(SLICES, slice_of("node-1"))) == denied.format(
                "node-1", "the token is not that of a pod that runs on a node"
            )
            everywhere = slice_of("node-1")
            del everywhere["spec"]["nodeName"]
            everywhere["spec"]["allNodes"] = True
            assert "not those of ``" in await refusal(lambda: driver.create(SLICES, everywhere))

            own = await driver.create(SLICES, slice_of("node-1"))
            own["spec"]["devices"] = []
            await driver.update(SLICES, own)
            await real.client.create(SLICES, slice_of("node-2"))
            assert "not those of `node-2`" in await refusal(lambda: driver.delete(SLICES, "node-2"))
            await driver.delete(SLICES, "node-1")


async def test_scheduler_may_allocate_because_it_may_bind_claims() -> None:
    manifests = Scheduler(replicas=2).objects()
    (role,) = (one for one in manifests if one["kind"] == "ClusterRole")
    full = copy.deepcopy(role["rules"])
    for rule in role["rules"]:
        rule["resources"] = [name for name in rule["resources"] if name != "resourceclaims/binding"]
    async with server() as real:
        await real.create(manifests)
        claim = await real.client.create(CLAIMS, CLAIM)
        async with real.account("drayman-scheduler") as scheduler:
            allocated = {**claim, "status": {"allocation": ALLOCATION, "reservedFor": [RESERVED]}}
            freed = {"status": {"reservedFor": [{"$patch": "delete", "uid": RESERVED["uid"]}]}}

            async def allocate() -> None:
                await scheduler.update(CLAIMS, allocated, subresource="status")

            async def free() -> None:
                await scheduler.patch(CLAIMS, "c", "default", freed, kind="strategic", subresource="status")

            await real.until("resourceclaims/binding", allocate)
            await real.live.apply([{**role, "rules": full}])
            await real.until("", allocate)
            await free()
            assert "reservedFor" not in (await scheduler.get(CLAIMS, "c", "default"))["status"]


CLAIM = {
    "metadata": {"name": "c", "namespace": "default"},
    "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": DRIVER}}]}},
}
ALLOCATION = {"devices": {"results": [{"request": "gpu", "driver": DRIVER, "pool": "node-1", "device": "gpu-0"}]}}
RESERVED = {"resource": "pods", "name": "p", "uid": "0"}


def slice_of(node: str, driver: str = DRIVER) -> Any:
    """Return a slice that is called like its node."""
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": driver, "nodeName": node, "pool": pool, "devices": [{"name": "gpu-0"}]}
    return {"metadata": {"name": node}, "spec": spec}


def pod_on(node: str) -> Object:
    """Return a pod as the DaemonSet has it on a node."""
    spec = {"serviceAccountName": "drayman-driver", "nodeName": node, "containers": [{"name": "driver", "image": "i"}]}
    return {"metadata": {"name": "driver", "namespace": NAMESPACE}, "spec": spec}
