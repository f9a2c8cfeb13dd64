"""Pods that are held back, refused, running or fitting, whatever their nodes are like."""

from __future__ import annotations

import pytest
from tests.unit.cli.manifests import claim, device_class, pod, slice_, template
from tests.unit.reasons.clusters import DEVICES, OWN, PENDING, SHARED, allocation, cluster, node

import drayman
from drayman.reasons import Answer


def explained(*documents: str, name: str = "team-a/p", **options: str) -> Answer:
    return cluster(*documents, **options).explain(name)


def codes(answer: Answer) -> list[str]:
    return [fact.code for fact in answer.facts]


def test_pod_that_fits_is_told_with_its_devices() -> None:
    answer = explained(DEVICES, slice_("n2"), pod("p", OWN))
    assert (answer.verdict, answer.fits) == ("fits", True)
    assert answer.tree() == (
        "pod team-a/p fits on 2 of 2 nodes\n"
        "├─ `own`: claim `team-a/p-own`, to be made from template `one-gpu`\n"
        "├─ fits on node `n1`: `own` gets gpu.example.com/n1/gpu-0\n"
        "└─ fits on node `n2`: `own` gets gpu.example.com/n2/gpu-0"
    )
    assert answer.json() == {
        "version": 1,
        "kubernetes": "1.37",
        "compatibility": "1.37",
        "pod": "team-a/p",
        "verdict": "fits",
        "message": "pod team-a/p fits on 2 of 2 nodes",
        "claims": [{"name": "own", "claim": "team-a/p-own", "template": "one-gpu", "exists": False}],
        "facts": [],
        "groups": [
            {"nodes": ["n1"], "verdict": "fits", "devices": {"own": ["gpu.example.com/n1/gpu-0"]}},
            {"nodes": ["n2"], "verdict": "fits", "devices": {"own": ["gpu.example.com/n2/gpu-0"]}},
        ],
    }


def test_nodes_that_fit_beyond_the_first_seven_are_told_together() -> None:
    slices = [slice_(f"n{number:02}") for number in range(12)]
    answer = explained(*slices, device_class(), template(), pod("p", OWN))
    assert [len(group.nodes) for group in answer.groups] == [1] * 7 + [5]


def test_pod_without_claims_fits_where_nothing_else_is_against_it() -> None:
    answer = explained(node("n1"), pod("p"))
    assert answer.tree() == "pod team-a/p fits on 1 of 1 node\n└─ fits on node `n1`"


def test_pod_that_does_not_fit_has_the_explanation_of_its_claims() -> None:
    answer = explained(slice_("n1", devices=0), device_class(), template(), pod("p", OWN))
    assert (answer.verdict, answer.fits) == ("unschedulable", False)
    (explanation,) = answer.explanations
    assert answer.line() == explanation.line()
    assert answer.json()["groups"] == [{"nodes": ["n1"], "verdict": "unallocatable", **explanation.json()["groups"][0]}]


def test_pod_on_a_node_is_told_with_what_it_has() -> None:
    answer = explained(
        DEVICES,
        claim("shared") + f"status: {{{allocation('n1')}}}\n",
        pod("p", SHARED, spec="nodeName: n1", status="phase: Running"),
    )
    assert (answer.verdict, answer.node, answer.fits) == ("scheduled", "n1", True)
    assert answer.tree() == (
        "pod team-a/p is on node `n1`\n└─ `shared`: claim `team-a/shared`, allocated: gpu.example.com/n1/gpu-0"
    )


def test_pod_that_was_put_on_a_node_by_hand_waits_for_its_claim() -> None:
    answer = explained(DEVICES, claim("shared"), pod("p", SHARED, spec="nodeName: n1"))
    assert (answer.verdict, codes(answer)) == ("held", ["claim-not-allocated"])


def test_pod_on_a_node_that_is_gone_is_told_so() -> None:
    answer = explained(DEVICES, pod("p", spec="nodeName: gone"))
    assert (answer.verdict, answer.line()) == ("held", "the pod is bound to node `gone`, which does not exist")


def test_pod_that_has_ended_is_well() -> None:
    answer = explained(DEVICES, pod("p", OWN, spec="nodeName: n1", status="phase: Succeeded"))
    assert (answer.verdict, answer.fits, answer.title) == ("finished", True, "pod team-a/p has ended (Succeeded)")


def test_pod_with_scheduling_gates_is_held_and_told_where_it_would_fit() -> None:
    answer = explained(DEVICES, pod("p", OWN, spec="schedulingGates: [{name: example.com/quota}]"))
    assert (answer.verdict, codes(answer)) == ("held", ["scheduling-gates"])
    assert answer.tree().splitlines()[0] == (
        "pod team-a/p is held back: the scheduler does not try it; without that it would fit on 1 of 1 node"
    )
    assert answer.groups[0].nodes == ("n1",)


