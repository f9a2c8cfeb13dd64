"""The plugins of one profile, run extension point by extension point, with upstream's texts around their errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from drayman.framework import interfaces
from drayman.framework.events import ANY_CHANGE, Registration
from drayman.framework.status import SUCCESS, Code, Status, failed, unresolvable, unschedulable
from drayman.framework.waiting import WaitingPod

if TYPE_CHECKING:
    from drayman.clock import Clock
    from drayman.framework.cycle_state import CycleState
    from drayman.framework.fit_error import Diagnosis
    from drayman.framework.interfaces import Plugin
    from drayman.framework.queued_pod import QueuedPod
    from drayman.pods.node_info import NodeInfo
    from drayman.pods.objects import Object

_FILTERS = (interfaces.FilterPlugin, interfaces.BatchFilterPlugin)
_FilterNodes: TypeAlias = "Callable[[CycleState, Object, Sequence[NodeInfo]], Sequence[Status]]"

MAX_PERMIT_SECONDS = 15 * 60.0
"""The longest time for which a Permit plugin may hold a pod."""


class PluginError(Exception):
    """A plugin failed; the attempt ends with `status`."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.message)
        self.status = status


class Runtime:
    """One profile: `plugins` in the order in which they run, `weights` of their scores (1 where not given)."""

    def __init__(
        self, name: str, plugins: Sequence[Plugin], clock: Clock, *, weights: Mapping[str, int] | None = None
    ) -> None:
        self.name = name
        self._clock = clock
        self._weights = weights or {}
        self._waiting: dict[str, WaitingPod] = {}
        self._pre_enqueue = [plugin for plugin in plugins if isinstance(plugin, interfaces.PreEnqueuePlugin)]
        self._pre_filter = [plugin for plugin in plugins if isinstance(plugin, interfaces.PreFilterPlugin)]
        self._post_filter = [plugin for plugin in plugins if isinstance(plugin, interfaces.PostFilterPlugin)]
        self._pre_score = [plugin for plugin in plugins if isinstance(plugin, interfaces.PreScorePlugin)]
        self._score = [plugin for plugin in plugins if isinstance(plugin, interfaces.ScorePlugin)]
        self._reserve = [plugin for plugin in plugins if isinstance(plugin, interfaces.ReservePlugin)]
        self._permit = [plugin for plugin in plugins if isinstance(plugin, interfaces.PermitPlugin)]
        self._pre_bind = [plugin for plugin in plugins if isinstance(plugin, interfaces.PreBindPlugin)]
        self._bind = [plugin for plugin in plugins if isinstance(plugin, interfaces.BindPlugin)]
        self._post_bind = [plugin for plugin in plugins if isinstance(plugin, interfaces.PostBindPlugin)]
        self._explain = [plugin for plugin in plugins if isinstance(plugin, interfaces.ExplainPlugin)]
        self._filter = [_batch_form(plugin) for plugin in plugins if isinstance(plugin, _FILTERS)]
        (self._queue_sort,) = [plugin for plugin in plugins if isinstance(plugin, interfaces.QueueSortPlugin)]
        self.registrations: Mapping[str, Sequence[Registration]] = {
            plugin.name: plugin.events_to_register() if isinstance(plugin, interfaces.EnqueueExtensions) else ANY_CHANGE
            for plugin in plugins
        }

    def sort_key(self, pod: QueuedPod) -> tuple[float, ...]:
        """Return what ready pods are sorted by."""
        return self._queue_sort.sort_key(pod)

    def pre_enqueue(self, pod: Object) -> Status:
        """Return the first objection against attempting `pod`."""
        for plugin in self._pre_enqueue:
            status = plugin.pre_enqueue(pod)
            if not status.is_success:
                return status.by(plugin.name)
        return SUCCESS

    def pre_filter(self, state: CycleState, pod: Object, diagnosis: Diagnosis) -> tuple[Status, frozenset[str] | None]:
        """Run PreFilter; return its verdict and, when plugins narrow them down, the names of the nodes to look at.

        A rejection that pods could be removed for lets the other plugins have their say; the last such one counts.
        """
        verdict, names = SUCCESS, None
        narrowing: set[str] = set()
        for plugin in self._pre_filter:
            status, result = plugin.pre_filter(state, pod)
            if status.is_skip:
                state.skip_filter.add(plugin.name)
                continue
            if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                return status.by(plugin.name), None
            if status.code is Code.UNSCHEDULABLE:
                verdict = status.by(plugin.name)
                continue
            if not status.is_success:
                return failed(f'running PreFilter plugin "{plugin.name}": {status.message}').by(plugin.name), None
            if result is not None and result.node_names is not None:
                narrowing.add(plugin.name)
                names = result.node_names if names is None else names & result.node_names
                if not names:
                    return _nothing_left(narrowing), None
        if narrowing:
            named = " ".join(sorted(narrowing))
            diagnosis.narrowed = unresolvable(f"node(s) didn't satisfy plugin(s) [{named}]").by(min(narrowing))
        return verdict, names

    def filter(self, state: CycleState, pod: Object, nodes: Sequence[NodeInfo], diagnosis: Diagnosis) -> list[NodeInfo]:
        """Return the nodes that all plugins accept, and note the others' statuses in `diagnosis`.

        Plugins come one after the other, each for the nodes that those before it left: the same statuses as upstream's
        node after node, and a batch form can answer for all of them at once. Raises :class:`PluginError`.
        """
        left = list(nodes)
        for name, filter_nodes in self._filter:
            if not left or name in state.skip_filter:
                continue
            answers = list(zip(left, filter_nodes(state, pod, left), strict=True))
            left = [node for node, status in answers if status.is_success]
            if len(left) < len(answers):
                diagnosis.statuses |= _refusals(name, answers)
        return left

    async def post_filter(self, state: CycleState, pod: Object, statuses: Mapping[str, Status]) -> Status:
        """Run PostFilter until one succeeds or says that nothing can help."""
        reasons: list[str] = []
        for plugin in self._post_filter:
            status = await plugin.post_filter(state, pod, statuses)
            if status.code is not Code.UNSCHEDULABLE:
                return status.by(plugin.name)
            reasons += status.reasons
        return unschedulable(*reasons)

    def score(self, state: CycleState, pod: Object, nodes: Sequence[NodeInfo]) -> list[int]:
        """Return the weighted sum of the scores of each of `nodes`. Raises :class:`PluginError`."""
        for prepared in self._pre_score:
            status = prepared.pre_score(state, pod, nodes)
            if status.is_skip:
                state.skip_score.add(prepared.name)
            elif not status.is_success:
                text = f'running PreScore plugin "{prepared.name}": {status.message}'
                raise PluginError(failed(text).by(prepared.name))
        totals = [0] * len(nodes)
        for plugin in self._score:
            if plugin.name in state.skip_score:
                continue
            scores: Sequence[int] = [plugin.score(state, pod, node) for node in nodes]
            if isinstance(plugin, interfaces.NormalizeScorePlugin):
                scores = plugin.normalize_score(state, pod, scores)
            weight = self._weights.get(plugin.name, 1)
            for index, (node, score) in enumerate(zip(nodes, scores, strict=True)):
                if not 0 <= score <= interfaces.MAX_NODE_SCORE:
                    raise PluginError(failed(_invalid_score(plugin.name, node.name, score)).by(plugin.name))
                totals[index] += weight * score
        return totals

    def reserve(self, state: CycleState, pod: Object, node_name: str) -> Status:
        """Run Reserve; the caller runs :meth:`unreserve` when it does not succeed."""
        for plugin in self._reserve:
            status = plugin.reserve(state, pod, node_name)
            if status.is_rejected:
                return status.by(plugin.name)
            if not status.is_success:
                return failed(f'running Reserve plugin "{plugin.name}": {status.message}')
        return SUCCESS

    async def unreserve(self, state: CycleState, pod: Object, node_name: str) -> None:
        """Run Unreserve of all plugins, in reverse order."""
        for plugin in reversed(self._reserve):
            await plugin.unreserve(state, pod, node_name)

    def permit(self, state: CycleState, pod: Object, node_name: str) -> Status:
        """Run Permit; with WAIT, :meth:`wait_on_permit` tells the outcome."""
        timeouts: dict[str, float] = {}
        for plugin in self._permit:
            status, seconds = plugin.permit(state, pod, node_name)
            if status.code is Code.WAIT:
                timeouts[plugin.name] = min(seconds, MAX_PERMIT_SECONDS)
            elif status.is_rejected:
                return status.by(plugin.name)
            elif not status.is_success:
                return failed(f'running Permit plugin "{plugin.name}": {status.message}').by(plugin.name)
        if not timeouts:
            return SUCCESS
        self._waiting[pod["metadata"]["uid"]] = WaitingPod(pod, timeouts, self._clock)
        return Status(Code.WAIT, ("one or more plugins asked to wait and no plugin rejected pod",))

    def waiting_pod(self, uid: str) -> WaitingPod | None:
        """Return the pod that Permit plugins hold back."""
        return self._waiting.get(uid)

    async def wait_on_permit(self, pod: Object) -> Status:
        """Wait until the Permit plugins have decided."""
        uid = pod["metadata"]["uid"]
        waiting = self._waiting.get(uid)
        if waiting is None:
            return SUCCESS
        try:
            return await waiting.verdict()
        finally:
            del self._waiting[uid]

    async def pre_bind(self, state: CycleState, pod: Object, node_name: str) -> Status:
        """Run PreBind until one plugin does not succeed."""
        for plugin in self._pre_bind:
            status = await plugin.pre_bind(state, pod, node_name)
            if status.is_rejected:
                return status.by(plugin.name)
            if not status.is_success:
                return failed(f'running PreBind plugin "{plugin.name}": {status.message}')
        return SUCCESS

    async def bind(self, state: CycleState, pod: Object, node_name: str) -> Status:
        """Run Bind until one plugin does not skip."""
        for plugin in self._bind:
            status = await plugin.bind(state, pod, node_name)
            if status.is_skip:
                continue
            if status.is_rejected:
                return status.by(plugin.name)
            if not status.is_success:
                return failed(f'running Bind plugin "{plugin.name}": {status.message}')
            return status
        return failed("no Bind plugin took the pod")

    def post_bind(self, state: CycleState, pod: Object, node_name: str) -> None:
        """Run PostBind."""
        for plugin in self._post_bind:
            plugin.post_bind(state, pod, node_name)

    def explain(self, state: CycleState, pod: Object) -> str:
        """Return the first explanation that a plugin has."""
        return next((text for plugin in self._explain if (text := plugin.explain(state, pod))), "")


