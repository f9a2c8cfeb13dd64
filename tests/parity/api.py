"""Sends the requests of a sequence to whatever server, and notes what is answered."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.parity.normal import Normal

from drayman.kube.http import Request, Response

if TYPE_CHECKING:
    from drayman.kube.http import Transport

Object = dict[str, Any]
Sequence = Callable[["Api"], Awaitable[None]]

JSON = "application/json"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
CLAIMS, TEMPLATES = "resource.k8s.io/v1/resourceclaims", "resource.k8s.io/v1/resourceclaimtemplates"
CLASSES, SLICES = "resource.k8s.io/v1/deviceclasses", "resource.k8s.io/v1/resourceslices"
TAINT_RULES = "resource.k8s.io/v1/devicetaintrules"
PODS, CONFIG_MAPS, NODES, CORE_EVENTS = "v1/pods", "v1/configmaps", "v1/nodes", "v1/events"
EVENTS, JOBS, DEPLOYMENTS = "events.k8s.io/v1/events", "batch/v1/jobs", "apps/v1/deployments"
LEASES = "coordination.k8s.io/v1/leases"
_OF_CLUSTER = (CLASSES, SLICES, TAINT_RULES, NODES)

_GROUPS: dict[str, dict[str, Sequence]] = {}


def sequences() -> dict[str, dict[str, Sequence]]:
    """Return the sequences by name in their groups, which are the modules that they stand in."""
    from tests.parity import leases, metadata, pods, reading, resource, writing  # each registers its own

    del leases, metadata, pods, reading, resource, writing
    return _GROUPS


def sequence(function: Sequence) -> Sequence:
    """Register a sequence of requests under the name of its function."""
    group = function.__module__.rpartition(".")[2]
    _GROUPS.setdefault(group, {})[function.__name__.replace("_", "-")] = function
    return function


@dataclass
class Api:
    """One sequence's view of a server: a namespace of its own, and what was answered so far."""

    transport: Transport
    name: str
    answers: list[Object] = field(default_factory=list)
    _normal: Normal = field(default_factory=Normal)

    @property
    def namespace(self) -> str:
        return f"p-{self.name}"[:63].rstrip("-")

    def path(self, resource: str, name: str = "", subresource: str = "") -> str:
        """Return a path from "group/version/plural" or "version/plural"."""
        prefix, _, plural = resource.rpartition("/")
        parts = ["apis" if "/" in prefix else "api", prefix]
        if resource not in _OF_CLUSTER:
            parts += ["namespaces", self.namespace]
        return "/" + "/".join([*parts, plural, *([name] if name else []), *([subresource] if subresource else [])])

    async def prepare(self) -> None:
        """Create the namespace; this is not noted."""
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}
        answer = await self._send("POST", "/api/v1/namespaces", body, JSON, JSON, {})
        assert answer.status == 201, answer.body

    async def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: str = JSON,
        accept: str = JSON,
        **query: str,
    ) -> Any:
        """Send a request, note the answer, and return its body."""
        answer = await self._send(method, path, body, content_type, accept, query)
        decoded = _decoded(answer, is_watch=query.get("watch") == "true")
        shown = "&".join(f"{key}={value}" for key, value in query.items() if key not in ("continue", "resourceVersion"))
        line = f"{method} {path}" + (f"?{shown}" if shown else "")
        noted: Object = {"request": self._normal.value(line), "status": answer.status}
        if "warning" in answer.headers:
            noted["warning"] = answer.headers["warning"]
        self.answers.append({**noted, "answer": self._normal.value(decoded)})
        return decoded

    async def get(self, resource: str, name: str = "", subresource: str = "", **query: str) -> Any:
        return await self.send("GET", self.path(resource, name, subresource), **query)

    async def create(self, resource: str, body: Any, name: str = "", subresource: str = "", **query: str) -> Any:
        return await self.send("POST", self.path(resource, name, subresource), body, **query)

    async def update(self, resource: str, body: Object, subresource: str = "", **query: str) -> Any:
        return await self.send("PUT", self.path(resource, body["metadata"]["name"], subresource), body, **query)

    async def patch(self, resource: str, name: str, body: Any, kind: str, subresource: str = "", **query: str) -> Any:
        content_type = {
            "merge": "application/merge-patch+json",
            "json": "application/json-patch+json",
            "strategic": "application/strategic-merge-patch+json",
            "apply": "application/apply-patch+yaml",
        }[kind]
        return await self.send(
            "PATCH", self.path(resource, name, subresource), body, content_type=content_type, **query
        )

    async def delete(self, resource: str, name: str = "", body: Any = None, **query: str) -> Any:
        return await self.send("DELETE", self.path(resource, name), body, **query)

    async def table(self, resource: str, name: str = "", **query: str) -> Any:
        return await self.send("GET", self.path(resource, name), accept=TABLE, **query)

    async def watch(self, resource: str, version: str, **query: str) -> Any:
        """Note what a watch from `version` tells until the server ends it, which it is asked to do soon."""
        path = self.path(resource)
        asked = {"watch": "true", "resourceVersion": version, "timeoutSeconds": "1", **query}
        answer = await self._send("GET", path, None, JSON, JSON, asked)
        events = _decoded(answer, is_watch=True)
        noted = "&".join(f"{key}={value}" for key, value in query.items())
        self.answers.append(
            {"request": f"WATCH {path}?{noted}", "status": answer.status, "answer": self._normal.value(events)}
        )
        return events

    async def _send(self, method: str, path: str, body: Any, content_type: str, accept: str, query: Object) -> Response:
        encoded = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        headers = {"accept": accept, "user-agent": "parity/1"}
        if encoded:
            headers["content-type"] = content_type
        request = Request(method, path, tuple(query.items()), headers, encoded)
        if query.get("watch") != "true":
            return await self.transport.request(request)
        async with self.transport.stream(request) as answer:
            if isinstance(answer, Response):
                return answer
            chunks = [chunk async for chunk in answer.chunks]
        return Response(answer.status, b"".join(chunks), answer.headers)


def meta(name: str, **more: Any) -> Object:
    """Return the metadata of a new object."""
    return {"name": name, **more}


def claim(name: str = "c", *requests: Object, metadata: Object | None = None, **devices: Any) -> Object:
    """Return a claim for one device, or with the given requests."""
    wanted = list(requests) or [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": meta(name, **(metadata or {})),
        "spec": {"devices": {"requests": wanted, **devices}},
    }


def config_map(name: str = "c", *, metadata: Object | None = None, **data: str) -> Object:
    made: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta(name, **(metadata or {}))}
    return {**made, "data": data} if data else made


def pod(name: str = "p", *, metadata: Object | None = None, **spec: Any) -> Object:
    """Return a pod that waits for a kubelet which there is not."""
    containers = [{"name": "main", "image": "docker.io/drayman/testbox:1", "command": ["sh", "-c", "sleep 60"]}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta(name, **(metadata or {})),
        "spec": {"containers": containers, **spec},
    }


def allocation(device: str = "gpu-0", node: str = "node-1") -> Object:
    """Return the allocation of one device for the request `gpu`."""
    results = [{"request": "gpu", "driver": "gpu.example.com", "pool": node, "device": device}]
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    return {"devices": {"results": results}, "nodeSelector": {"nodeSelectorTerms": [term]}}


def _decoded(answer: Response, *, is_watch: bool) -> Any:
    text = answer.body.decode()
    if is_watch and answer.status == 200:
        return [json.loads(line) for line in text.splitlines()]
    try:
        return json.loads(text)
    except ValueError:
        return text
