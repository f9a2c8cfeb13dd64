"""Ends reservations of users that are done; deallocates claims without users; deletes generated claims without need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drayman import resourceclaim
from drayman.errors import APIStatusError
from drayman.kube.resources import CLAIMS, PODS
from drayman.names import FINALIZER
from drayman.testing.controllers.pods import is_done

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drayman.kube.client import Object
    from drayman.testing.controllers.context import Context

DELETED_LIMIT = 500
"""How many deleted pods are remembered, which saves a question to the API server for each of their claims."""


class Releaser:
    """Brings one claim to what its users still need."""

    def __init__(self, context: Context) -> None:
        self._client = context.client
        self._pods = context.informer(PODS).store
        self._claims = context.informer(CLAIMS).store
        self._deleted: dict[str, None] = {}

    def pod_deleted(self, pod: Object) -> None:
        """Remember that `pod` is gone."""
        self._deleted[pod["metadata"]["uid"]] = None
        if len(self._deleted) > DELETED_LIMIT:
            del self._deleted[next(iter(self._deleted))]

    async def sync(self, key: str) -> None:
        """Release what nobody needs of the claim `key`."""
        claim = self._claims.get(key)
        if claim is None:
            return
        reserved = claim.get("status", {}).get("reservedFor", [])
        namespace = claim["metadata"]["namespace"]
        remaining = [consumer for consumer in reserved if await self._is_user(namespace, consumer)]
        if len(remaining) < len(reserved):
            await self._drop_users(claim, remaining)
        elif not remaining and _has_finalizer(claim) and "deletionTimestamp" in claim["metadata"]:
            await self._deallocate(claim)
        if not remaining:
            await self._delete_if_unneeded(claim)

    async def _is_user(self, namespace: str, consumer: Mapping[str, Any]) -> bool:
        """Tell whether an entry of `reservedFor` still counts.

        Consumers of unknown kinds always do. PodGroups are such a kind here, as they are upstream without the gate
        `DRAWorkloadResourceClaims`.
        """
        if not resourceclaim.is_pod(consumer):
            return True
        if consumer["uid"] in self._deleted:
            return False
        pod = self._pods.get(f"{namespace}/{consumer['name']}")
        if pod is not None:
            return bool(pod["metadata"]["uid"] == consumer["uid"]) and not is_done(pod)
        # The watch may be behind the scheduler: only the API server knows whether the pod is gone or not seen yet.
        try:
            pod = await self._client.get(PODS, consumer["name"], namespace)
        except APIStatusError as error:
            if error.reason != "NotFound":
                raise
            return False
        return bool(pod["metadata"]["uid"] == consumer["uid"])

    async def _drop_users(self, claim: Object, remaining: list[Any]) -> None:
        status = {name: value for name, value in claim["status"].items() if name != "reservedFor"}
        if remaining:
            status["reservedFor"] = remaining
        elif _has_finalizer(claim):
            status.pop("allocation", None)
        # A full update, so that it is refused when anything else changed meanwhile.
        updated = await self._client.update(CLAIMS, {**claim, "status": status}, subresource="status")
        if _has_finalizer(updated) and not updated.get("status", {}).get("allocation"):
            await self._remove_finalizer(updated)

    async def _deallocate(self, claim: Object) -> None:
        """Take the allocation, if any, and the finalizer from a claim that is being deleted."""
        status = claim.get("status", {})
        if status.get("allocation"):
            kept = {name: value for name, value in status.items() if name != "allocation"}
            claim = await self._client.update(CLAIMS, {**claim, "status": kept}, subresource="status")
        await self._remove_finalizer(claim)

    async def _remove_finalizer(self, claim: Object) -> None:
        metadata = dict(claim["metadata"])
        metadata["finalizers"] = [name for name in metadata["finalizers"] if name != FINALIZER]
        if not metadata["finalizers"]:
            del metadata["finalizers"]
        await self._client.update(CLAIMS, {**claim, "metadata": metadata})

    async def _delete_if_unneeded(self, claim: Object) -> None:
        """Delete a generated claim whose pod will not run again, although the pod object may stay for long.

        A pod that is not known here is left to the garbage collector: it may be too new to be known.
        """
        owner = resourceclaim.controller_of(claim)
        if owner is None or owner["kind"] != "Pod" or owner["apiVersion"] != "v1":
            return
        pod = self._pods.get(f"{claim['metadata']['namespace']}/{owner['name']}")
        if pod is None or (pod["metadata"]["uid"] == owner["uid"] and not is_done(pod)):
            return
        try:
            await self._client.delete(CLAIMS, claim["metadata"]["name"], claim["metadata"]["namespace"])
        except APIStatusError as error:
            if error.reason != "NotFound":
                raise


def _has_finalizer(claim: Object) -> bool:
    return FINALIZER in claim["metadata"].get("finalizers", ())
