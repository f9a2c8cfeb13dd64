"""The plugins that look at nodes."""

from __future__ import annotations

from typing import Any

import pytest

from drayman.framework import SKIP, SUCCESS, Code, CycleState, Handle, Status, unresolvable, unschedulable
from drayman.plugins.default_preemption import DefaultPreemption
from drayman.plugins.inter_pod_affinity import InterPodAffinity
from drayman.plugins.node_affinity import NodeAffinity
from drayman.plugins.node_name import NodeName
from drayman.plugins.node_ports import NodePorts
from drayman.plugins.node_resources_fit import NodeResourcesFit
from drayman.plugins.node_unschedulable import NodeUnschedulable
from drayman.plugins.supported_features import unsupported_fields
from drayman.plugins.taint_toleration import TaintToleration

CORDON = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}


def requests(**quantities: str) -> list[dict[str, Any]]:
    return [{"name": "main", "resources": {"requests": quantities}}]


def required(*expressions: dict[str, Any], fields: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    term = {"matchExpressions": list(expressions), **({"matchFields": fields} if fields else {})}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


def test_named_node_is_the_only_one(handle: Handle, state: CycleState, pod: Any, node: Any) -> None:
    plugin, named = NodeName({}, handle), pod(nodeName="n1")
    assert plugin.filter(state, named, node("n1")) == SUCCESS
    assert plugin.filter(state, named, node("n2")) == unresolvable("node(s) didn't match the requested node name")
    assert plugin.pre_filter(state, pod()) == (SKIP, None)


def test_cordoned_node_takes_only_pods_that_tolerate_it(handle: Handle, state: CycleState, pod: Any, node: Any) -> None:
    plugin, nodes = NodeUnschedulable({}, handle), [node("n1", unschedulable=True), node("n2")]
    assert plugin.filter_nodes(state, pod(), nodes) == [unresolvable("node(s) were unschedulable"), SUCCESS]
    assert plugin.filter_nodes(state, pod(tolerations=[CORDON]), nodes) == [SUCCESS, SUCCESS]


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        ({"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}, True),
        ({"key": "k", "value": "v"}, True),
        ({"key": "k", "operator": "Exists"}, True),
        ({"operator": "Exists"}, True),
        ({"key": "k", "value": "other"}, False),
        ({"key": "other", "operator": "Exists"}, False),
        ({"key": "k", "operator": "Exists", "effect": "NoExecute"}, False),
    ],
)
def test_taint_and_toleration(
    handle: Handle, state: CycleState, pod: Any, node: Any, toleration: dict[str, str], tolerated: bool
) -> None:
    tainted = node(taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}])
    expected = SUCCESS if tolerated else unresolvable("node(s) had untolerated taint(s)")
    assert TaintToleration({}, handle).filter_nodes(state, pod(tolerations=[toleration]), [tainted]) == [expected]


def test_soft_taints_only_lower_the_score(handle: Handle, state: CycleState, pod: Any, node: Any) -> None:
    plugin = TaintToleration({}, handle)
    nodes = [node("n1", taints=[{"key": "k", "effect": "PreferNoSchedule"}]), node("n2")]
    assert plugin.filter_nodes(state, pod(), nodes) == [SUCCESS, SUCCESS]
    assert plugin.pre_score(state, pod(), nodes) == SUCCESS
    assert plugin.normalize_score(state, pod(), [plugin.score(state, pod(), each) for each in nodes]) == [0, 100]
    assert plugin.pre_score(state, pod(), nodes[1:]) == SKIP


def test_node_affinity_and_selector_both_have_to_hold(handle: Handle, state: CycleState, pod: Any, node: Any) -> None:
    plugin = NodeAffinity({}, handle)
    wanted = pod(nodeSelector={"zone": "a"}, affinity=required({"key": "size", "operator": "Exists"}))
    refusal = unresolvable("node(s) didn't match Pod's node affinity/selector")
    assert plugin.filter(state, wanted, node(labels={"zone": "a", "size": "8"})) == SUCCESS
    assert plugin.filter(state, wanted, node(labels={"zone": "a"})) == refusal
    assert plugin.filter(state, wanted, node(labels={"size": "8"})) == refusal