def test_claim_that_does_not_exist_is_named_with_those_that_there_are() -> None:
    answer = explained(DEVICES, claim("sharde"), pod("p", SHARED))
    (fact,) = answer.facts
    assert (answer.verdict, fact.code) == ("held", "claim-missing")
    assert (fact.message, fact.hint) == (
        "claim entry `shared`: ResourceClaim `team-a/shared` does not exist",
        "did you mean `team-a/sharde`?",
    )


def test_template_that_is_named_as_a_claim_is_recognised() -> None:
    (fact,) = explained(DEVICES, pod("p", "{name: own, resourceClaimName: one-gpu}")).facts
    assert (fact.code, fact.hint) == (
        "claim-missing",
        "a ResourceClaimTemplate has that name: refer to it with `resourceClaimTemplateName`",
    )


def test_claim_that_is_named_as_a_template_is_recognised() -> None:
    entry = "{name: own, resourceClaimTemplateName: shared}"
    (fact,) = explained(DEVICES, claim("shared"), pod("p", entry)).facts
    assert (fact.code, fact.hint) == (
        "template-missing",
        "a ResourceClaim has that name: refer to it with `resourceClaimName`",
    )


def test_claim_of_a_template_is_waited_for_only_in_a_cluster() -> None:
    assert codes(explained(DEVICES, pod("p", OWN))) == []
    answer = explained(DEVICES, pod("p", OWN, status=PENDING))
    assert (answer.verdict, codes(answer)) == ("held", ["claim-not-created"])
    assert answer.title.endswith("; without that it would fit on 1 of 1 node")


def test_claim_of_another_pod_is_not_used() -> None:
    other = claim("p-own-x").replace(
        "namespace: team-a}",
        "namespace: team-a, ownerReferences: [{apiVersion: v1, kind: Pod, name: old, uid: '1', controller: true}]}",
    )
    generated = "resourceClaimStatuses: [{name: own, resourceClaimName: p-own-x}]"
    mine = pod("p", OWN, status=f"{PENDING}, {generated}").replace("{name: p,", "{name: p, uid: '2',")
    (fact,) = explained(DEVICES, other, mine).facts
    assert (fact.code, fact.message) == (
        "claim-not-owned",
        "claim entry `own`: claim `team-a/p-own-x` was not made for this pod: it belongs to Pod `old`",
    )


def test_generated_claim_that_is_gone_is_missing() -> None:
    generated = "resourceClaimStatuses: [{name: own, resourceClaimName: p-own-x}]"
    (fact,) = explained(DEVICES, pod("p", OWN, status=f"{PENDING}, {generated}")).facts
    assert (fact.code, fact.message) == (
        "claim-missing",
        "claim entry `own`: claim `team-a/p-own-x`, made from template `one-gpu`, does not exist any more",
    )


def test_entry_for_which_no_claim_was_needed_is_told_so() -> None:
    answer = explained(DEVICES, pod("p", OWN, status=f"{PENDING}, resourceClaimStatuses: [{{name: own}}]"))
    assert (answer.verdict, answer.tree().splitlines()[1]) == ("fits", "├─ `own`: needs no claim")


def test_class_that_does_not_exist_refuses_every_node() -> None:
    answer = explained(slice_("n1"), device_class("gpu.exampel.com"), template(), pod("p", OWN))
    (fact,) = answer.facts
    assert (answer.verdict, fact.code, fact.hint) == (
        "unschedulable",
        "class-missing",
        "did you mean `gpu.exampel.com`?",
    )
    assert fact.message == "claim `team-a/p-own`, request `gpu`: DeviceClass `gpu.example.com` does not exist"


@pytest.mark.parametrize(("labels", "expected"), [("", ["admin-access-label-missing"]), ("'true'", [])])
def test_admin_access_needs_the_label_of_the_namespace(labels: str, expected: list[str]) -> None:
    label = f"resource.kubernetes.io/admin-access: {labels}" if labels else ""
    namespace = f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: team-a, labels: {{{label}}}}}\n"
    admin = template().replace("deviceClassName:", "adminAccess: true, deviceClassName:")
    answer = explained(slice_("n1"), device_class(), admin, namespace, pod("p", OWN))
    assert codes(answer) == expected


def test_claim_that_256_pods_use_is_full() -> None:
    consumers = ", ".join(f"{{resource: pods, name: p{number}, uid: '{number}'}}" for number in range(256))
    full = claim("shared") + f"status: {{{allocation('n1')}, reservedFor: [{consumers}]}}\n"
    answer = explained(DEVICES, full, pod("p", SHARED))
    assert (answer.verdict, codes(answer)) == ("unschedulable", ["claim-in-use"])


