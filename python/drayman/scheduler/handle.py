"""The framework's :class:`~drayman.framework.Handle`: what plugins get of this scheduler."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, TypeVar, cast

from drayman.framework import API, Events, Happening, Object, Observer, Settings, Snapshot

if TYPE_CHECKING:
    from drayman.clock import Clock
    from drayman.framework.queue import SchedulingQueue
    from drayman.framework.runtime import Runtime
    from drayman.framework.waiting import WaitingPod

T = TypeVar("T")


class SchedulerHandle:
    """Made before the plugins; `queue` and `runtimes` are set when these exist, before anything is watched."""

    queue: SchedulingQueue
    runtimes: Mapping[str, Runtime]

    def __init__(
        self,
        *,
        api: API,
        clock: Clock,
        random: Random | None,
        settings: Settings,
        snapshot: Snapshot,
        events: Events,
        stores: Mapping[str, Mapping[str, Object]],
    ) -> None:
        self.api = api
        self.clock = clock
        self.random = random
        self.settings = settings
        self.snapshot = snapshot
        self.events = events
        self._stores = stores
        self._observers: dict[str, list[Observer]] = {}
        self._shared: dict[str, object] = {}

    def objects(self, kind: str) -> Mapping[str, Object]:
        """Return the objects of a watched kind."""
        return self._stores[kind]

    def observe(self, kind: str, observer: Observer) -> None:
        """Tell `observer` of every change of `kind`."""
        self._observers.setdefault(kind, []).append(observer)

    def observers(self, kind: str) -> Sequence[Observer]:
        """Return who wants to know of changes of `kind`."""
        return tuple(self._observers.get(kind, ()))

    def shared(self, key: str, make: Callable[[], T]) -> T:
        """Return the one object called `key`."""
        if key not in self._shared:
            self._shared[key] = make()
        return cast("T", self._shared[key])

    def wake(self, happening: Happening) -> None:
        """Queue the pods that `happening` may help."""
        self.queue.move(happening)

    def waiting_pod(self, uid: str) -> WaitingPod | None:
        """Return the pod that Permit plugins hold back."""
        found = (runtime.waiting_pod(uid) for runtime in self.runtimes.values())
        return next((pod for pod in found if pod is not None), None)
