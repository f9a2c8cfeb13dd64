"""The parts of one scheduler, put together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from random import Random
from typing import TYPE_CHECKING

from drayman.clock import OwnTimers
from drayman.framework import Object, PluginClass, Settings
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
from drayman.scheduler.watches import Watches

if TYPE_CHECKING:
    from drayman.clock import Clock
    from drayman.kube.client import Client
    from drayman.scheduler.vitals import Vitals

NOT_FINISHED = "status.phase!=Succeeded,status.phase!=Failed"
"""Pods that have ended hold nothing, and are not watched."""


class Assembly:
    """Parts that do nothing yet: :meth:`watch` lets them learn of the cluster, :meth:`schedule` lets them act.

    Raises :class:`~drayman.errors.InputError` when the configuration names plugins that do not exist.
    """

    def __init__(
        self,
        client: Client,
        configuration: Configuration,
        settings: Settings,
        clock: Clock,
        random: Random | None,
        plugins: Iterable[PluginClass],
    ) -> None:
        self._clock = OwnTimers(clock)
        self._random = random
        self.informers = {resource.kind: _informer(client, self._clock, resource) for resource in WATCHED}
        self.events = BackgroundEvents(Recorder(client, self._clock, configuration.profiles[0].scheduler_name))
        self._cache = Cache()
        self._handle = SchedulerHandle(
            api=ClientAPI(client),
            clock=self._clock,
            random=random,
            settings=settings,
            snapshot=self._cache,
            events=self.events,
            stores={kind: informer.store for kind, informer in self.informers.items()},
        )
        self._runtimes = profiles.build(configuration, self._handle, plugins)
        pods = self.informers["Pod"].store
        self._verdicts = Verdicts(self._handle.api, self.events, self._clock, pods.get)
        self._failures = Failures(self._verdicts, self._clock, pods)
        self._queue = SchedulingQueue(
            self._clock,
            self._runtimes,
            initial_backoff=configuration.initial_backoff_seconds,
            max_backoff=configuration.max_backoff_seconds,
            on_gated=self._failures.gated,
        )
        self._handle.queue = self._failures.queue = self._queue
        self._handle.runtimes = self._runtimes
        profile_of = _profile_of(configuration)
        watches = Watches(cache=self._cache, queue=self._queue, verdicts=self._verdicts, profile_of=profile_of)
        for informer in self.informers.values():
            watches.connect(informer, self._handle)

    async def watch(self, group: asyncio.TaskGroup) -> None:
        """Watch everything; pods only when all else is known, so that no pod is judged by half a picture."""
        for kind, informer in self.informers.items():
            if kind != "Pod":
                group.create_task(informer.run(), name=f"watch of {kind}")
        for kind, informer in self.informers.items():
            if kind != "Pod":
                await informer.synced.wait()
        group.create_task(self.informers["Pod"].run(), name="watch of Pod")
        await self.informers["Pod"].synced.wait()

    async def schedule(self, vitals: Vitals) -> None:
        """Schedule until cancelled; all that was begun has been cancelled, too, when this ends."""
        try:
            async with asyncio.TaskGroup() as group:
                self._verdicts.group = group
                self._failures.is_leading = True
                vitals.cycle = SchedulingCycle(
                    queue=self._queue,
                    cache=self._cache,
                    runtimes=self._runtimes,
                    events=self.events,
                    failures=self._failures,
                    random=self._random,
                    clock=self._clock,
                    group=group,
                )
                await vitals.cycle.run()
        finally:
            self.close()

    def close(self) -> None:
        """Cancel all timers: one that runs later would start tasks in a group that is over."""
        self._clock.close()


def _informer(client: Client, clock: Clock, resource: resources.Resource) -> Informer:
    selector = NOT_FINISHED if resource is resources.PODS else ""
    return Informer(client, clock, resource, field_selector=selector)


def _profile_of(configuration: Configuration) -> Callable[[Object], str | None]:
    def profile_of(pod: Object) -> str | None:
        return profiles.served_by(configuration, pod["spec"].get("schedulerName") or "default-scheduler")

    return profile_of