def test_pod_waits_for_devices_that_are_not_ready() -> None:
    result = "{request: gpu, driver: gpu.example.com, pool: n1, device: gpu-0, bindingConditions: [a, b], "
    result += "bindingFailureConditions: [broken]}"
    status = "{driver: gpu.example.com, pool: n1, device: gpu-0, conditions: [{type: a, status: 'True'}%s]}"
    reserved = "reservedFor: [{resource: pods, name: p, uid: '1'}]"
    waiting = pod("p", SHARED, status=PENDING).replace("{name: p,", "{name: p, uid: '1',")
    texts = {
        status % "": "its driver does not report `b` yet",
        status % ", {type: broken, status: 'True'}": "its driver reports `broken`",
    }
    for devices, why in texts.items():
        more = f"status: {{allocation: {{devices: {{results: [{result}]}}}}, devices: [{devices}], {reserved}}}\n"
        answer = explained(DEVICES, claim("shared") + more, waiting)
        assert (answer.verdict, codes(answer)) == ("held", ["binding-conditions"])
        assert answer.title == "pod team-a/p waits until its devices are ready"
        assert answer.line() == f"claim `team-a/shared`: device `gpu.example.com/n1/gpu-0` is not ready: {why}"


def test_cluster_without_nodes_says_so() -> None:
    answer = explained(device_class(), template(), pod("p", OWN))
    assert (answer.verdict, answer.line()) == ("unschedulable", "there is no node")


def test_selector_that_fails_ends_the_attempt_though_another_node_fits() -> None:
    selector = "selectors: [{cel: {expression: \"device.attributes['gpu.example.com'].fast\"}}]"
    fast = slice_("n2", devices=1).replace("{name: gpu-0}", "{name: gpu-0, attributes: {fast: {bool: true}}}")
    picky = template().replace("{deviceClassName:", f"{{{selector}, deviceClassName:")
    for compatibility in ("1.37", "fixed"):
        answer = explained(slice_("n1"), fast, device_class(), picky, pod("p", OWN), compatibility=compatibility)
        assert (answer.verdict, codes(answer)) == ("failed", ["allocation-failed"])
        assert answer.line() == (
            "the scheduling attempt ends with an error: claim team-a/p-own: selector #0 on device "
            "gpu.example.com/n1/gpu-0: CEL runtime error: no such key: fast; "
            "write it as `device.attributes['gpu.example.com'].?fast.orValue(false)`"
        )
        assert [(group.verdict, group.nodes) for group in answer.groups] == [("fits", ("n2",))]
        assert "└─ no allocation on node `n1`" in answer.tree()
        assert "├─ would fit on node `n2`" in answer.tree()


def test_claim_that_two_entries_name_is_two_claims_in_upstream_only() -> None:
    twice = pod("p", SHARED, "{name: again, resourceClaimName: shared}")
    documents = (slice_("n1", devices=1), device_class(), claim("shared"), twice)
    upstream, fixed = (explained(*documents, compatibility=each) for each in ("1.37", "fixed"))
    assert (upstream.verdict, fixed.verdict) == ("unschedulable", "fits")
    assert [note.message for note in (*upstream.notes, *fixed.notes)] == [
        "claim entries `shared` and `again` are one claim, `team-a/shared`: its devices are asked for 2 times"
    ]


def test_what_the_scheduler_said_is_a_note_and_fields_that_are_not_looked_at_too() -> None:
    said = "{type: PodScheduled, status: 'False', message: '0/1 nodes are available. drayman: none'}"
    spread = "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]"
    answer = explained(node("n1"), pod("p", spec=spread, status=f"{PENDING}, conditions: [{said}]"))
    assert [(note.code, note.message) for note in answer.notes] == [
        ("not-checked", "not looked at: `spec.topologySpreadConstraints`"),
        ("scheduler-said", "scheduler `default-scheduler` said: 0/1 nodes are available."),
    ]


def test_pod_that_does_not_exist_is_an_error_with_those_that_there_are() -> None:
    with pytest.raises(drayman.InputError) as caught:
        explained(pod("train"), name="team-a/trian")
    assert (str(caught.value), caught.value.hint) == (
        "pod `team-a/trian` does not exist; there are: `team-a/train`",
        "did you mean `team-a/train`?",
    )


def test_object_that_is_not_of_its_kind_is_an_error() -> None:
    with pytest.raises(drayman.InputError) as caught:
        drayman.Cluster.from_objects(
            [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": "none"}}]
        ).explain("p")
    assert caught.value.field == "spec.containers"
