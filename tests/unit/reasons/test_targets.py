"""Claims, workloads, and pods that come one after the other."""

from __future__ import annotations

import pytest
from tests.unit.cli.manifests import claim, device_class, pod, slice_, template
from tests.unit.reasons.clusters import DEVICES, OWN, PENDING, SHARED, allocation, cluster, node

import drayman

UNSCHEDULABLE_NODE = node("n1", spec="unschedulable: true")


def workload(kind: str, spec: str, *, group: str = "apps", entry: str = OWN) -> str:
    return f"""\
apiVersion: {group}/v1
kind: {kind}
metadata: {{name: w, namespace: team-a}}
spec:
  {spec}
  template:
    metadata: {{labels: {{app: w}}}}
    spec:
      restartPolicy: Never
      containers: [{{name: c, image: i}}]
      resourceClaims: [{entry}]
"""


def owned(kind: str, name: str, owner: str, *, status: str = PENDING, spec: str = "restartPolicy: Never") -> str:
    reference = f"{{apiVersion: v1, kind: {kind}, name: {owner}, uid: u, controller: true}}"
    namespaced = f"namespace: team-a, ownerReferences: [{reference}]"
    return pod(name, status=status, spec=spec).replace("namespace: team-a", namespaced)


# Claims.


def test_claim_that_fits_is_told_with_its_devices() -> None:
    answer = cluster(DEVICES, claim("c")).explain("team-a/c", "claim")
    assert (answer.verdict, answer.tree()) == (
        "fits",
        "claim team-a/c fits on 1 of 1 node\n"
        "├─ no pod uses the claim, and without one the scheduler does not allocate it\n"
        "└─ fits on node `n1`: gpu.example.com/n1/gpu-0",
    )


def test_claim_that_does_not_fit_is_explained() -> None:
    answer = cluster(DEVICES, claim("c", more=", count: 3"), pod("p", "{name: x, resourceClaimName: c}")).explain(
        "team-a/c", "claim"
    )
    (explanation,) = answer.explanations
    assert (answer.verdict, answer.line()) == ("unallocatable", explanation.line())
    assert [note.message for note in answer.notes] == ["used by pod `team-a/p`"]


def test_allocated_claim_is_told_with_its_holders() -> None:
    reserved = "reservedFor: [{resource: pods, name: p, uid: u}]"
    answer = cluster(DEVICES, claim("c") + f"status: {{{allocation('n1')}, {reserved}}}\n").explain("team-a/c", "claim")
    assert (answer.verdict, answer.tree()) == (
        "allocated",
        "claim team-a/c is allocated, for nodes where `metadata.name` is `n1`, reserved for `p`\n"
        "└─ claim `team-a/c`, allocated: gpu.example.com/n1/gpu-0",
    )


def test_claim_of_a_missing_class_cannot_be_allocated() -> None:
    answer = cluster(slice_("n1"), claim("c")).explain("team-a/c", "claim")
    assert (answer.verdict, [fact.code for fact in answer.facts]) == ("unallocatable", ["class-missing"])


# Pods that come one after the other.


def test_pods_that_are_only_manifests_are_placed_in_their_order_when_asked_for() -> None:
    given = cluster(slice_("n1", devices=1), device_class(), template(), pod("first", OWN), pod("p", OWN))
    assert given.explain("team-a/p").fits
    answer = given.explain("team-a/p", in_order=True)
    assert answer.verdict == "unschedulable"
    assert [note.json() for note in answer.notes] == [
        {
            "code": "placed-before",
            "message": "pods that come before are placed first: `team-a/first` on `n1`",
            "placed": {"team-a/first": "n1"},
        }
    ]
    assert "team-a/first-own" in answer.line()
    assert given.explain("team-a/first", in_order=True).fits
    assert given.explain("team-a/p").fits  # the cluster is as it was


def test_pod_shares_the_claim_of_a_pod_that_was_placed_first() -> None:
    answer = cluster(
        slice_("n1", devices=1),
        slice_("n2", devices=1),
        device_class(),
        claim("shared"),
        pod("first", SHARED),
        pod("p", SHARED),
    ).explain("team-a/p", in_order=True)
    assert [group.nodes for group in answer.groups if group.verdict == "fits"] == [("n1",)]


def test_pods_of_a_cluster_are_not_placed() -> None:
    given = cluster(
        slice_("n1", devices=1),
        device_class(),
        template(),
        claim("c"),
        pod("first", OWN, status=PENDING),
        pod("p", OWN),
    )
    assert given.explain("team-a/p", in_order=True).fits


def test_pods_before_the_one_that_uses_a_claim_are_placed_first() -> None:
    user = pod("user", SHARED)
    given = (slice_("n1", devices=1), device_class(), template(), claim("shared"))
    first = cluster(*given, pod("first", OWN), user).explain("team-a/shared", "claim", in_order=True)
    last = cluster(*given, user, pod("last", OWN)).explain("team-a/shared", "claim", in_order=True)
    assert (first.verdict, last.verdict) == ("unallocatable", "fits")


