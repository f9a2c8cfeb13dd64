"""Removes what a run has created, found by its label and by nothing else, and waits until it is gone."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from drayman.errors import APIStatusError, DraymanError
from drayman.kube.resources import DEVICE_CLASSES, LEASES, NAMESPACES, PODS, SLICES, Resource
from drayman.testing.clusters.existing.turns import NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from drayman.clock import Clock
    from drayman.kube.client import Client, Object
    from drayman.testing.clusters.existing.run import Run

CLUSTER_ROLES = Resource("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", namespaced=False)
CLUSTER_ROLE_BINDINGS = Resource(
    "rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False
)
_GRACE_SECONDS = 1
_WAIT_SECONDS = 90.0
_LOOK_SECONDS = 0.2
_SHOWN = 3
_NOT_OURS = ("Forbidden", "NotFound")


async def played(client: Client, clock: Clock, run: Run) -> None:
    """Remove what scenarios have created, while what is installed still runs: a driver has to give devices back.

    Raises :class:`~drayman.errors.DraymanError` with what does not go away.
    """
    await _remove_namespaces(client, clock, run, [run.namespace])
    for one in await _listed(client, DEVICE_CLASSES, run):
        if one["metadata"]["name"] != run.driver:
            await _delete(client, DEVICE_CLASSES, one)
    for one in await _listed(client, LEASES, run, NAMESPACE):
        await _delete(client, LEASES, one)


async def everything(client: Client, clock: Clock, run: Run) -> None:
    """Remove all of a run. Raises :class:`~drayman.errors.DraymanError` with what does not go away."""
    try:
        await played(client, clock, run)
    finally:
        await _remove_namespaces(client, clock, run, [])
        for resource in (DEVICE_CLASSES, CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES):
            for one in await _listed(client, resource, run):
                await _delete(client, resource, one)
        # A driver publishes slices without labels; no other driver has the name of this run's.
        with _unless_forbidden():
            for one in (await client.list(SLICES, field_selector=f"spec.driver={run.driver}"))[0]:
                await _delete(client, SLICES, one)


async def _remove_namespaces(client: Client, clock: Clock, run: Run, kept: Sequence[str]) -> None:
    """Delete the run's namespaces with all that is in them, and wait until none is left."""
    limit = clock.monotonic() + _WAIT_SECONDS
    while left := [one for one in await _listed(client, NAMESPACES, run) if one["metadata"]["name"] not in kept]:
        # Those that a test creates while it is being stopped come late.
        await asyncio.gather(*(_end(client, one) for one in left if "deletionTimestamp" not in one["metadata"]))
        if clock.monotonic() > limit:
            raise DraymanError(f"run `{run.id}` is not gone after {_WAIT_SECONDS:.0f} s: {_why(left)}")
        await clock.sleep(_LOOK_SECONDS)


async def _end(client: Client, namespace: Object) -> None:
    name = namespace["metadata"]["name"]
    await _delete(client, NAMESPACES, namespace)
    with _unless_forbidden():
        for pod in (await client.list(PODS, name))[0]:
            with _unless_gone():
                await client.delete(PODS, pod["metadata"]["name"], name, grace_period_seconds=_GRACE_SECONDS)


async def _listed(client: Client, resource: Resource, run: Run, namespace: str | None = None) -> list[Object]:
    """Return the run's objects; none of a kind that who runs it may not list, and so has not created."""
    try:
        return (await client.list(resource, namespace, label_selector=run.selector))[0]
    except APIStatusError as error:
        if error.reason not in _NOT_OURS:
            raise
        return []


async def _delete(client: Client, resource: Resource, obj: Object) -> None:
    metadata = obj["metadata"]
    with _unless_gone():
        await client.delete(resource, metadata["name"], metadata.get("namespace"), uid=metadata["uid"])


@contextlib.contextmanager
def _unless_gone() -> Iterator[None]:
    try:
        yield
    except APIStatusError as error:
        if error.reason not in ("NotFound", "Conflict"):
            raise


@contextlib.contextmanager
def _unless_forbidden() -> Iterator[None]:
    try:
        yield
    except APIStatusError as error:
        if error.reason not in _NOT_OURS:
            raise


def _why(namespaces: Sequence[Object]) -> str:
    """Return what the server says about namespaces that do not end."""
    told = []
    for one in namespaces[:_SHOWN]:
        conditions = (one.get("status") or {}).get("conditions") or []
        reasons = [str(condition.get("message")) for condition in conditions if condition.get("status") == "True"]
        told.append(f"namespace `{one['metadata']['name']}`{': ' if reasons else ''}{'; '.join(reasons)}")
    return ", ".join(told)