def test_node_affinity_by_name_narrows_the_nodes(handle: Handle, state: CycleState, pod: Any) -> None:
    plugin = NodeAffinity({}, handle)
    by_name = [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]
    status, result = plugin.pre_filter(state, pod(affinity=required(fields=by_name)))
    assert status == SUCCESS
    assert result is not None
    assert result.node_names == {"n1"}

    both = [*by_name, {"key": "metadata.name", "operator": "In", "values": ["n2"]}]
    assert plugin.pre_filter(state, pod(affinity=required(fields=both))) == (
        unresolvable("pod affinity terms conflict"),
        None,
    )


def test_preferred_node_affinity_adds_weights(handle: Handle, state: CycleState, pod: Any, node: Any) -> None:
    plugin = NodeAffinity({}, handle)
    terms = [
        {"weight": 10, "preference": {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}},
        {"weight": 5, "preference": {"matchExpressions": [{"key": "size", "operator": "Exists"}]}},
    ]
    wanted = pod(affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}})
    assert plugin.pre_score(state, wanted, []) == SUCCESS
    assert plugin.score(state, wanted, node(labels={"zone": "a", "size": "8"})) == 15
    assert plugin.score(state, wanted, node(labels={"size": "8"})) == 5
    assert plugin.pre_score(state, pod(), []) == SKIP


def test_enforced_node_affinity_holds_for_every_pod(handle: Handle, state: CycleState, pod: Any, node: Any) -> None:
    added = required({"key": "zone", "operator": "In", "values": ["a"]})["nodeAffinity"]
    plugin = NodeAffinity({"addedAffinity": added}, handle)
    assert plugin.pre_filter(state, pod())[0] == SUCCESS
    assert plugin.filter(state, pod(), node()) == unresolvable("node(s) didn't match scheduler-enforced node affinity")


@pytest.mark.parametrize(
    ("taken", "wanted", "free"),
    [
        ({"hostPort": 80}, {"hostPort": 80}, False),
        ({"hostPort": 80}, {"hostPort": 81}, True),
        ({"hostPort": 80, "protocol": "UDP"}, {"hostPort": 80}, True),
        ({"hostPort": 80, "hostIP": "10.0.0.1"}, {"hostPort": 80, "hostIP": "10.0.0.2"}, True),
        ({"hostPort": 80, "hostIP": "10.0.0.1"}, {"hostPort": 80}, False),
    ],
)
def test_host_ports(
    handle: Handle, state: CycleState, pod: Any, node: Any, taken: dict[str, Any], wanted: dict[str, Any], free: bool
) -> None:
    plugin = NodePorts({}, handle)
    resident = pod("resident", containers=[{"name": "c", "ports": [taken]}])
    plugin.pre_filter(state, pod(containers=[{"name": "c", "ports": [wanted]}]))
    expected = SUCCESS if free else unschedulable("node(s) didn't have free ports for the requested pod ports")
    assert plugin.filter(state, pod(), node("n1", resident)) == expected


def test_resources_that_are_short_are_named(handle: Handle, state: CycleState, pod: Any, node: Any) -> None:
    plugin = NodeResourcesFit({}, handle)
    wanted = pod(containers=requests(cpu="2", memory="4Gi"))
    busy = node("n1", pod("resident", containers=requests(cpu="3", memory="5Gi")))
    plugin.pre_filter(state, wanted)
    assert plugin.filter_nodes(state, wanted, [busy, node("n2")]) == [
        unschedulable("Insufficient cpu", "Insufficient memory"),
        SUCCESS,
    ]


def test_more_than_a_node_ever_has_cannot_be_resolved(handle: Handle, state: CycleState, pod: Any, node: Any) -> None:
    plugin = NodeResourcesFit({}, handle)
    wanted = pod(containers=[{"name": "c", "resources": {"requests": {"example.com/gpu": "1"}}}])
    plugin.pre_filter(state, wanted)
    assert plugin.filter_nodes(state, wanted, [node()]) == [
        Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("Insufficient example.com/gpu",))
    ]


