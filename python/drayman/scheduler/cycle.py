"""One attempt at one pod: choosing a node, then binding in the background."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drayman.framework import (
    Action,
    ClusterEvent,
    Code,
    CycleState,
    EventResource,
    Happening,
    Object,
    QueuedPod,
    Status,
)
from drayman.framework.fit_error import Diagnosis
from drayman.framework.runtime import PluginError, Runtime
from drayman.pods.objects import is_being_deleted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from drayman.clock import Clock
    from drayman.framework import Events, NodeInfo
    from drayman.framework.queue import SchedulingQueue
    from drayman.scheduler.cache import Cache
    from drayman.scheduler.failures import Failures

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Placement:
    """A pod on its way to a node."""

    queued: QueuedPod
    pod: Object
    runtime: Runtime
    state: CycleState
    node: str


class SchedulingCycle:
    """Takes pods from the queue one after the other; each is bound by a task of `group`.

    `attempt_since` is when the attempt in progress began, in the clock's monotonic time; None between attempts.
    """

    def __init__(
        self,
        *,
        queue: SchedulingQueue,
        cache: Cache,
        runtimes: Mapping[str, Runtime],
        events: Events,
        failures: Failures,
        random: Random | None,
        clock: Clock,
        group: asyncio.TaskGroup,
    ) -> None:
        self.attempt_since: float | None = None
        self._clock = clock
        self._queue = queue
        self._cache = cache
        self._runtimes = runtimes
        self._events = events
        self._failures = failures
        self._random = random
        self._group = group

    async def run(self) -> None:
        """Schedule until cancelled."""
        while True:
            queued = await self._queue.pop()
            if not self._is_obsolete(queued):
                self.attempt_since = self._clock.monotonic()
                await self._attempt(queued)
                self.attempt_since = None

    def _is_obsolete(self, queued: QueuedPod) -> bool:
        """Drop a pod that is on its way out or being bound already."""
        pod = queued.pod
        if is_being_deleted(pod):
            note = f"skip schedule deleting pod: {queued.key}"
            self._events.record(pod, "Warning", "FailedScheduling", "Scheduling", note)
        elif not self._cache.is_assumed(queued.uid):
            return False
        self._queue.done(queued)
        return True

    async def _attempt(self, queued: QueuedPod) -> None:
        nodes = self._cache.nodes()
        if not nodes:
            self._failures.no_nodes(queued)
            return
        runtime, state, pod = self._runtimes[queued.profile], CycleState(), queued.pod
        diagnosis = Diagnosis([node.name for node in nodes])
        try:
            node = self._choose(runtime, state, pod, nodes, diagnosis)
        except PluginError as error:
            self._failures.failed(queued, error.status)
            return
        if node is None:
            status = await runtime.post_filter(state, pod, diagnosis.all_statuses())
            diagnosis.post_filter = status.message
            self._failures.refused(queued, diagnosis, runtime.explain(state, pod))
            return
        await self._place(Placement(queued, pod, runtime, state, node))

    def _choose(
        self, runtime: Runtime, state: CycleState, pod: Object, nodes: Sequence[NodeInfo], diagnosis: Diagnosis
    ) -> str | None:
        """Return the best node; None, with the reasons in `diagnosis`, when none fits. Raises :class:`PluginError`."""
        status, names = runtime.pre_filter(state, pod, diagnosis)
        if status.is_rejected:
            diagnosis.pre_filter = status
            return None
        if not status.is_success:
            raise PluginError(status)
        if names is not None:
            nodes = [node for node in nodes if node.name in names]
        feasible = runtime.filter(state, pod, nodes, diagnosis)
        if len(feasible) < 2:
            return feasible[0].name if feasible else None
        scores = runtime.score(state, pod, feasible)
        best = max(scores)
        equals = [node.name for node, score in zip(feasible, scores, strict=True) if score == best]
        return equals[0] if self._random is None else self._random.choice(equals)

    async def _place(self, placement: Placement) -> None:
        """Take the node in memory, then let the pod be bound in the background."""
        runtime, state, pod, node = placement.runtime, placement.state, placement.pod, placement.node
        self._cache.assume(pod, node)
        status = runtime.reserve(state, pod, node)
        if status.is_success:
            status = runtime.permit(state, pod, node)
        if status.is_success or status.code is Code.WAIT:
            self._group.create_task(self._bind(placement), name=f"binding of pod {placement.queued.key}")
            return
        await self._undo(placement)
        self._give_back(placement, status)

    async def _bind(self, placement: Placement) -> None:
        queued, runtime, pod = placement.queued, placement.runtime, placement.pod
        status = await runtime.wait_on_permit(pod)
        if status.is_success:
            # What happens from here on does not matter to the pod: it is not going to be refused any more.
            self._queue.done(queued)
            status = await runtime.pre_bind(placement.state, pod, placement.node)
        if status.is_success:
            status = await runtime.bind(placement.state, pod, placement.node)
        if not status.is_success:
            await self._undo(placement)
            self._queue.move(Happening(_POD_GONE, pod, None))
            self._give_back(placement, status)
            return
        note = f"Successfully assigned {queued.key} to {placement.node}"
        self._events.record(pod, "Normal", "Scheduled", "Binding", note)
        log.info("pod %s is bound to node %s", queued.key, placement.node)
        runtime.post_bind(placement.state, pod, placement.node)

    async def _undo(self, placement: Placement) -> None:
        await placement.runtime.unreserve(placement.state, placement.pod, placement.node)
        self._cache.forget(placement.queued.uid)

    def _give_back(self, placement: Placement, status: Status) -> None:
        if status.is_rejected:
            diagnosis = Diagnosis([placement.node], {placement.node: status})
            self._failures.refused(placement.queued, diagnosis)
        else:
            self._failures.failed(placement.queued, status)


_POD_GONE = ClusterEvent(EventResource.ASSIGNED_POD, Action.DELETE)
