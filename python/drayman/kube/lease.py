"""A Lease as the lock of an election, as client-go's `resourcelock` has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman.errors import APIStatusError
from drayman.kube.resources import LEASES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drayman.kube.client import Client, Object


@dataclass(frozen=True, slots=True)
class Record:
    """Who leads; times are written for people and never compared: clocks of machines differ."""

    holder: str
    seconds: int
    acquired: str | None
    renewed: str | None
    transitions: int

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Record:
        """Read the spec of a Lease."""
        return cls(
            holder=spec.get("holderIdentity") or "",
            seconds=spec.get("leaseDurationSeconds") or 0,
            acquired=spec.get("acquireTime"),
            renewed=spec.get("renewTime"),
            transitions=spec.get("leaseTransitions") or 0,
        )

    def spec(self) -> Object:
        """Return the spec of a Lease."""
        return {
            "holderIdentity": self.holder,
            "leaseDurationSeconds": self.seconds,
            "acquireTime": self.acquired,
            "renewTime": self.renewed,
            "leaseTransitions": self.transitions,
        }


class LeaseLock:
    """One Lease. Writes go to the version that was seen last, and are refused (`Conflict`) where there is a newer one.

    Methods raise :class:`~drayman.errors.APIStatusError` and `ConnectionError` as those of the client.
    """

    def __init__(self, client: Client, namespace: str, name: str) -> None:
        self._client = client
        self._namespace = namespace
        self._name = name
        self._seen: Object = {}

    def __str__(self) -> str:
        return f"{self._namespace}/{self._name}"

    @property
    def lease(self) -> Object:
        """The Lease as seen last, with enough of it for an event before it has been seen."""
        metadata = {"namespace": self._namespace, "name": self._name}
        return {**self._seen, **_TYPE, "metadata": {**self._seen.get("metadata", {}), **metadata}}

    async def get(self) -> Record | None:
        """Return what the Lease says; None when there is none."""
        try:
            self._seen = await self._client.get(LEASES, self._name, self._namespace)
        except APIStatusError as error:
            if error.code != 404 or error.reason != "NotFound":
                raise
            return None
        return Record.of(self._seen.get("spec") or {})

    async def create(self, record: Record) -> None:
        """Make the Lease."""
        metadata = {"namespace": self._namespace, "name": self._name}
        self._seen = await self._client.create(LEASES, {**_TYPE, "metadata": metadata, "spec": record.spec()})

    async def update(self, record: Record) -> None:
        """Replace what the Lease says."""
        self._seen = await self._client.update(LEASES, {**self.lease, "spec": record.spec()})


_TYPE = {"apiVersion": LEASES.api_version, "kind": LEASES.kind}
