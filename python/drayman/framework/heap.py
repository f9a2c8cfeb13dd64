"""A heap of queued pods from which any pod can be taken without a search."""

from __future__ import annotations

import heapq
import itertools

from drayman.framework.queued_pod import Place, QueuedPod

_tickets = itertools.count(1)


class PodHeap:
    """Pods by a key, smallest first, then in the order in which they came.

    A pod leaves by getting another place or ticket; its entry is dropped when it comes to the top.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._entries: list[tuple[tuple[float, ...], int, QueuedPod]] = []

    def push(self, queued: QueuedPod, key: tuple[float, ...]) -> None:
        """Put `queued` in, under `key`."""
        queued.place = self._place
        queued.ticket = next(_tickets)
        heapq.heappush(self._entries, (key, queued.ticket, queued))

    def peek(self) -> tuple[tuple[float, ...], QueuedPod] | None:
        """Return the first key and pod."""
        while self._entries:
            key, ticket, queued = self._entries[0]
            if queued.place is self._place and queued.ticket == ticket:
                return key, queued
            heapq.heappop(self._entries)
        return None

    def pop(self) -> QueuedPod | None:
        """Take the first pod out."""
        if self.peek() is None:
            return None
        queued = heapq.heappop(self._entries)[2]
        queued.place = Place.OUT
        return queued
