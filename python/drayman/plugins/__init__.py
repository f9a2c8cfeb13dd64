"""The built-in plugins, in the order of upstream's default profile, with the weights of their scores.

They reach the scheduler only through the framework's handle.
"""

from __future__ import annotations

from collections.abc import Mapping

from drayman.framework import PluginClass
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

BUILT_IN: tuple[PluginClass, ...] = (
    SchedulingGates,
    PrioritySort,
    SupportedFeatures,
    NodeName,
    NodeUnschedulable,
    TaintToleration,
    NodeAffinity,
    NodePorts,
    NodeResourcesFit,
    InterPodAffinity,
    DynamicResources,
    DefaultPreemption,
    DefaultBinder,
)
"""The default profile."""

WEIGHTS: Mapping[str, int] = {"TaintToleration": 3, "NodeAffinity": 2, "NodeResourcesFit": 1, "DynamicResources": 2}
"""Weights of scores in upstream's default profile."""
