"""Putting a scheduler together and running it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from random import Random
from typing import TYPE_CHECKING

from drayman.clock import OwnTimers
from drayman.errors import APIStatusError
from drayman.framework import Object, PluginClass
from drayman.framework.queue import SchedulingQueue
from drayman.kube import resources
from drayman.kube.events import Recorder
from drayman.kube.informer import Informer
from drayman.scheduler import profiles
from drayman.scheduler.api import WATCHED, ClientAPI
from drayman.scheduler.cache import Cache
from drayman.scheduler.configuration import Configuration
from drayman.scheduler.cycle import SchedulingCycle
from drayman.scheduler.failures import Failures
from drayman.scheduler.handle import SchedulerHandle
from drayman.scheduler.recorder import BackgroundEvents
from drayman.scheduler.verdicts import Verdicts
from drayman.scheduler.vitals import Vitals
from drayman.scheduler.watches import Watches

if TYPE_CHECKING:
    from drayman.clock import Clock
    from drayman.kube.client import Client

log = logging.getLogger(__name__)

NOT_FINISHED = "status.phase!=Succeeded,status.phase!=Failed"
"""Pods that have ended hold nothing, and are not watched."""


async def run(
    client: Client,
    configuration: Configuration,
    clock: Clock,
    *,
    random: Random | None,
    plugins: Iterable[PluginClass] = (),
    vitals: Vitals | None = None,
) -> None:
    """Schedule the pods of the profiles of `configuration` until cancelled.

    All truth is in the API server: a scheduler that is stopped at any point is continued by the next one. `random`
    breaks ties between nodes, None takes the first; `plugins` are used besides the built-in and installed ones;
    `vitals` learns how the scheduler is. Raises
    :class:`~drayman.errors.InputError` when the configuration names plugins or gates that do not exist, and
    `ConnectionError` when the API server cannot be reached at the start; later it is waited for.
    """
    settings = configuration.settings()
    vitals = vitals or Vitals(clock)
    clock = timers = OwnTimers(clock)
    informers = {resource.kind: _informer(client, clock, resource) for resource in WATCHED}
    names = [profile.scheduler_name for profile in configuration.profiles]
    events = BackgroundEvents(Recorder(client, clock, names[0]))
    cache = Cache()
    handle = SchedulerHandle(
        api=ClientAPI(client),
        clock=clock,
        random=random,
        settings=settings,
        snapshot=cache,
        events=events,
        stores={kind: informer.store for kind, informer in informers.items()},
    )
    runtimes = profiles.build(configuration, handle, plugins)
    has_taint_rules = await _serves_taint_rules(client, settings.features)
    async with asyncio.TaskGroup() as group:
        pods = informers["Pod"].store
        verdicts = Verdicts(handle.api, events, clock, group, pods.get)
        failures = Failures(verdicts, clock, pods)
        queue = SchedulingQueue(
            clock,
            runtimes,
            initial_backoff=configuration.initial_backoff_seconds,
            max_backoff=configuration.max_backoff_seconds,
            on_gated=failures.gated,
        )
        handle.queue = failures.queue = queue
        handle.runtimes = runtimes
        watches = Watches(cache=cache, queue=queue, verdicts=verdicts, profile_of=_profile_of(configuration))
        for informer in informers.values():
            watches.connect(informer, handle)
        group.create_task(events.run(), name="events")
        if not has_taint_rules:
            del informers["DeviceTaintRule"]
        vitals.informers = informers
        try:
            await _start(informers, group)
            cycle = SchedulingCycle(
                queue=queue,
                cache=cache,
                runtimes=runtimes,
                events=events,
                failures=failures,
                random=random,
                clock=clock,
                group=group,
            )
            vitals.cycle = cycle
            log.info("scheduling pods of %s", "every scheduler" if configuration.serve_all else ", ".join(names))
            await cycle.run()
        finally:
            vitals.is_ending = True
            timers.close()  # one that runs later would start tasks in a group that is over


def _informer(client: Client, clock: Clock, resource: resources.Resource) -> Informer:
    selector = NOT_FINISHED if resource is resources.PODS else ""
    return Informer(client, clock, resource, field_selector=selector)


async def _start(informers: dict[str, Informer], group: asyncio.TaskGroup) -> None:
    """Watch everything; pods only when all else is known, so that no pod is judged by half a picture."""
    for kind, informer in informers.items():
        if kind != "Pod":
            group.create_task(informer.run(), name=f"watch of {kind}")
    for kind, informer in informers.items():
        if kind != "Pod":
            await informer.synced.wait()
    group.create_task(informers["Pod"].run(), name="watch of Pod")
    await informers["Pod"].synced.wait()


async def _serves_taint_rules(client: Client, features: frozenset[str]) -> bool:
    """Ask whether there are DeviceTaintRules: before Kubernetes 1.37 they are not in the version that is read here."""
    if "DRADeviceTaintRules" not in features:
        return False
    try:
        await client.list(resources.TAINT_RULES)
    except APIStatusError as error:
        if error.code != 404:
            raise
        log.warning("the API server has no DeviceTaintRules in %s", resources.TAINT_RULES.api_version)
        return False
    return True


def _profile_of(configuration: Configuration) -> Callable[[Object], str | None]:
    def profile_of(pod: Object) -> str | None:
        return profiles.served_by(configuration, pod["spec"].get("schedulerName") or "default-scheduler")

    return profile_of