def _batch_form(plugin: interfaces.FilterPlugin | interfaces.BatchFilterPlugin) -> tuple[str, _FilterNodes]:
    """Return the plugin's name and its filter for many nodes, whichever form it is written in."""
    if isinstance(plugin, interfaces.BatchFilterPlugin):
        batch = plugin
        refusal = unschedulable(f"node(s) didn't satisfy plugin {plugin.name}")

        def whole(state: CycleState, pod: Object, nodes: Sequence[NodeInfo]) -> list[Status]:
            answers = batch.filter_nodes(state, pod, nodes)
            return [answer if isinstance(answer, Status) else SUCCESS if answer else refusal for answer in answers]

        return plugin.name, whole
    single = plugin

    def one_by_one(state: CycleState, pod: Object, nodes: Sequence[NodeInfo]) -> list[Status]:
        return [single.filter(state, pod, node) for node in nodes]

    return plugin.name, one_by_one


def _refusals(plugin: str, answers: Iterable[tuple[NodeInfo, Status]]) -> dict[str, Status]:
    """Return the refusals among `answers`, by node. Raises :class:`PluginError` for the first error."""
    refusals = {}
    for node, status in answers:
        if status.is_rejected:
            refusals[node.name] = status.by(plugin)
        elif not status.is_success:
            raise PluginError(failed(f'running "{plugin}" filter plugin: {status.message}').by(plugin))
    return refusals


def _nothing_left(narrowing: set[str]) -> Status:
    named = " ".join(sorted(narrowing))
    if len(narrowing) == 1:
        return unresolvable(f"node(s) didn't satisfy plugin {named}").by(min(narrowing))
    return unresolvable(f"node(s) didn't satisfy plugin(s) [{named}] simultaneously").by(min(narrowing))


def _invalid_score(plugin: str, node: str, score: int) -> str:
    return (
        f'plugin "{plugin}" returns an invalid score {score} for node "{node}", '
        f"it should in the range of [0, {interfaces.MAX_NODE_SCORE}] after normalizing"
    )
