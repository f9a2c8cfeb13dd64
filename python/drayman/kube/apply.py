"""Bringing whole objects of manifests to a server.

Create, update what exists, and write status where a manifest has one.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from drayman.errors import APIStatusError
from drayman.kube.resources import NAMESPACES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drayman.kube.client import Client, Object
    from drayman.kube.discovery import Discovery

log = logging.getLogger(__name__)

FIELD_MANAGER = "drayman"


class Applier:
    """Writes objects with strict field validation.

    Raises what the server says, as :class:`~drayman.errors.APIStatusError`.
    """

    def __init__(self, client: Client, discovery: Discovery, *, namespace: str = "default") -> None:
        self._client = client
        self._discovery = discovery
        self._namespace = namespace

    async def create(self, obj: Mapping[str, Any]) -> Object:
        """Create `obj`; a `status` in it is written afterwards, through the status subresource."""
        resource = await self._discovery.of(str(obj["apiVersion"]), str(obj["kind"]))
        wanted = self.placed(obj) if resource.namespaced else obj
        created = await self._client.create(resource, wanted, field_validation="Strict", field_manager=FIELD_MANAGER)
        return await self._write_status(created, obj.get("status"))

    async def apply(self, obj: Mapping[str, Any]) -> Object:
        """Create `obj`, or make the existing object agree with it, taking over fields that others own."""
        try:
            return await self.create(obj)
        except APIStatusError as error:
            if error.reason != "AlreadyExists":
                raise
        resource = await self._discovery.of(str(obj["apiVersion"]), str(obj["kind"]))
        wanted = self.placed(obj) if resource.namespaced else dict(obj)
        wanted.pop("status", None)
        metadata = wanted["metadata"]
        applied = await self._client.patch(
            resource,
            metadata["name"],
            metadata.get("namespace"),
            wanted,
            kind="apply",
            field_manager=FIELD_MANAGER,
            force=True,
        )
        return await self._write_status(applied, obj.get("status"))

    async def delete(self, obj: Mapping[str, Any], *, grace_period_seconds: int | None = None) -> None:
        """Delete the object that `obj` names."""
        resource = await self._discovery.of(str(obj["apiVersion"]), str(obj["kind"]))
        metadata = (self.placed(obj) if resource.namespaced else obj)["metadata"]
        await self._client.delete(
            resource, metadata["name"], metadata.get("namespace"), grace_period_seconds=grace_period_seconds
        )

    async def update_status(self, obj: Mapping[str, Any]) -> Object:
        """Replace, in the status of the existing object, the fields that the status of `obj` has."""
        resource = await self._discovery.of(str(obj["apiVersion"]), str(obj["kind"]))
        metadata = (self.placed(obj) if resource.namespaced else obj)["metadata"]
        current = await self._client.get(resource, metadata["name"], metadata.get("namespace"))
        return await self._write_status(current, obj.get("status"))

    async def ensure_namespace(self, name: str) -> None:
        """Create the namespace when it does not exist."""
        try:
            await self._client.get(NAMESPACES, name)
        except APIStatusError as error:
            if error.code != 404:
                raise
            log.info("namespace `%s` did not exist and was created", name)
            await self._client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    async def _write_status(self, stored: Object, status: Mapping[str, Any] | None) -> Object:
        if not status:
            return stored
        resource = await self._discovery.of(stored["apiVersion"], stored["kind"])
        wanted = {**stored, "status": {**stored.get("status", {}), **status}}
        return await self._client.update(resource, wanted, subresource="status")

    def placed(self, obj: Mapping[str, Any]) -> Object:
        """Return `obj` with a namespace, its own or the default one."""
        metadata = obj.get("metadata") or {}
        return {**obj, "metadata": {**metadata, "namespace": metadata.get("namespace") or self._namespace}}
