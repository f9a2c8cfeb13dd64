"""The scheduling queue: which pod is tried next, and when a refused one is tried again.

Four places, as upstream: ready pods by priority and age; pods that back off; refused pods, which wait for a change that
one of their refusing plugins registered for; pods that PreEnqueue holds back. Refused pods are tried again after five
minutes in any case. Changes that happen while a pod is being tried count for it afterwards, so that none is missed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from drayman.framework.backoff import BackoffQueue
from drayman.framework.changes import pod_changes
from drayman.framework.events import ClusterEvent, EventResource, Happening, QueueingHint, Registration
from drayman.framework.heap import PodHeap
from drayman.framework.queued_pod import Place, QueuedPod
from drayman.framework.waiting_room import WaitingRoom
from drayman.pods.node_info import PodInfo
from drayman.pods.objects import Object, key_of, uid_of

if TYPE_CHECKING:
    from drayman.clock import Clock, Timer
    from drayman.framework.status import Status

FLUSH_AFTER = 300.0
"""Seconds after which a refused pod is tried again although nothing happened that should help it."""


class QueueProfile(Protocol):
    """What the queue has to know of one profile's plugins."""

    def pre_enqueue(self, pod: Object) -> Status:
        """Run PreEnqueue."""

    def sort_key(self, pod: QueuedPod) -> tuple[float, ...]:
        """Return what ready pods are sorted by."""

    @property
    def registrations(self) -> Mapping[str, Sequence[Registration]]:
        """The changes that each plugin waits for."""


