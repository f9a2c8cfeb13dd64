"""A small client of the Kubernetes API on dicts and raw bytes.

Model classes are not used: decoding lists and watches into them is a hundred times slower than `json`, and objects of
newer servers lose fields on the way back.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from drayman.errors import APIStatusError
from drayman.kube.http import Request, Response, Stream, Transport
from drayman.kube.resources import PODS, Resource

Object = dict[str, Any]
"""A Kubernetes object, or a part of one, as decoded JSON."""

PatchKind = Literal["merge", "json", "strategic", "apply"]

_PATCH_CONTENT_TYPES: dict[str, str] = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One event of a watch.

    `type` is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR; `raw` is the object's JSON as it came.
    """

    type: str
    object: Object
    raw: bytes


def encode(value: object) -> bytes:
    """Return the compact JSON of `value`, keys in their order."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


class Client:
    """Reads and writes objects through a :class:`~drayman.kube.http.Transport`.

    Every call raises :class:`~drayman.errors.APIStatusError` when the server answers with a failure, and
    `ConnectionError` when it cannot be reached. Safe for concurrent use by the tasks of one event loop.
    """

    def __init__(self, transport: Transport, *, user_agent: str = "drayman") -> None:
        self.transport = transport
        self._headers = {"accept": "application/json", "user-agent": user_agent}

    async def get(self, resource: Resource, name: str, namespace: str | None = None) -> Object:
        """Return one object."""
        return await self._call("GET", resource.path(name, namespace))

    async def list(
        self, resource: Resource, namespace: str | None = None, *, label_selector: str = "", field_selector: str = ""
    ) -> tuple[list[Object], str]:
        """Return the objects, each with `apiVersion` and `kind`, and the list's resourceVersion."""
        answer = await self._call(
            "GET", resource.path(namespace=namespace), labelSelector=label_selector, fieldSelector=field_selector
        )
        kind = {"apiVersion": resource.api_version, "kind": resource.kind}
        items = [{**kind, **item} for item in answer.get("items") or []]
        return items, str(answer.get("metadata", {}).get("resourceVersion", ""))

    async def create(
        self,
        resource: Resource,
        obj: Mapping[str, Any],
        *,
        subresource: str | None = None,
        field_validation: str = "",
        field_manager: str = "",
        dry_run: bool = False,
    ) -> Object:
        """Create `obj`, in the namespace that its metadata names, and return what was stored, or with `dry_run` what
        would have been.
        """
        metadata = obj.get("metadata") or {}
        name = metadata.get("name") if subresource else None
        path = resource.path(name, metadata.get("namespace"), subresource)
        parameters = {"fieldValidation": field_validation, "fieldManager": field_manager}
        return await self._call("POST", path, obj, **parameters, dryRun="All" if dry_run else "")

    async def update(self, resource: Resource, obj: Mapping[str, Any], *, subresource: str | None = None) -> Object:
        """Replace the object, or its subresource; a resourceVersion in it makes the update conditional."""
        metadata = obj["metadata"]
        return await self._call("PUT", resource.path(metadata["name"], metadata.get("namespace"), subresource), obj)

    async def patch(
        self,
        resource: Resource,
        name: str,
        namespace: str | None,
        patch: object,
        *,
        kind: PatchKind = "merge",
        subresource: str | None = None,
        field_manager: str = "",
        force: bool = False,
    ) -> Object:
        """Patch the object, or its subresource; `kind` is the type of patch, `force` takes over fields in an apply."""
        return await self._call(
            "PATCH",
            resource.path(name, namespace, subresource),
            patch,
            content_type=_PATCH_CONTENT_TYPES[kind],
            fieldManager=field_manager,
            force="true" if force else "",
        )

    async def delete(
        self,
        resource: Resource,
        name: str,
        namespace: str | None = None,
        *,
        uid: str | None = None,
        resource_version: str | None = None,
        grace_period_seconds: int | None = None,
        propagation_policy: str | None = None,
    ) -> Object:
        """Delete the object, if `uid` and `resource_version` still hold where given."""
        preconditions = {"uid": uid, "resourceVersion": resource_version}
        options: Object = {
            "preconditions": {key: value for key, value in preconditions.items() if value is not None} or None,
            "gracePeriodSeconds": grace_period_seconds,
            "propagationPolicy": propagation_policy,
        }
        set_options = {key: value for key, value in options.items() if value is not None}
        body = {"apiVersion": "v1", "kind": "DeleteOptions", **set_options} if set_options else None
        return await self._call("DELETE", resource.path(name, namespace), body)

    async def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        """Bind the pod to `node`; refused when it is bound already, being deleted, or another pod of that name."""
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"namespace": namespace, "name": name, "uid": uid},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        await self._call("POST", PODS.path(name, namespace, "binding"), binding)

    async def watch(
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        resource_version: str,
        label_selector: str = "",
        field_selector: str = "",
        bookmarks: bool = True,
    ) -> AsyncIterator[WatchEvent]:
        """Yield what changes after `resource_version`, until the server ends the watch, which it may do at any time
        without saying why.
        """
        query = _query(
            watch="true",
            resourceVersion=resource_version,
            labelSelector=label_selector,
            fieldSelector=field_selector,
            allowWatchBookmarks="true" if bookmarks else "",
        )
        request = Request("GET", resource.path(namespace=namespace), query, self._headers)
        async with self.transport.stream(request) as answer:
            if isinstance(answer, Response):
                raise APIStatusError(status_of(answer))
            if answer.status >= 400:
                body = b"".join([chunk async for chunk in answer.chunks])
                raise APIStatusError(status_of(Response(answer.status, body)))
            async for line in _lines(answer):
                yield event_of(line)

    async def _call(
        self, method: str, path: str, body: object = None, *, content_type: str = "application/json", **params: str
    ) -> Object:
        headers = self._headers if body is None else {**self._headers, "content-type": content_type}
        request = Request(method, path, _query(**params), headers, b"" if body is None else encode(body))
        answer = await self.transport.request(request)
        if answer.status >= 400:
            raise APIStatusError(status_of(answer))
        decoded = json.loads(answer.body) if answer.body else {}
        return decoded if isinstance(decoded, dict) else {"value": decoded}


def _query(**params: str) -> tuple[tuple[str, str], ...]:
    return tuple((key, value) for key, value in params.items() if value)


def status_of(answer: Response) -> Object:
    """Return the `metav1.Status` of a failure; one is made up for answers that are none, as proxies give them."""
    try:
        status = json.loads(answer.body)
    except ValueError:
        status = None
    if isinstance(status, dict) and status.get("kind") == "Status":
        return {"code": answer.status, **status}
    text = answer.body.decode(errors="replace").strip()
    return {"kind": "Status", "status": "Failure", "code": answer.status, "message": text or f"HTTP {answer.status}"}


async def _lines(stream: Stream) -> AsyncIterator[bytes]:
    """Yield the lines of a stream whose chunks may end anywhere."""
    rest = b""
    async for chunk in stream.chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if line:
                yield line
    if rest.strip():
        yield rest


def event_of(line: bytes) -> WatchEvent:
    """Return the event that a line of a watch holds."""
    event = json.loads(line)
    obj: Object = event["object"]
    # Servers write the type first; the object's bytes are then a slice of the line, and need not be encoded anew.
    prefix = b'{"type":"%s","object":' % event["type"].encode()
    raw = line.rstrip()[len(prefix) : -1] if line.startswith(prefix) else encode(obj)
    return WatchEvent(event["type"], obj, raw)
