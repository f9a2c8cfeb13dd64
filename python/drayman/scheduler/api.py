"""The framework's :class:`~drayman.framework.API` over a client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from drayman.framework import Object
from drayman.kube import resources

if TYPE_CHECKING:
    from drayman.kube.client import Client

WATCHED = (
    resources.NODES,
    resources.DEVICE_CLASSES,
    resources.SLICES,
    resources.TAINT_RULES,
    resources.CLAIMS,
    resources.PODS,
)
"""What a scheduler follows, in the order in which the first lists are handed on: pods last, when all else is known."""

_BY_KIND = {resource.kind: resource for resource in WATCHED}


class ClientAPI:
    """Writes and live reads of plugins."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def get(self, kind: str, name: str, namespace: str | None = None) -> Object:
        """Return the object as it is now."""
        return await self._client.get(_BY_KIND[kind], name, namespace)

    async def update(self, kind: str, obj: Object, *, subresource: str | None = None) -> Object:
        """Replace the object, or its subresource."""
        return await self._client.update(_BY_KIND[kind], obj, subresource=subresource)

    async def patch(
        self,
        kind: str,
        name: str,
        namespace: str | None,
        patch: Mapping[str, Any],
        *,
        type_: Literal["merge", "strategic"] = "merge",
        subresource: str | None = None,
    ) -> Object:
        """Patch the object, or its subresource."""
        return await self._client.patch(_BY_KIND[kind], name, namespace, patch, kind=type_, subresource=subresource)

    async def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        """Bind a pod to a node."""
        await self._client.bind(namespace, name, uid, node)
