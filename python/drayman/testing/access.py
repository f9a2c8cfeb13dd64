"""What a test or a scenario does with a cluster of any kind: apply, read, delete, and see what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drayman.errors import APIStatusError
from drayman.kube.apply import Applier
from drayman.kube.discovery import Discovery
from drayman.kube.http import Request
from drayman.kube.informer import key_of
from drayman.kube.resources import CLAIMS, EVENTS, PODS
from drayman.testing import state

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from drayman.kube.client import Client, Object
    from drayman.kube.resources import Resource


class Access:
    """Works on one cluster through its API.

    Objects are named "namespace/name", or "name" (in `default` where namespaced).
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.discovery = Discovery(client)
        self.applier = Applier(client, self.discovery)

    async def apply(self, objects: Iterable[Mapping[str, Any]]) -> Sequence[Object]:
        """Create the objects, or update those that exist; missing namespaces are created first."""
        applied = []
        for obj in objects:
            await self.ensure_namespace(obj)
            applied.append(await self.applier.apply(obj))
        return applied

    async def ensure_namespace(self, obj: Mapping[str, Any]) -> None:
        """Create the namespace that `obj` is in, unless it exists."""
        if namespace := (obj.get("metadata") or {}).get("namespace"):
            await self.applier.ensure_namespace(namespace)

    async def get(self, kind: str, name: str) -> Object:
        """Return one object."""
        resource, namespace, plain = await self._named(kind, name)
        return await self.client.get(resource, plain, namespace)

    async def list(self, kind: str, namespace: str | None = None) -> Sequence[Object]:
        """Return all objects of a kind, in one namespace if given."""
        items, _ = await self.client.list(await self.discovery.named(kind), namespace)
        return items

    async def delete(self, kind: str, name: str) -> None:
        """Delete an object, with the grace that it asks for."""
        resource, namespace, plain = await self._named(kind, name)
        await self.client.delete(resource, plain, namespace)

    async def logs(self, name: str, container: str | None = None) -> str:
        """Return what a container of the pod printed; the first container when none is named."""
        namespace, _, plain = name.rpartition("/")
        query = (("container", container),) if container else ()
        path = PODS.path(plain, namespace or "default", "log")
        answer = await self.client.transport.request(Request("GET", path, query, {"accept": "*/*"}))
        if answer.status >= 400:
            raise APIStatusError({"code": answer.status, "message": answer.body.decode(errors="replace")})
        return answer.body.decode(errors="replace")

    async def events(self, namespace: str | None = None) -> Sequence[Object]:
        """Return the events, oldest first."""
        items, _ = await self.client.list(EVENTS, namespace)
        return sorted(items, key=_event_order)

    async def views(self, namespace: str | None = None) -> Object:
        """Return `pods`, `claims` and `events` as `docs/state.md` describes them, in one namespace if given."""
        claims = {key_of(claim): claim for claim in (await self.client.list(CLAIMS, namespace))[0]}
        pods = {key_of(pod): pod for pod in (await self.client.list(PODS, namespace))[0]}
        return {
            "pods": {key: state.pod_view(pods[key], claims) for key in sorted(pods)},
            "claims": {key: state.claim_view(claims[key]) for key in sorted(claims)},
            "events": [state.event_line(event) for event in await self.events(namespace)],
        }

    async def _named(self, kind: str, name: str) -> tuple[Resource, str | None, str]:
        resource = await self.discovery.named(kind)
        namespace, _, plain = name.rpartition("/")
        return resource, (namespace or "default") if resource.namespaced else None, plain


def _event_order(event: Mapping[str, Any]) -> tuple[str, int]:
    moment = event.get("eventTime") or event["metadata"]["creationTimestamp"]
    return str(moment), int(event["metadata"]["resourceVersion"])