def test_ignored_resources_are_not_looked_at(handle: Handle, state: CycleState, pod: Any, node: Any) -> None:
    plugin = NodeResourcesFit({"ignoredResourceGroups": ["example.com"]}, handle)
    wanted = pod(containers=[{"name": "c", "resources": {"requests": {"example.com/gpu": "1"}}}])
    plugin.pre_filter(state, wanted)
    assert plugin.filter_nodes(state, wanted, [node()]) == [SUCCESS]


def test_node_with_all_its_pods_takes_no_more(handle: Handle, state: CycleState, pod: Any, node: Any) -> None:
    plugin = NodeResourcesFit({}, handle)
    full = node("n1", *(pod(f"p{index}") for index in range(10)))
    plugin.pre_filter(state, pod())
    assert plugin.filter_nodes(state, pod(), [full]) == [unschedulable("Too many pods")]


def test_emptier_node_scores_higher(handle: Handle, state: CycleState, pod: Any, node: Any) -> None:
    plugin = NodeResourcesFit({}, handle)
    wanted = pod(containers=requests(cpu="1", memory="2Gi"))
    plugin.pre_filter(state, wanted)
    assert plugin.score(state, wanted, node()) == 75
    assert plugin.score(state, wanted, node("n1", pod("r", containers=requests(cpu="2", memory="4Gi")))) == 25


def test_resident_with_anti_affinity_keeps_matching_pods_out_of_its_zone(
    handle: Handle, state: CycleState, pod: Any
) -> None:
    plugin = InterPodAffinity({}, handle)
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}}
    rules = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    cache: Any = handle.snapshot
    for name, zone in (("n1", "a"), ("n2", "a"), ("n3", "b")):
        cache.set_node({"metadata": {"name": name, "labels": {"zone": zone}}})
    cache.set_pod(pod("resident", affinity=rules, nodeName="n1"))

    web, other = pod("web", labels={"app": "web"}), pod("other", labels={"app": "db"})
    assert plugin.pre_filter(state, other) == (SKIP, None)
    assert plugin.pre_filter(state, web) == (SUCCESS, None)
    refusal = unschedulable("node(s) didn't satisfy existing pods anti-affinity rules")
    assert [plugin.filter(state, web, each) for each in cache.nodes()] == [refusal, refusal, SUCCESS]


async def test_pod_that_must_not_preempt_says_so(handle: Handle, state: CycleState, pod: Any) -> None:
    status = await DefaultPreemption({}, handle).post_filter(state, pod(preemptionPolicy="Never"), {})
    assert status == unschedulable("preemption: not eligible due to preemptionPolicy=Never.")


async def test_preemption_that_could_help_is_named_as_not_supported(
    handle: Handle, state: CycleState, pod: Any
) -> None:
    cache: Any = handle.snapshot
    for name in ("n1", "n2", "n3"):
        cache.set_node({"metadata": {"name": name}})
    cache.set_pod(pod("low", nodeName="n1"))
    cache.set_pod(pod("high", nodeName="n2", priority=10))
    short = unschedulable("Insufficient cpu")
    statuses = {"n1": short, "n2": short, "n3": unresolvable("node(s) were unschedulable")}

    status = await DefaultPreemption({}, handle).post_filter(state, pod(priority=5), statuses)

    assert status.message == (
        "preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, "
        "1 Preemption is not helpful for scheduling, 1 preemption is not supported by drayman."
    )


def test_every_unsupported_field_is_named(pod: Any) -> None:
    term = {"topologyKey": "zone"}
    asking = pod(
        affinity={
            "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}
        },
        topologySpreadConstraints=[{"topologyKey": "zone"}],
        schedulingGroup={"podGroupName": "g"},
        volumes=[{"name": "a", "emptyDir": {}}, {"name": "b", "ephemeral": {}}],
    )
    assert list(unsupported_fields(asking)) == [
        "spec.affinity.podAffinity",
        "spec.topologySpreadConstraints",
        "spec.schedulingGroup",
        "spec.volumes[1].ephemeral",
    ]
