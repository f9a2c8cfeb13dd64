"""The extension points of the scheduling framework, as protocols.

A plugin is a class with a `name` and the methods that it implements; nothing is inherited or declared. Order and
meaning are upstream's. Methods without `async` must not wait: nothing in the picture of the cluster changes from
PreFilter to Reserve because none of them does. Objects and nodes are only read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from drayman.framework.cycle_state import CycleState
from drayman.framework.events import Registration
from drayman.framework.handle import Handle
from drayman.framework.queued_pod import QueuedPod
from drayman.framework.status import Status
from drayman.pods.node_info import NodeInfo
from drayman.pods.objects import Object

MAX_NODE_SCORE = 100
"""The highest score of a node after normalisation; the lowest is 0."""


class Plugin(Protocol):
    """Every plugin."""

    name: str


class PluginClass(Protocol):
    """What is registered: makes the plugin of one profile.

    `arguments` are the `args` of its entry in `pluginConfig`, empty when it has none; raises
    :class:`~drayman.errors.InputError` when they are wrong.
    """

    name: str

    def __call__(self, arguments: Mapping[str, Any], handle: Handle, /) -> Plugin:
        """Make the plugin."""


@dataclass(frozen=True, slots=True)
class PreFilterResult:
    """The only nodes that can fit; None means that PreFilter does not tell."""

    node_names: frozenset[str] | None = None


@runtime_checkable
class PreEnqueuePlugin(Plugin, Protocol):
    """Decides whether a pod may be attempted at all."""

    def pre_enqueue(self, pod: Object) -> Status:
        """Return success, or a rejection: the pod is held back until a change that the plugin registered for."""


@runtime_checkable
class QueueSortPlugin(Plugin, Protocol):
    """Orders the pods that are ready. All profiles need the same one."""

    def sort_key(self, pod: QueuedPod) -> tuple[float, ...]:
        """Return what pods are sorted by, smallest first. Upstream's `Less`, made for heaps."""


@runtime_checkable
class EnqueueExtensions(Plugin, Protocol):
    """Names the changes that may make a pod fit that the plugin refused. A plugin without it is woken by any change."""

    def events_to_register(self) -> Sequence[Registration]:
        """Return the changes. Called once."""


@runtime_checkable
class PreFilterPlugin(Plugin, Protocol):
    """Looks at the pod once, before the nodes."""

    def pre_filter(self, state: CycleState, pod: Object) -> tuple[Status, PreFilterResult | None]:
        """Prepare Filter. SKIP leaves the plugin's Filter out; a rejection refuses the pod on all nodes."""


@runtime_checkable
class FilterPlugin(Plugin, Protocol):
    """Decides whether one node can run the pod."""

    def filter(self, state: CycleState, pod: Object, node: NodeInfo) -> Status:
        """Return success, `UNSCHEDULABLE` if removing pods from this node could help, `UNSCHEDULABLE_AND_UNRESOLVABLE`
        if not. `ERROR` ends the whole attempt: keep it for broken input. Only called for nodes that all plugins before
        this one accept.
        """


@runtime_checkable
class BatchFilterPlugin(Plugin, Protocol):
    """Decides for all nodes at once; takes the place of :class:`FilterPlugin` where a plugin has both."""

    def filter_nodes(self, state: CycleState, pod: Object, nodes: Sequence[NodeInfo]) -> Sequence[Status | bool]:
        """Return for each of `nodes`, in their order, a status as `filter` would, or a plain yes or no."""


@runtime_checkable
class PostFilterPlugin(Plugin, Protocol):
    """Makes room for a later attempt when no node fits."""

    async def post_filter(self, state: CycleState, pod: Object, statuses: Mapping[str, Status]) -> Status:
        """Return `UNSCHEDULABLE` with reasons for the pod's message; success ends the chain of these plugins.

        `statuses` has the refusal of each node.
        """


@runtime_checkable
class PreScorePlugin(Plugin, Protocol):
    """Looks at the feasible nodes together, before they are scored."""

    def pre_score(self, state: CycleState, pod: Object, nodes: Sequence[NodeInfo]) -> Status:
        """Prepare Score; SKIP leaves it out."""


@runtime_checkable
class ScorePlugin(Plugin, Protocol):
    """Ranks the feasible nodes."""

    def score(self, state: CycleState, pod: Object, node: NodeInfo) -> int:
        """Return how good `node` is: 0 to 100, or any integer when the plugin normalises."""


@runtime_checkable
class NormalizeScorePlugin(ScorePlugin, Protocol):
    """Brings its scores into 0 to 100."""

    def normalize_score(self, state: CycleState, pod: Object, scores: Sequence[int]) -> Sequence[int]:
        """Return the scores of all feasible nodes, in their order, between 0 and 100."""


@runtime_checkable
class ReservePlugin(Plugin, Protocol):
    """Keeps state in step with the choice of a node."""

    def reserve(self, state: CycleState, pod: Object, node_name: str) -> Status:
        """Take what the pod needs on the node, in memory."""

    async def unreserve(self, state: CycleState, pod: Object, node_name: str) -> None:
        """Undo :meth:`reserve` and what followed it. Called for all plugins, in reverse order, also for those whose
        `reserve` was never called; must be safe to repeat.
        """


@runtime_checkable
class PermitPlugin(Plugin, Protocol):
    """Has the last word before binding begins."""

    def permit(self, state: CycleState, pod: Object, node_name: str) -> tuple[Status, float]:
        """Return success, a rejection, or WAIT with the seconds after which waiting means rejection."""


@runtime_checkable
class PreBindPlugin(Plugin, Protocol):
    """Does what must be done before the pod is bound. Several pods are at this point at the same time."""

    async def pre_bind(self, state: CycleState, pod: Object, node_name: str) -> Status:
        """Write to the API server, or wait. Any status but success sends the pod back."""


@runtime_checkable
class BindPlugin(Plugin, Protocol):
    """Binds the pod."""

    async def bind(self, state: CycleState, pod: Object, node_name: str) -> Status:
        """Bind, or return SKIP to leave it to the next plugin."""


@runtime_checkable
class PostBindPlugin(Plugin, Protocol):
    """Learns that the pod is bound."""

    def post_bind(self, state: CycleState, pod: Object, node_name: str) -> None:
        """Clean up."""


@runtime_checkable
class ExplainPlugin(Plugin, Protocol):
    """Adds to upstream's text why the pod does not fit. An extension point of drayman's own."""

    def explain(self, state: CycleState, pod: Object) -> str:
        """Return one line about the nodes that are nearest to fitting; empty when there is nothing to add."""
