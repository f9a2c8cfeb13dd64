"""Nodes that are out of the question before their devices are looked at."""

from __future__ import annotations

import pytest
from tests.unit.cli.manifests import claim, device_class, pod, slice_, template
from tests.unit.reasons.clusters import DEVICES, OWN, SHARED, allocation, cluster, node

import drayman
from drayman.reasons import Answer, Group


def explained(*documents: str, **options: str) -> Answer:
    return cluster(*documents).explain("team-a/p", **options)


def excluded(answer: Answer) -> Group:
    (group,) = (group for group in answer.groups if group.verdict == "excluded")
    return group


CASES = {
    "cordoned": (
        node("n1", spec="unschedulable: true"),
        "",
        "node-cordoned",
        "the node is cordoned (`spec.unschedulable`)",
    ),
    "tainted": (
        node("n1", spec="taints: [{key: dedicated, value: ml, effect: NoSchedule}]"),
        "",
        "node-taint",
        "the pod does not tolerate the node's taint `dedicated=ml:NoSchedule`",
    ),
    "other label": (
        node("n1", zone="a"),
        "nodeSelector: {zone: b}",
        "node-selector",
        "the pod's nodeSelector wants `zone=b`: the node has `zone=a`",
    ),
    "no label": (
        node("n1"),
        "nodeSelector: {zone: b}",
        "node-selector",
        "the pod's nodeSelector wants `zone=b`: the node does not have that label",
    ),
    "affinity": (
        node("n1", zone="a"),
        "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
        "[{matchExpressions: [{key: zone, operator: In, values: [b, c]}, {key: gpu, operator: Exists}]}]}}}",
        "node-affinity",
        "the pod's required node affinity does not hold: `zone` is one of b, c and `gpu` is set",
    ),
    "full": (
        node("n1", allocatable="cpu: 4, pods: 0"),
        "",
        "node-pods",
        "the node has its 0 pods already",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_node_is_excluded_with_the_reason(case: str) -> None:
    node_text, spec, code, message = CASES[case]
    answer = explained(DEVICES, node_text, pod("p", OWN, spec=spec))
    group = excluded(answer)
    assert (answer.verdict, group.nodes, group.claims_fit) == ("unschedulable", ("n1",), True)
    assert [(fact.code, fact.message) for fact in group.facts] == [(code, message)]


def test_taint_that_comes_with_cordoning_is_told_once() -> None:
    taint = "{key: node.kubernetes.io/unschedulable, effect: NoSchedule}"
    group = excluded(explained(node("n1", spec=f"unschedulable: true, taints: [{taint}]"), pod("p")))
    assert [fact.code for fact in group.facts] == ["node-cordoned"]


def test_hint_is_given_only_where_it_is_enough() -> None:
    tainted = "taints: [{key: dedicated, value: ml, effect: NoSchedule}]"
    (fact,) = excluded(explained(DEVICES, node("n1", spec=tainted), pod("p", OWN))).facts
    assert fact.hint is not None
    toleration = fact.hint.removeprefix("tolerate it in the pod's tolerations: ")
    assert explained(DEVICES, node("n1", spec=tainted), pod("p", OWN, spec=f"tolerations: [{toleration}]")).fits
    two = excluded(explained(DEVICES, node("n1", spec=f"unschedulable: true, {tainted}"), pod("p", OWN)))
    without_devices = excluded(explained(device_class(), template(), node("n1", spec=tainted), pod("p", OWN)))
    assert [fact.hint for fact in (*two.facts, *without_devices.facts)] == [None, None, None]


def test_tolerated_taint_excludes_nothing() -> None:
    tolerant = pod("p", spec="tolerations: [{key: dedicated, operator: Exists}]")
    tainted = node("n1", spec="taints: [{key: dedicated, value: ml, effect: NoSchedule}]")
    assert explained(tainted, tolerant).fits


def asking(amount: str, name: str = "p", spec: str = "restartPolicy: Never") -> str:
    limits = f"{{name: c, image: i, resources: {{limits: {{{amount}}}}}}}"
    return pod(name, spec=spec).replace("{name: c, image: i, command", f"{limits}, {{name: d, image: i, command")


def test_resources_of_the_pods_on_the_node_are_counted() -> None:
    there = asking("cpu: 2500m", "there", "nodeName: n1")
    ended = asking("cpu: 2500m", "ended", "nodeName: n1").replace("status: {}", "status: {phase: Succeeded}")
    (fact,) = excluded(explained(node("n1"), there, ended, asking("cpu: 2"))).facts
    assert fact.json() == {
        "code": "node-resources",
        "message": "too little `cpu`: the pod needs 2, 1500m of 4 is free",
        "resource": "cpu",
        "needed": "2",
        "free": "1500m",
        "allocatable": "4",
    }


def test_memory_is_written_in_binary_units() -> None:
    (fact,) = excluded(explained(node("n1"), asking("memory: 10Gi"))).facts
    assert fact.message == "too little `memory`: the pod needs 10Gi, 8Gi of 8Gi is free"


def test_node_without_allocatable_is_not_judged_by_resources() -> None:
    assert explained(node("n1", allocatable=""), asking("cpu: 2")).fits


def test_nodes_with_different_labels_are_told_together() -> None:
    answer = explained(node("n1", zone="a"), node("n2", zone="b"), pod("p", spec="nodeSelector: {zone: c}"))
    assert answer.tree() == (
        "pod team-a/p cannot be scheduled: it fits on none of 2 nodes\n"
        "└─ ruled out: 2 nodes: `n1`, `n2`\n"
        "   └─ the pod's nodeSelector wants `zone=c`, which these nodes do not have"
    )
    assert excluded(answer).facts[0].details == {"label": "zone", "wanted": "c"}


def test_nodes_on_which_the_claims_would_fit_are_told_apart() -> None:
    cordoned = "unschedulable: true"
    answer = explained(DEVICES, node("n1", spec=cordoned), node("n2", spec=cordoned), pod("p", OWN))
    assert [(group.nodes, group.claims_fit) for group in answer.groups] == [(("n1",), True), (("n2",), False)]
    assert answer.line().startswith("node `n1`: the node is cordoned")


def test_excluded_nodes_are_told_beside_those_that_lack_devices() -> None:
    answer = explained(DEVICES, node("n1", spec="unschedulable: true"), node("n2"), pod("p", OWN))
    assert excluded(answer).nodes == ("n1",)
    assert "no allocation on node `n2`" in answer.tree()


def test_line_is_about_the_node_that_has_the_devices() -> None:
    first, second = node("n1", spec="unschedulable: true"), node("n2")
    ruled_out = explained(DEVICES, first, second, pod("p", OWN))
    assert ruled_out.line().startswith("node `n1`: the node is cordoned (`spec.unschedulable`); others: claim `team-a")
    neither = explained(device_class(), template(), first, second, pod("p", OWN))
    assert neither.line().startswith("claim `team-a/p-own`")
    assert neither.line().endswith("; 1 other node is ruled out")


def test_claim_that_is_allocated_elsewhere_excludes_the_node() -> None:
    shared = claim("shared") + f"status: {{{allocation('n2')}}}\n"
    answer = explained(DEVICES, node("n1"), node("n2", spec="unschedulable: true"), shared, pod("p", SHARED))
    facts = {group.nodes: [fact.code for fact in group.facts] for group in answer.groups}
    assert facts == {("n1",): ["claim-elsewhere"], ("n2",): ["node-cordoned"]}
    assert answer.groups[0].facts[0].message == (
        "claim `team-a/shared` is allocated already (`gpu.example.com/n2/gpu-0`), "
        "for nodes where `metadata.name` is `n2`"
    )


def test_host_port_that_another_pod_has_excludes_the_node() -> None:
    ports = "image: i, ports: [{containerPort: 80, hostPort: 80}], command"
    there = pod("there", spec="nodeName: n1").replace("image: i, command", ports)
    (fact,) = excluded(explained(node("n1"), there, pod("p").replace("image: i, command", ports))).facts
    assert (fact.code, fact.message) == ("node-ports", "host port 80/TCP is taken by pod `team-a/there`")


def test_pod_with_anti_affinity_keeps_others_away() -> None:
    term = "{topologyKey: zone, labelSelector: {matchLabels: {app: web}}}"
    rule = f"affinity: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{term}]}}}}"
    there = pod("there", spec=f"nodeName: n1\n  {rule}")
    web = pod("p").replace("namespace: team-a}", "namespace: team-a, labels: {app: web}}")
    (fact,) = excluded(explained(node("n1", zone="a"), there, web)).facts
    assert (fact.code, fact.message) == (
        "node-anti-affinity",
        "pod `team-a/there` keeps this pod away from nodes with `zone=a`, by its anti-affinity",
    )


def test_one_node_is_looked_at_alone() -> None:
    documents = (DEVICES, slice_("n2", devices=0), pod("p", OWN))
    assert explained(*documents).fits
    answer = explained(*documents, node="n2")
    assert answer.title == "pod team-a/p cannot be scheduled: it does not fit on node `n2`"


def test_node_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(drayman.InputError, match="node `n9` does not exist; there are: `n1`"):
        explained(node("n1"), device_class(), template(), pod("p", OWN), node="n9")