class SchedulingQueue:
    """All pods of the profiles that are not bound. Not thread-safe: every method runs on the event loop.

    `on_gated(pod, status)` is called when PreEnqueue holds a pod back, with what it said.
    """

    def __init__(
        self,
        clock: Clock,
        profiles: Mapping[str, QueueProfile],
        *,
        initial_backoff: float = 1.0,
        max_backoff: float = 10.0,
        on_gated: Callable[[QueuedPod, Status], object] | None = None,
    ) -> None:
        self._clock = clock
        self._profiles = profiles
        self._on_gated = on_gated
        self._pods: dict[str, QueuedPod] = {}
        self._active = PodHeap(Place.ACTIVE)
        self._backoff = BackoffQueue(clock, self._admit, initial_backoff, max_backoff)
        self._waiting = WaitingRoom()
        self._in_flight: dict[str, list[Happening]] = {}
        self._ready = asyncio.Event()
        self._flush_timer: Timer | None = None

    def add(self, pod: Object, profile: str) -> None:
        """Take in a pod that is not bound; a pod that is here already is updated."""
        known = self._pods.get(key_of(pod))
        if known is not None and known.uid == uid_of(pod):
            self.update(known.pod, pod)
            return
        self.delete(pod)
        queued = QueuedPod(PodInfo(pod), profile, self._clock.monotonic())
        self._pods[queued.key] = queued
        self._admit(queued)

    def update(self, old: Object, pod: Object) -> None:
        """Take over a newer version of a pod; what changed in it may let it fit."""
        queued = self._pods.get(key_of(pod))
        if queued is None:
            return
        queued.renew(pod)
        for action in pod_changes(old, pod):
            happening = Happening(ClusterEvent(EventResource.TARGET_POD, action), old, pod)
            if queued.uid in self._in_flight:
                self._in_flight[queued.uid].append(happening)
            elif queued.place in (Place.UNSCHEDULABLE, Place.GATED) and self._helps(queued, happening):
                self._requeue(queued)

    def delete(self, pod: Object) -> None:
        """Forget a pod that is gone, bound or not ours any more."""
        queued = self._pods.pop(key_of(pod), None)
        if queued is not None:
            self._leave(queued)
            self._in_flight.pop(queued.uid, None)

    def get(self, key: str) -> QueuedPod | None:
        """Return the pod "namespace/name", wherever it is."""
        return self._pods.get(key)

    async def pop(self) -> QueuedPod:
        """Wait for the next pod and take it; :meth:`done` or one of the `retry` methods must follow."""
        while (queued := self._active.pop() or self._backoff.pop_early()) is None:
            self._ready.clear()
            await self._ready.wait()
        queued.place = Place.IN_FLIGHT
        queued.attempts += 1
        self._in_flight[queued.uid] = []
        return queued

    def done(self, queued: QueuedPod) -> None:
        """Stop recording what happens while `queued` is tried: the attempt will not end in a refusal any more."""
        self._in_flight.pop(queued.uid, None)

    def retry_refused(self, queued: QueuedPod, rejectors: frozenset[str], pending: frozenset[str]) -> None:
        """Let a pod that plugins refused wait for a change, unless one happened meanwhile."""
        happenings = self._in_flight.pop(queued.uid, [])
        if not self._returns(queued):
            return
        queued.rejectors, queued.pending = rejectors, pending
        queued.unschedulable_count += 1
        queued.error_count = 0
        if any(self._helps(queued, happening) for happening in happenings):
            self._requeue(queued)
        else:
            self._wait(queued, Place.UNSCHEDULABLE)

    def retry_failed(self, queued: QueuedPod) -> None:
        """Let a pod whose attempt failed back off, then try it again."""
        self._in_flight.pop(queued.uid, None)
        if not self._returns(queued):
            return
        queued.rejectors = queued.pending = frozenset()
        queued.error_count += 1
        self._backoff.push(queued)

    def move(self, happening: Happening) -> None:
        """Queue the waiting pods that `happening` may help."""
        for happenings in self._in_flight.values():
            happenings.append(happening)
        for name, profile in self._profiles.items():
            for plugin, registrations in profile.registrations.items():
                for registration in registrations:
                    if registration.event.covers(happening.event):
                        self._wake(name, plugin, registration, happening)

    def _wake(self, profile: str, plugin: str, registration: Registration, happening: Happening) -> None:
        keys = registration.affected(happening.old, happening.new) if registration.affected else None
        for queued in self._waiting.refused_by(profile, plugin, keys):
            if _says_queue(registration, queued.pod, happening):
                self._requeue(queued)

    def _helps(self, queued: QueuedPod, happening: Happening) -> bool:
        registrations = self._profiles[queued.profile].registrations
        return any(
            registration.event.covers(happening.event) and _says_queue(registration, queued.pod, happening)
            for plugin in sorted(queued.rejectors)
            for registration in registrations.get(plugin, ())
        )

    def _requeue(self, queued: QueuedPod) -> None:
        """Bring a waiting pod back, past PreEnqueue and through what is left of its back-off."""
        self._leave(queued)
        if not self._admits(queued):
            return
        if not queued.pending and self._backoff.remaining(queued) > 0:
            self._backoff.push(queued)
            self._ready.set()
        else:
            self._activate(queued)

    def _admit(self, queued: QueuedPod) -> None:
        if self._admits(queued):
            self._activate(queued)

    def _admits(self, queued: QueuedPod) -> bool:
        status = self._profiles[queued.profile].pre_enqueue(queued.pod)
        if status.is_success:
            queued.gate_message = ""
            return True
        queued.rejectors = frozenset({status.plugin})
        queued.gate_message = status.message
        self._wait(queued, Place.GATED)
        if self._on_gated is not None:
            self._on_gated(queued, status)
        return False

    def _activate(self, queued: QueuedPod) -> None:
        self._active.push(queued, self._profiles[queued.profile].sort_key(queued))
        self._ready.set()

    def _returns(self, queued: QueuedPod) -> bool:
        """Tell whether a pod that comes back from an attempt is still wanted; its time in the queue starts anew."""
        queued.timestamp = self._clock.monotonic()
        return self._pods.get(queued.key) is queued

    def _wait(self, queued: QueuedPod, place: Place) -> None:
        queued.place = place
        self._waiting.add(queued)
        if place is Place.UNSCHEDULABLE and self._flush_timer is None:
            self._flush_timer = self._clock.call_later(FLUSH_AFTER, self._flush)

    def _leave(self, queued: QueuedPod) -> None:
        self._waiting.discard(queued)
        queued.place = Place.OUT

    def _flush(self) -> None:
        self._flush_timer = None
        now = self._clock.monotonic()
        refused = [queued for queued in self._waiting.all() if queued.place is Place.UNSCHEDULABLE]
        waiting = []
        for queued in refused:
            if now - queued.timestamp >= FLUSH_AFTER:
                self._requeue(queued)
            else:
                waiting.append(queued.timestamp)
        if waiting:
            self._flush_timer = self._clock.call_later(min(waiting) + FLUSH_AFTER - now, self._flush)


def _says_queue(registration: Registration, pod: Object, happening: Happening) -> bool:
    return registration.hint is None or (registration.hint(pod, happening.old, happening.new) is QueueingHint.QUEUE)
