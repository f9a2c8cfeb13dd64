"""A node under virtual time: API server, one fake kubelet, and a gRPC driver that does what a test tells it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import tempfile
from concurrent import futures
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import grpc
import pytest

from drayman.clock import VirtualClock, virtual_loop
from drayman.driver.proto import (
    dra_v1_pb2,
    dra_v1_pb2_grpc,
    pluginregistration_v1_pb2,
    pluginregistration_v1_pb2_grpc,
)
from drayman.kube.client import Client
from drayman.kube.http import Request
from drayman.kube.resources import CLAIMS, EVENTS, PODS
from drayman.testing.apiserver import APIServer, InProcessTransport
from drayman.testing.kubelet import Kubelet

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping

DRIVER = "gpu.example.com"

_CLOCKS: WeakKeyDictionary[asyncio.AbstractEventLoop, VirtualClock] = WeakKeyDictionary()


class PatientClock(VirtualClock):
    """A virtual clock that can be told to move although a driver is at work, for drivers that hang."""

    patient = True

    def busy(self) -> contextlib.AbstractContextManager[None]:
        return super().busy() if self.patient else contextlib.nullcontext()


def _loop() -> asyncio.AbstractEventLoop:
    clock = PatientClock()
    loop = virtual_loop(clock)
    _CLOCKS[loop] = clock
    return loop


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"virtual": _loop}


class FakeDriver(pluginregistration_v1_pb2_grpc.RegistrationServicer, dra_v1_pb2_grpc.DRAPluginServicer):
    """A driver that writes one CDI file a claim, with one device `gpu-0` for request `gpu`."""

    def __init__(self, root: Path, cdi_dir: Path) -> None:
        self.registration_socket = root / "plugins_registry" / f"{DRIVER}-reg.sock"
        self.endpoint = str(root / "plugins" / "dra.sock")
        self.versions = ["v1.DRAPlugin", "v1beta1.DRAPlugin"]
        self.calls: list[str] = []
        self.statuses: list[tuple[bool, str]] = []
        self.errors: list[str] = []
        """Errors to answer NodePrepareResources with, one a call, before it succeeds."""
        self.request_names = ["gpu"]
        self.hang = False
        self.skip = False
        self._cdi_dir = cdi_dir
        self._servers: list[grpc.Server] = []

    def start(self) -> None:
        for path in (str(self.registration_socket), self.endpoint):
            Path(path).unlink(missing_ok=True)
            server = grpc.server(futures.ThreadPoolExecutor(max_workers=2))
            pluginregistration_v1_pb2_grpc.add_RegistrationServicer_to_server(self, server)
            dra_v1_pb2_grpc.add_DRAPluginServicer_to_server(self, server)
            server.add_insecure_port(f"unix:{path}")
            server.start()
            self._servers.append(server)

    def stop(self) -> None:
        for server in self._servers:
            server.stop(None).wait()
        self._servers.clear()

    def GetInfo(self, request: Any, context: Any) -> Any:  # noqa: N802 - the service's name
        return pluginregistration_v1_pb2.PluginInfo(
            type="DRAPlugin", name=DRIVER, endpoint=self.endpoint, supported_versions=self.versions
        )

    def NotifyRegistrationStatus(self, request: Any, context: Any) -> Any:  # noqa: N802 - the service's name
        self.statuses.append((request.plugin_registered, request.error))
        return pluginregistration_v1_pb2.RegistrationStatusResponse()

    def NodePrepareResources(self, request: Any, context: Any) -> Any:  # noqa: N802 - the service's name
        self.calls.append("prepare " + " ".join(claim.name for claim in request.claims))
        while self.hang and context.is_active():
            pass
        answer = dra_v1_pb2.NodePrepareResourcesResponse()
        error = self.errors.pop(0) if self.errors else ""
        for claim in () if self.skip else request.claims:
            one = answer.claims[claim.uid]
            one.error = error
            if error:
                continue
            self._write_cdi(claim.uid)
            one.devices.add(
                request_names=self.request_names,
                pool_name="n1",
                device_name="gpu-0",
                cdi_device_ids=[f"example.com/gpu={claim.uid}"],
            )
        return answer

    def NodeUnprepareResources(self, request: Any, context: Any) -> Any:  # noqa: N802 - the service's name
        self.calls.append("unprepare " + " ".join(claim.name for claim in request.claims))
        answer = dra_v1_pb2.NodeUnprepareResourcesResponse()
        for claim in request.claims:
            answer.claims[claim.uid].error = ""
        return answer

    def _write_cdi(self, uid: str) -> None:
        edits = {
            "env": ["GPU_DEVICE_0=gpu-0"],
            "deviceNodes": [{"path": "/dev/gpu0"}],
            "mounts": [{"hostPath": "/lib/gpu", "containerPath": "/usr/lib/gpu"}],
        }
        spec = {
            "cdiVersion": "0.6.0",
            "kind": "example.com/gpu",
            "devices": [{"name": uid, "containerEdits": edits}],
        }
        (self._cdi_dir / f"{uid}.json").write_text(json.dumps(spec))


class Node:
    """The node `n1` and the cluster around it."""

    def __init__(self, clock: PatientClock, root: Path) -> None:
        self.clock = clock
        self.root = root
        self.cdi_dir = root / "cdi"
        self.cdi_dir.mkdir()
        self.server = APIServer(clock=clock)
        self.client = Client(InProcessTransport(self.server))
        self.kubelet = self._kubelet()
        self.driver = FakeDriver(root, self.cdi_dir)
        self._task: asyncio.Task[None] | None = None

    def _kubelet(self) -> Kubelet:
        return Kubelet(self.client, self.clock, "n1", self.root, cdi_dirs=[self.cdi_dir], poll_plugins=None)

    async def start(self) -> None:
        self._task = asyncio.create_task(self.kubelet.run())
        await self.clock.settle(0)

    async def stop(self) -> None:
        assert self._task is not None
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def restart_after_stop(self) -> None:
        self.kubelet = self._kubelet()
        await self.start()
        await self.kubelet.scan_plugins()

    async def restart(self) -> None:
        await self.stop()
        self.kubelet = self._kubelet()
        await self.start()

    async def start_driver(self) -> None:
        self.driver.start()
        await self.kubelet.scan_plugins()

    async def settle(self, seconds: float = 0) -> None:
        await self.clock.settle(seconds)

    async def claim(self, name: str, *pods: Any, **result: Any) -> Any:
        """A claim allocated to device gpu-0 of n1 and reserved for `pods`."""
        request = {"name": "gpu", "exactly": {"deviceClassName": DRIVER}}
        claim = await self.client.create(
            CLAIMS, {"metadata": {"name": name, "namespace": "default"}, "spec": {"devices": {"requests": [request]}}}
        )
        results = [{"request": "gpu", "driver": DRIVER, "pool": "n1", "device": "gpu-0", **result}]
        claim["status"] = {"allocation": {"devices": {"results": results}}}
        claim = await self.client.update(CLAIMS, claim, subresource="status")
        return await self.reserve(name, *pods)

    async def reserve(self, name: str, *pods: Any) -> Any:
        claim = await self.client.get(CLAIMS, name, "default")
        claim["status"]["reservedFor"] = [
            {"resource": "pods", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]} for pod in pods
        ]
        return await self.client.update(CLAIMS, claim, subresource="status")

    async def pod(
        self, name: str, *claims: str, script: str = "env; sleep 3600", bind: bool = True, **spec: Any
    ) -> Any:
        """A pod whose only container uses the named claims. It is bound by :meth:`bind` later unless `bind`."""
        references = [{"name": claim} for claim in claims]
        container = {
            "name": "main",
            "image": "docker.io/drayman/testbox:1",
            "command": ["sh", "-c", script],
            **({"resources": {"claims": references}} if references else {}),
        }
        entries = [{"name": claim, "resourceClaimName": claim} for claim in claims]
        return await self.client.create(
            PODS,
            {
                "metadata": {"name": name, "namespace": "default"},
                "spec": {
                    "containers": [container],
                    **({"resourceClaims": entries} if entries else {}),
                    **({"nodeName": "n1"} if bind else {}),
                    **spec,
                },
            },
        )

    async def bind(self, pod: Any) -> None:
        metadata = pod["metadata"]
        await self.client.bind("default", metadata["name"], metadata["uid"], "n1")

    async def gpu_pod(self, name: str = "p", **options: Any) -> Any:
        """A bound pod with a claim of its own, called like the pod."""
        pod = await self.pod(name, name, bind=False, **options)
        await self.claim(name, pod)
        await self.bind(pod)
        return pod

    async def get(self, pod: str) -> Any:
        return await self.client.get(PODS, pod, "default")

    async def phase(self, pod: str) -> str:
        return str((await self.get(pod))["status"]["phase"])

    async def log(self, pod: str, container: str = "main") -> str:
        path = PODS.path(pod, "default", "log")
        answer = await self.client.transport.request(Request("GET", path, (("container", container),)))
        assert answer.status == 200, answer.body
        return answer.body.decode()

    async def events(self) -> list[str]:
        items, _ = await self.client.list(EVENTS)
        return sorted(f"{event['reason']}: {event['note']}" for event in items)


@pytest.fixture
def root() -> Iterator[Path]:
    """A directory with a path that is short enough for unix sockets."""
    path = Path(tempfile.mkdtemp(prefix="k", dir="/tmp"))
    yield path
    shutil.rmtree(path)


@pytest.fixture
async def node(root: Path) -> AsyncIterator[Node]:
    """A node whose kubelet runs and whose driver does not, yet."""
    clock = _CLOCKS[asyncio.get_running_loop()]
    assert isinstance(clock, PatientClock)
    node = Node(clock, root)
    await node.start()
    yield node
    node.driver.stop()
    await node.stop()
