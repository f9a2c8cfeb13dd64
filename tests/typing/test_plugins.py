"""The built-in plugins have the methods that they are meant to have, as mypy and the runtime see it."""

from __future__ import annotations

import pytest

from drayman import framework, plugins
from drayman.framework import interfaces
from drayman.plugins.default_binder import DefaultBinder
from drayman.plugins.default_preemption import DefaultPreemption
from drayman.plugins.dynamic_resources import DynamicResources
from drayman.plugins.inter_pod_affinity import InterPodAffinity
from drayman.plugins.node_affinity import NodeAffinity
from drayman.plugins.node_name import NodeName
from drayman.plugins.node_ports import NodePorts
from drayman.plugins.node_resources_fit import NodeResourcesFit
from drayman.plugins.node_unschedulable import NodeUnschedulable
from drayman.plugins.priority_sort import PrioritySort
from drayman.plugins.scheduling_gates import SchedulingGates
from drayman.plugins.supported_features import SupportedFeatures
from drayman.plugins.taint_toleration import TaintToleration
from drayman.scheduler.api import ClientAPI
from drayman.scheduler.cache import Cache
from drayman.scheduler.handle import SchedulerHandle
from drayman.scheduler.recorder import BackgroundEvents

_PRE_ENQUEUE: tuple[type[interfaces.PreEnqueuePlugin], ...] = (SchedulingGates, DynamicResources)
_QUEUE_SORT: tuple[type[interfaces.QueueSortPlugin], ...] = (PrioritySort,)
_PRE_FILTER: tuple[type[interfaces.PreFilterPlugin], ...] = (
    SupportedFeatures,
    NodeName,
    NodeAffinity,
    NodePorts,
    NodeResourcesFit,
    InterPodAffinity,
    DynamicResources,
)
_FILTER: tuple[type[interfaces.FilterPlugin], ...] = (
    NodeName,
    NodeAffinity,
    NodePorts,
    InterPodAffinity,
)
_BATCH_FILTER: tuple[type[interfaces.BatchFilterPlugin], ...] = (
    NodeUnschedulable,
    TaintToleration,
    NodeResourcesFit,
    DynamicResources,
)
_POST_FILTER: tuple[type[interfaces.PostFilterPlugin], ...] = (DynamicResources, DefaultPreemption)
_PRE_SCORE: tuple[type[interfaces.PreScorePlugin], ...] = (TaintToleration, NodeAffinity, DynamicResources)
_SCORE: tuple[type[interfaces.ScorePlugin], ...] = (TaintToleration, NodeAffinity, NodeResourcesFit, DynamicResources)
_NORMALIZE: tuple[type[interfaces.NormalizeScorePlugin], ...] = (TaintToleration, NodeAffinity, DynamicResources)
_RESERVE: tuple[type[interfaces.ReservePlugin], ...] = (DynamicResources,)
_PRE_BIND: tuple[type[interfaces.PreBindPlugin], ...] = (DynamicResources,)
_BIND: tuple[type[interfaces.BindPlugin], ...] = (DefaultBinder,)
_ENQUEUE: tuple[type[interfaces.EnqueueExtensions], ...] = (
    SchedulingGates,
    SupportedFeatures,
    NodeName,
    NodeUnschedulable,
    TaintToleration,
    NodeAffinity,
    NodePorts,
    NodeResourcesFit,
    InterPodAffinity,
    DynamicResources,
)
_EXPLAIN: tuple[type[interfaces.ExplainPlugin], ...] = (DynamicResources,)

_HANDLE: type[framework.Handle] = SchedulerHandle
_API: type[framework.API] = ClientAPI
_SNAPSHOT: type[framework.Snapshot] = Cache
_EVENTS: type[framework.Events] = BackgroundEvents

_POINTS: dict[str, tuple[type, ...]] = {
    "pre_enqueue": _PRE_ENQUEUE,
    "sort_key": _QUEUE_SORT,
    "pre_filter": _PRE_FILTER,
    "filter": _FILTER,
    "filter_nodes": _BATCH_FILTER,
    "post_filter": _POST_FILTER,
    "pre_score": _PRE_SCORE,
    "score": _SCORE,
    "normalize_score": _NORMALIZE,
    "reserve": _RESERVE,
    "pre_bind": _PRE_BIND,
    "bind": _BIND,
    "events_to_register": _ENQUEUE,
    "explain": _EXPLAIN,
}


@pytest.mark.parametrize("method", _POINTS)
def test_no_plugin_has_a_method_that_is_not_listed_here(method: str) -> None:
    having = {plugin.name for plugin in plugins.BUILT_IN if hasattr(plugin, method)}
    assert having == {plugin.name for plugin in _POINTS[method]}  # type: ignore[attr-defined]  # all have a name
