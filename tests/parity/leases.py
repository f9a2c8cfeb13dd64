"""Leases: what an election writes, and what is refused."""

from __future__ import annotations

from typing import Any

from tests.parity.api import LEASES, Api, Object, meta, sequence

FROM, TO = "2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:02.500000Z"


def lease(holder: str = "one", *, metadata: Object | None = None, **spec: Any) -> Object:
    held = {"holderIdentity": holder, "leaseDurationSeconds": 15, "acquireTime": FROM, "renewTime": FROM}
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": metadata or meta("l"),
        "spec": {**held, "leaseTransitions": 0, **spec},
    }


@sequence
async def lease_is_taken_renewed_released_and_taken_by_another(api: Api) -> None:
    await api.get(LEASES, "l")
    taken = await api.create(LEASES, lease())
    renewed = await api.update(LEASES, {**taken, "spec": {**taken["spec"], "renewTime": TO}})
    await api.table(LEASES, "l")
    released = {**lease("", leaseDurationSeconds=1), "metadata": renewed["metadata"]}
    free = await api.update(LEASES, released)
    await api.table(LEASES)
    await api.update(LEASES, {**lease("two", leaseTransitions=1), "metadata": free["metadata"]})
    await api.get(LEASES, "l")


@sequence
async def lease_that_was_renewed_meanwhile_is_not_taken(api: Api) -> None:
    seen = await api.create(LEASES, lease())
    await api.update(LEASES, {**seen, "spec": {**seen["spec"], "renewTime": TO}})
    await api.update(LEASES, {**seen, "spec": {**seen["spec"], "holderIdentity": "two"}})
    await api.create(LEASES, lease("three"))


@sequence
async def update_of_a_lease_needs_a_version(api: Api) -> None:
    await api.create(LEASES, lease())
    await api.update(LEASES, lease("two"))


@sequence
async def numbers_of_a_lease_are_checked(api: Api) -> None:
    await api.create(LEASES, lease(leaseDurationSeconds=0, leaseTransitions=-1))
    await api.create(LEASES, lease(leaseDurationSeconds="15"))
    await api.create(LEASES, lease(renewTime="yesterday"))
    seen = await api.create(LEASES, lease())
    await api.update(LEASES, {**seen, "spec": {**seen["spec"], "leaseDurationSeconds": -1}})


@sequence
async def times_of_a_lease_are_spelled_with_microseconds(api: Api) -> None:
    await api.create(LEASES, lease(renewTime="2026-01-01T00:00:00Z"))
    await api.create(LEASES, lease(renewTime="2026-01-01T00:00:00.5+01:00", metadata=meta("m")))
    await api.create(LEASES, lease(renewTime="2026-01-01T00:00:00.1234567Z"))
    await api.create(LEASES, lease(renewTime="2026-01-01T01:00:00.500000+01:00", metadata=meta("in-another-zone")))
    await api.create(LEASES, lease(renewTime=None, acquireTime=None, metadata=meta("n")))


@sequence
async def coordination_of_a_lease_is_off(api: Api) -> None:
    await api.create(LEASES, lease(strategy="OldestEmulationVersion", preferredHolder="two"))
    await api.get(LEASES, "l")
