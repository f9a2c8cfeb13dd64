"""A cluster that others use, with a gatekeeper who may refuse, in virtual time."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from drayman.clock import VirtualClock, virtual_loop
from drayman.driver import catalogue
from drayman.kube.client import Client
from drayman.kube.http import Request, Response, Stream
from drayman.kube.resources import CLAIMS, DEVICE_CLASSES, NODES, SLICES
from drayman.testing.access import Access
from drayman.testing.apiserver import APIServer, InProcessTransport, paths

T = TypeVar("T")

REVIEWS = "selfsubjectaccessreviews"
READY = [{"type": "Ready", "status": "True"}]
_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


@dataclass
class Gatekeeper:
    """Carries requests, and notes them.

    `denied` are (verb, resource) that the client may not, `about` is what the server says of itself, `printed` what
    containers print, and `accounts` says that it makes tokens for service accounts.
    """

    inner: InProcessTransport
    denied: set[tuple[str, str]] = field(default_factory=set)
    about: Response | None = None
    printed: bytes = b""
    accounts: bool = True
    requests: list[Request] = field(default_factory=list)

    @property
    def written(self) -> list[str]:
        """What was written, but for questions."""
        return [one.path for one in self.requests if one.method != "GET" and not one.path.endswith(REVIEWS)]

    async def request(self, request: Request) -> Response:
        self.requests.append(request)
        if request.path == "/version" and self.about:
            return self.about
        if request.path.endswith("/log") and self.printed:
            return Response(200, self.printed)
        if request.path.endswith(REVIEWS):
            asked = json.loads(request.body)["spec"]["resourceAttributes"]
            resource = "/".join(filter(None, (asked["resource"], asked.get("subresource"))))
            allowed = (asked["verb"], resource) not in self.denied
            return Response(201, json.dumps({"status": {"allowed": allowed}}).encode())
        if self._refuses(request):
            status = {"kind": "Status", "reason": "Forbidden", "code": 403, "message": f"{request.path} is forbidden"}
            return Response(403, json.dumps(status).encode())
        answer = await self.inner.request(request)
        if request.path == "/api/v1" and self.accounts:
            found = json.loads(answer.body)
            found["resources"].append({"name": "serviceaccounts/token", "kind": "TokenRequest", "namespaced": True})
            return replace(answer, body=json.dumps(found).encode())
        return answer

    @contextlib.asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[Stream | Response]:
        async with self.inner.stream(request) as answer:
            yield answer

    def _refuses(self, request: Request) -> bool:
        place = paths.place(request.path)
        if place is None:
            return False
        verb = _VERBS.get(request.method) or ("get" if place.name else "list")
        return (verb, place.plural) in self.denied


class World:
    """The cluster. Everything that is not said to be different is fit for a run."""

    def __init__(self, **server: Any) -> None:
        self.clock = VirtualClock()
        self.server = APIServer(clock=self.clock, **server)
        self.gate = Gatekeeper(InProcessTransport(self.server))
        self.client = Client(self.gate)
        self.access = Access(Client(InProcessTransport(self.server)))

    def run(self, act: Callable[[], Awaitable[T]]) -> T:
        """Return what `act()` does; its time passes at once."""

        async def acted() -> T:
            task = asyncio.ensure_future(act())
            while await self.clock.step(self.clock.monotonic() + 3600) and not task.done():
                pass
            assert task.done(), "it waits for something that does not come"
            return await task

        with asyncio.Runner(loop_factory=lambda: virtual_loop(self.clock)) as runner:
            return runner.run(acted())

    async def furnish(self, *nodes: str, devices: int = 8, ready: bool = True, **spec: Any) -> None:
        """Add nodes with devices, and the DeviceClass."""
        profile = catalogue.profile("gpu.example.com", devices=devices)
        with contextlib.suppress(Exception):
            await self.access.client.create(DEVICE_CLASSES, profile.device_class())
        for name in nodes:
            await self.node(name, ready=ready, **spec)
            for one in profile.slices(name):
                await self.access.client.create(SLICES, one)

    async def node(self, name: str, *, ready: bool = True, **spec: Any) -> None:
        """Add a node without devices."""
        status = {"conditions": READY if ready else []}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": spec, "status": status}
        await self.access.client.create(NODES, node)

    async def use(self, namespace: str, node: str) -> None:
        """Allocate a device of a node to a claim in a namespace."""
        requests = [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]
        result = {"request": "gpu", "driver": "gpu.example.com", "pool": node, "device": "gpu-0"}
        claim = {
            "apiVersion": CLAIMS.api_version,
            "kind": CLAIMS.kind,
            "metadata": {"name": "train", "namespace": namespace},
            "spec": {"devices": {"requests": requests}},
            "status": {"allocation": {"devices": {"results": [result]}}},
        }
        await self.access.apply([claim])

    async def labelled_namespace(self, name: str, labels: dict[str, str], **annotations: str) -> None:
        """Add a namespace with labels."""
        metadata = {"name": name, "labels": labels, "annotations": annotations}
        await self.access.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}])
