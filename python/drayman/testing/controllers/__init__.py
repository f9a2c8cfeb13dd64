"""The controllers of kube-controller-manager that a cluster with DRA workloads needs, on the HTTP API alone."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from drayman.errors import InputError
from drayman.testing.controllers.context import Context, Controller
from drayman.testing.controllers.deployment import DeploymentController
from drayman.testing.controllers.job import JobController
from drayman.testing.controllers.podgc import PodGCController
from drayman.testing.controllers.replicaset import ReplicaSetController
from drayman.testing.controllers.resourceclaim import ResourceClaimController
from drayman.testing.controllers.taint_eviction import TaintEvictionController

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from drayman.clock import Clock
    from drayman.kube.client import Client

CONTROLLERS: dict[str, Callable[[Context], Controller]] = {
    "resourceclaim-controller": ResourceClaimController,
    "device-taint-eviction-controller": TaintEvictionController,
    "job-controller": JobController,
    "deployment-controller": DeploymentController,
    "replicaset-controller": ReplicaSetController,
    "pod-garbage-collector-controller": PodGCController,
}
"""The controllers by upstream's names (`kube-controller-manager --controllers`)."""


async def run(
    client: Client,
    clock: Clock,
    *,
    gates: frozenset[str],
    names: Collection[str] | None = None,
    compatibility: str = "fixed",
) -> None:
    """Run the controllers called `names`, or all, until cancelled.

    `gates` are the feature gates that are on; `compatibility` is `1.37` (what upstream does) or `fixed` (where
    upstream's documentation says otherwise, that). Raises :class:`~drayman.errors.InputError` for a name that is not
    in :data:`CONTROLLERS`.
    """
    for name in names or ():
        if name not in CONTROLLERS:
            raise InputError(f"unknown controller `{name}`", hint=f"known are {', '.join(CONTROLLERS)}")
    context = Context(client, clock, gates, compatibility)
    controllers = [make(context) for name, make in CONTROLLERS.items() if names is None or name in names]
    async with asyncio.TaskGroup() as group:
        for informer in context.informers.values():
            group.create_task(informer.run())
        for controller in controllers:
            group.create_task(_start(controller, context))


async def _start(controller: Controller, context: Context) -> None:
    for informer in context.informers.values():
        await informer.synced.wait()
    await controller.run()
