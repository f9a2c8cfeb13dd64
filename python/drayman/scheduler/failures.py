"""What follows when a pod is not scheduled: it goes back to the queue, and people are told."""

from __future__ import annotations

import functools
import logging
from typing import TYPE_CHECKING

from drayman.framework.fit_error import NO_NODES, Diagnosis
from drayman.framework.queued_pod import Place
from drayman.pods.objects import key_of, node_name_of, uid_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drayman.clock import Clock
    from drayman.framework import Object, QueuedPod, Status
    from drayman.framework.queue import SchedulingQueue
    from drayman.scheduler.verdicts import Verdicts

log = logging.getLogger(__name__)

UNSCHEDULABLE = "Unschedulable"
"""Reason of a pod's condition when no node fits; autoscalers act on it."""

ERROR = "SchedulerError"
"""Reason of a pod's condition when the attempt failed otherwise."""


class Failures:
    """The ends of attempts that did not bind their pod. `pods` are the pods as last seen, by key.

    Nobody is told anything before `is_leading` is set: as long as this scheduler waits, another one does that.
    """

    queue: SchedulingQueue
    is_leading = False

    def __init__(self, verdicts: Verdicts, clock: Clock, pods: Mapping[str, Object]) -> None:
        self._verdicts = verdicts
        self._clock = clock
        self._pods = pods

    def refused(self, queued: QueuedPod, diagnosis: Diagnosis, line: str = "") -> None:
        """Let the pod wait for a change that may help, and say why no node fits; `line` explains."""
        rejectors = diagnosis.rejectors()
        if rejectors:
            self.queue.retry_refused(queued, rejectors, diagnosis.pending())
        else:
            self.queue.retry_failed(queued)
        self._tell(queued, UNSCHEDULABLE, diagnosis.message(), line)

    def no_nodes(self, queued: QueuedPod) -> None:
        """Try again after a while: the cluster has no node yet."""
        self.queue.retry_failed(queued)
        self._tell(queued, UNSCHEDULABLE, NO_NODES)

    def failed(self, queued: QueuedPod, status: Status) -> None:
        """Try again after a while, and say what went wrong."""
        log.warning("pod %s: %s", queued.key, status.message)
        self.queue.retry_failed(queued)
        self._tell(queued, ERROR, status.message)

    def gated(self, queued: QueuedPod, status: Status) -> None:
        """Say why PreEnqueue holds the pod back, where its plugin wants that and if it still does after a while."""
        if status.notice is not None:
            self._clock.call_later(status.notice.delay, functools.partial(self._notice, queued, status))

    def _notice(self, queued: QueuedPod, status: Status) -> None:
        still_held = queued.place is Place.GATED and queued.gate_message == status.message
        if not still_held or self.queue.get(queued.key) is not queued or status.notice is None:
            return
        if not self.is_leading:
            self.gated(queued, status)
        else:
            self._tell(queued, status.notice.reason, status.message)

    def _tell(self, queued: QueuedPod, reason: str, text: str, line: str = "") -> None:
        """Write condition and event, unless the pod is gone, another one by now, or was bound by somebody else."""
        newest = self._pods.get(key_of(queued.pod))
        if newest is not None and uid_of(newest) == queued.uid and not node_name_of(newest):
            self._verdicts.failed(newest, reason, text, line)
