"""A server in virtual time and short ways to talk to it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from drayman.clock import VirtualClock
from drayman.kube.http import Request, Response, Stream
from drayman.testing.apiserver import APIServer

Object = dict[str, Any]

PODS = "/api/v1/namespaces/default/pods"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


@dataclass
class Answer:
    code: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def message(self) -> str:
        return str(self.body["message"])


@dataclass
class Api:
    """Sends requests to the handlers."""

    server: APIServer
    clock: VirtualClock

    async def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: str = "application/json",
        accept: str = "application/json",
        agent: str = "test/1",
        **query: str,
    ) -> Answer:
        answer = await self.server.handle(request(method, path, body, content_type, accept, agent, **query))
        assert isinstance(answer, Response)
        decoded = json.loads(answer.body) if "json" in answer.headers["content-type"] else answer.body.decode()
        return Answer(answer.status, decoded, answer.headers)

    async def get(self, path: str, **query: str) -> Any:
        answer = await self.send("GET", path, **query)
        assert answer.code == 200, answer.body
        return answer.body

    async def create(self, path: str, body: Object, **query: str) -> Object:
        answer = await self.send("POST", path, body, **query)
        assert answer.code == 201, answer.body
        created: Object = answer.body
        return created

    async def pod(self, name: str = "p", *, metadata: Object | None = None, **spec: Any) -> Object:
        containers = [{"name": "main", "image": "docker.io/drayman/testbox:1"}]
        body = {"metadata": {"name": name, **(metadata or {})}, "spec": {"containers": containers, **spec}}
        return await self.create(PODS, body)

    async def config_map(self, name: str = "c", *, metadata: Object | None = None, **data: str) -> Object:
        return await self.create(CONFIG_MAPS, {"metadata": {"name": name, **(metadata or {})}, "data": data})

    async def claim(self, name: str = "c", *, metadata: Object | None = None) -> Object:
        gpu = {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}
        body = {"metadata": {"name": name, **(metadata or {})}, "spec": {"devices": {"requests": [gpu]}}}
        return await self.create(CLAIMS, body)

    async def bind(self, pod: Object, node: str = "node-1") -> Answer:
        metadata = {name: pod["metadata"][name] for name in ("name", "namespace", "uid")}
        body = {"metadata": metadata, "target": {"kind": "Node", "name": node}}
        return await self.send("POST", f"{PODS}/{metadata['name']}/binding", body)

    async def patch(self, path: str, body: Any, kind: str = "merge-patch+json", **query: str) -> Answer:
        return await self.send("PATCH", path, body, content_type=f"application/{kind}", **query)

    async def cells(self, path: str, **query: str) -> list[list[Any]]:
        answer = await self.send("GET", path, accept=TABLE, **query)
        return [row["cells"] for row in answer.body["rows"]]

    async def watch(self, path: str, accept: str = "application/json", **query: str) -> Events:
        return Events(await self.stream(path, accept, watch="true", **query))

    async def stream(self, path: str, accept: str = "application/json", **query: str) -> AsyncIterator[bytes]:
        answer = await self.server.handle(request("GET", path, None, "", accept, "test/1", **query))
        assert isinstance(answer, Stream)
        return answer.chunks


@dataclass
class Events:
    """What a watch tells, event by event."""

    chunks: AsyncIterator[bytes]

    async def next(self) -> tuple[str, Object]:
        event = json.loads(await anext(self.chunks))
        return event["type"], event["object"]

    async def names(self, count: int) -> list[tuple[str, str]]:
        events = [await self.next() for _ in range(count)]
        return [(event, obj["metadata"]["name"]) for event, obj in events]

    async def rest(self) -> list[tuple[str, Object]]:
        events = [json.loads(chunk) async for chunk in self.chunks]
        return [(event["type"], event["object"]) for event in events]


def request(method: str, path: str, body: Any, content_type: str, accept: str, agent: str, **query: str) -> Request:
    encoded = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    headers = {"content-type": content_type, "accept": accept, "user-agent": agent}
    return Request(method, path, tuple(query.items()), headers, encoded)


@pytest.fixture
def make_api() -> Callable[..., Api]:
    def make(**options: Any) -> Api:
        clock = VirtualClock()
        return Api(APIServer(clock=clock, **options), clock)

    return make


@pytest.fixture
def api(make_api: Callable[..., Api]) -> Api:
    return make_api()