def test_every_pending_pod_is_explained_in_order() -> None:
    given = cluster(
        slice_("n1", devices=1),
        device_class(),
        template(),
        pod("a", OWN),
        pod("b", OWN),
        pod("running", spec="nodeName: n1"),
    )
    together = {answer.name: answer.verdict for answer in given.explain_all(in_order=True)}
    alone = {answer.name: answer.verdict for answer in given.explain_all()}
    assert together == {"team-a/a": "fits", "team-a/b": "unschedulable"}
    assert alone == {"team-a/a": "fits", "team-a/b": "fits"}


# Workloads.


@pytest.mark.parametrize(
    ("kind", "group", "spec", "expected"),
    [
        ("Deployment", "apps", "replicas: 3", "2 of 3 pods are on a node or would fit"),
        ("StatefulSet", "apps", "replicas: 2", "2 of 2 pods are on a node or would fit"),
        ("ReplicaSet", "apps", "{}", "1 of 1 pod is on a node or would fit"),
        ("Deployment", "apps", "replicas: 0", "needs no pod"),
        ("Job", "batch", "parallelism: 5, completions: 2", "2 of 2 pods are on a node or would fit"),
    ],
)
def test_pods_of_a_template_are_placed_one_after_the_other(kind: str, group: str, spec: str, expected: str) -> None:
    text = workload(kind, spec.replace(", ", "\n  ") if spec != "{}" else "selector: {}", group=group)
    answer = cluster(DEVICES, text).explain("team-a/w", kind)
    assert answer.title.partition("w")[2].removeprefix(": ").removeprefix(" ") == expected
    assert answer.fits == ("2 of 3" not in expected)


def test_pods_after_the_first_that_does_not_fit_are_not_tried() -> None:
    answer = cluster(DEVICES, workload("Deployment", "replicas: 5")).explain("team-a/w", "deployment")
    assert [one.name for one in answer.pods] == ["team-a/w-2", "team-a/w-0", "team-a/w-1"]
    assert [note.message for note in answer.notes] == ["2 pods after the first that does not fit are not tried"]
    assert answer.line() == answer.pods[0].line()


def test_daemon_set_has_a_pod_for_every_node_that_it_is_for() -> None:
    tainted = node("n3", spec="taints: [{key: other, effect: NoSchedule}]")
    cordoned = node("n2", spec="unschedulable: true")
    answer = cluster(
        slice_("n1"),
        slice_("n2", devices=0),
        device_class(),
        template(),
        node("n1"),
        cordoned,
        tainted,
        workload("DaemonSet", "selector: {}"),
    ).explain("team-a/w", "ds")
    assert {one.name: one.verdict for one in answer.pods} == {"team-a/w-n1": "fits", "team-a/w-n2": "unschedulable"}


def test_pods_that_exist_count_and_not_the_template() -> None:
    job = workload("Job", "parallelism: 3", group="batch")
    answer = cluster(
        node("n1", spec="unschedulable: true"),
        job,
        owned("Job", "w-a", "w", spec="nodeName: n1", status="phase: Running"),
        owned("Job", "w-b", "w"),
        owned("Job", "w-c", "w"),
        owned("Job", "x", "another"),
    ).explain("team-a/w", "job")
    assert answer.tree() == (
        "job team-a/w: 1 of 3 pods are on a node or would fit\n"
        "├─ pod team-a/w-b cannot be scheduled: it does not fit on node `n1`\n"
        "│  ├─ ruled out: node `n1`\n"
        "│  │  └─ the node is cordoned (`spec.unschedulable`)\n"
        "│  │     └─ hint: kubectl uncordon n1\n"
        "│  └─ the same holds for 1 more pod: `team-a/w-c`\n"
        "└─ pod team-a/w-a is on node `n1`"
    )


def test_pods_of_a_deployment_are_found_through_its_replica_sets() -> None:
    replica_set = workload("ReplicaSet", "selector: {}").replace(
        "{name: w, namespace: team-a}",
        "{name: w-1, namespace: team-a, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: w, uid: u}]}",
    )
    answer = cluster(
        node("n1"), workload("Deployment", "replicas: 1"), replica_set, owned("ReplicaSet", "w-1-x", "w-1")
    ).explain("team-a/w", "deployment")
    assert [one.name for one in answer.pods] == ["team-a/w-1-x"]


def test_kind_that_cannot_be_explained_is_an_error() -> None:
    with pytest.raises(drayman.InputError) as caught:
        cluster(DEVICES).explain("n1", "nod")
    assert (str(caught.value), caught.value.hint) == (
        "`nod` cannot be explained, only `pod`, `claim`, `job`, `deployment`, `replicaset`, `statefulset`, `daemonset`",
        "did you mean `pod`?",
    )
