"""Runs that share a driver's devices play one scenario at a time: each counts on finding all of them free.

Whose turn it is stands in a Lease. A run that was killed does not give its own back; the others take it when it has
not been renewed for a while, by their own clocks: those of two machines may differ.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from drayman.errors import APIStatusError
from drayman.kube.resources import LEASES, NAMESPACES
from drayman.testing.clusters.existing.run import LABEL
from drayman.timestamps import rfc3339_micro

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from drayman.clock import Clock
    from drayman.kube.client import Client, Object
    from drayman.testing.clusters.existing.run import Run

NAMESPACE = "default"
"""Where the Lease is: runs have no other namespace in common."""

EXPIRES_SECONDS = 30
_RENEW_SECONDS = 10.0
_LOOK_SECONDS = 0.2
_COURTESY_SECONDS = 0.5
_WAIT_SECONDS = 900.0


class Turns:
    """Takes turns with other runs for the devices of `driver`."""

    def __init__(self, client: Client, clock: Clock, run: Run, driver: str) -> None:
        self._client = client
        self._clock = clock
        self._run = run
        self._name = f"drayman-{driver}"

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Have the devices for the length of a block. Raises `TimeoutError` when others do not give them back."""
        lease = await self._take()
        renewing = asyncio.create_task(self._renew(lease), name="renewal of the lease")
        try:
            yield
        finally:
            renewing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await renewing
            with contextlib.suppress(APIStatusError):  # somebody thought that we were dead, and took it
                await self._client.delete(LEASES, self._name, NAMESPACE, uid=lease["metadata"]["uid"])
            if await self._others():
                await self._clock.sleep(_COURTESY_SECONDS)

    async def _take(self) -> Object:
        limit = self._clock.monotonic() + _WAIT_SECONDS
        seen, since = "", self._clock.monotonic()
        while True:
            try:
                return await self._client.create(LEASES, self._lease())
            except APIStatusError as error:
                if error.reason != "AlreadyExists":
                    raise
            with contextlib.suppress(APIStatusError):  # given back meanwhile
                held = await self._client.get(LEASES, self._name, NAMESPACE)
                metadata, now = held["metadata"], self._clock.monotonic()
                if seen != metadata["resourceVersion"]:
                    seen, since = metadata["resourceVersion"], now
                elif now - since > EXPIRES_SECONDS and LABEL in (metadata.get("labels") or {}):
                    await self._client.delete(LEASES, self._name, NAMESPACE, uid=metadata["uid"], resource_version=seen)
                    continue
                if now > limit:
                    raise TimeoutError(
                        f"run `{held['spec'].get('holderIdentity')}` has the devices, after {_WAIT_SECONDS:g} s"
                    )
            await self._clock.sleep(_LOOK_SECONDS)

    def _lease(self) -> Object:
        now = rfc3339_micro(self._clock.now())
        return {
            "apiVersion": LEASES.api_version,
            "kind": LEASES.kind,
            "metadata": {"name": self._name, "namespace": NAMESPACE, "labels": self._run.labels},
            "spec": {
                "holderIdentity": self._run.id,
                "leaseDurationSeconds": EXPIRES_SECONDS,
                "acquireTime": now,
                "renewTime": now,
            },
        }

    async def _renew(self, lease: Object) -> None:
        while True:
            await self._clock.sleep(_RENEW_SECONDS)
            lease["spec"]["renewTime"] = rfc3339_micro(self._clock.now())
            with contextlib.suppress(APIStatusError, ConnectionError):
                lease |= await self._client.update(LEASES, lease)

    async def _others(self) -> bool:
        namespaces, _ = await self._client.list(NAMESPACES, label_selector=f"{LABEL},{LABEL}!={self._run.id}")
        return bool(namespaces)
