"""Pods that wait before they are tried again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from drayman.framework.heap import PodHeap
from drayman.framework.queued_pod import Place, QueuedPod

if TYPE_CHECKING:
    from drayman.clock import Clock, Timer


class BackoffQueue:
    """Holds pods until their back-off is over, then hands them to `expired`.

    Pods whose last attempt was refused may be taken early, when nothing else is ready (upstream's
    SchedulerPopFromBackoffQ). Pods whose attempt failed with an error may not: they would spin.
    """

    def __init__(self, clock: Clock, expired: Callable[[QueuedPod], None], initial: float, limit: float) -> None:
        self._clock = clock
        self._expired = expired
        self._initial = initial
        self._limit = limit
        self._refused = PodHeap(Place.BACKOFF)
        self._failed = PodHeap(Place.BACKOFF)
        self._timer: tuple[float, Timer] | None = None

    def remaining(self, queued: QueuedPod) -> float:
        """Return how many seconds `queued` still has to wait; zero or less: none."""
        return queued.timestamp + queued.backoff(self._initial, self._limit) - self._clock.monotonic()

    def push(self, queued: QueuedPod) -> None:
        """Hold `queued` until its back-off is over."""
        expiry = queued.timestamp + queued.backoff(self._initial, self._limit)
        (self._failed if queued.error_count else self._refused).push(queued, (expiry,))
        self._set_timer()

    def pop_early(self) -> QueuedPod | None:
        """Take the pod that would have been the next one, if one may go before its time."""
        return self._refused.pop()

    def _set_timer(self) -> None:
        firsts = [first for heap in (self._refused, self._failed) if (first := heap.peek()) is not None]
        due = min((key[0] for key, _ in firsts), default=None)
        if self._timer is not None:
            if due is not None and self._timer[0] == due:
                return
            self._timer[1].cancel()
            self._timer = None
        if due is not None:
            self._timer = (due, self._clock.call_later(due - self._clock.monotonic(), self._expire))

    def _expire(self) -> None:
        self._timer = None
        now = self._clock.monotonic()
        for heap in (self._refused, self._failed):
            while (first := heap.peek()) is not None and first[0][0] <= now:
                heap.pop()
                self._expired(first[1])
        self._set_timer()
