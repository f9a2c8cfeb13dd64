"""A pod on its way through the queue, with the history of its attempts."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from drayman.pods.node_info import PodInfo

if TYPE_CHECKING:
    from drayman.pods.objects import Object


class Place(enum.Enum):
    """Where a pod is. `IN_FLIGHT` is with the scheduling cycle, `OUT` nowhere in the queue."""

    OUT = enum.auto()
    ACTIVE = enum.auto()
    BACKOFF = enum.auto()
    UNSCHEDULABLE = enum.auto()
    GATED = enum.auto()
    IN_FLIGHT = enum.auto()


@dataclass(slots=True, eq=False)
class QueuedPod:
    """One pod in the queue.

    `timestamp` is the clock's monotonic time at which it last came into the queue, `rejectors` the plugins that refused
    it, `pending` those of them that wait for something else than room; `unschedulable_count` and `error_count` are the
    attempts that ended that way, errors in a row only. `ticket` tells the newest entry of a heap from outdated ones.
    """

    info: PodInfo
    profile: str
    timestamp: float
    place: Place = Place.OUT
    attempts: int = 0
    unschedulable_count: int = 0
    error_count: int = 0
    rejectors: frozenset[str] = field(default_factory=frozenset)
    pending: frozenset[str] = field(default_factory=frozenset)
    gate_message: str = ""
    ticket: int = 0

    @property
    def pod(self) -> Object:
        """The pod as last seen."""
        return self.info.pod

    @property
    def key(self) -> str:
        """ "namespace/name"."""
        return self.info.key

    @property
    def uid(self) -> str:
        """The pod's UID."""
        return self.info.uid

    def renew(self, pod: Object) -> None:
        """Take over a newer version of the pod."""
        self.info = PodInfo(pod)

    def backoff(self, initial: float, limit: float) -> float:
        """Return the seconds to wait after the last attempt: `initial`, doubled each time, at most `limit`."""
        count = self.error_count or self.unschedulable_count
        return min(initial * 2 ** min(count - 1, 32), limit) if count else 0.0
