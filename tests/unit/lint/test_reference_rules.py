"""What rules say of names: of classes, claims and templates, and of who uses them."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from tests.unit.lint.objects import claim, device_class, exactly, found, pod, workload

from drayman.lint import Severity, lint
from drayman.lint.similar import similar

CLASS_PATH = "spec.devices.requests[0].exactly.deviceClassName"


def test_a_class_alone_says_nothing_about_claims_without_it() -> None:
    assert found(claim(exactly())) == []
    assert found(claim(exactly()), complete=True) == [("device-class-missing", CLASS_PATH)]


def test_classes_of_well_known_drivers_are_not_missed_unless_a_cluster_is_given() -> None:
    wanted = claim(exactly(device_class="gpu.nvidia.com"))
    assert found(wanted, device_class()) == []
    assert found(wanted, complete=True) == [("device-class-missing", CLASS_PATH)]


@pytest.mark.parametrize(("name", "severity"), [("gpus", Severity.ERROR), ("other", Severity.WARNING)])
def test_a_missing_class_is_an_error_where_another_one_is_meant(name: str, severity: Severity) -> None:
    text = yaml.safe_dump_all([claim(exactly(device_class=name)), device_class()])
    [one] = lint([("f.yaml", text)])
    assert (one.rule, one.severity) == ("device-class-missing", severity)


def test_what_is_nearly_the_class_of_a_public_driver_is_taken_for_it() -> None:
    text = yaml.safe_dump(claim(exactly(device_class="gpu.nvidia.con")))
    [one] = lint([("f.yaml", text)])
    assert (one.rule, one.severity, one.hint) == (
        "device-class-missing",
        Severity.WARNING,
        "did you mean `gpu.nvidia.com`?",
    )
    assert found(claim(exactly(device_class="vgpu.nvidia.com"))) == []


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("nvidia.com/gpu", "did you mean `gpu.nvidia.com`?"),
        ("acme.example/gpu", "did you mean `gpu`?"),
        ("acme.example/tpu", "that looks like an extended resource; name a DeviceClass"),
        ("GPU.nvidia.com", "did you mean `gpu.nvidia.com`?"),
        ("my class", None),
    ],
)
def test_a_resource_in_the_place_of_a_class_is_told_once(name: str, hint: str | None) -> None:
    gpu = device_class()
    gpu["spec"]["extendedResourceName"] = "acme.example/gpu"
    found = lint([("f.yaml", yaml.safe_dump_all([claim(exactly(device_class=name)), gpu]))])
    assert [(one.rule, one.path, one.hint) for one in found] == [("api-validation", CLASS_PATH, hint)]


def test_a_claim_is_missed_only_where_claims_of_its_namespace_are_given() -> None:
    user = pod(resourceClaimName="gone")
    path = "spec.resourceClaims[0].resourceClaimName"
    assert found(user) == []
    assert found(user, claim(exactly())) == [("claim-missing", path)]
    assert found(user, {**claim(exactly()), "metadata": {"name": "c", "namespace": "other"}}) == []
    assert found(user, complete=True) == [("claim-missing", path)]


def test_a_claim_of_another_namespace_is_none_of_the_pod() -> None:
    there = {**claim(exactly()), "metadata": {"name": "c", "namespace": "other"}}
    user = {**pod(resourceClaimName="c"), "metadata": {"name": "p", "namespace": "team-a"}}
    [one] = lint([("f.yaml", yaml.safe_dump_all([user, there]))])
    assert (one.rule, one.severity, one.message) == (
        "claim-missing",
        Severity.WARNING,
        "ResourceClaim `team-a/c` does not exist: it is in namespace `other`, and a pod uses those of its own",
    )
    both = {**there, "metadata": {"name": "c", "namespace": "team-a"}}
    assert found(user, there, both) == []
    assert found(pod(resourceClaimName="c"), there) == []


def test_a_pod_that_has_its_claim_needs_no_template_any_more() -> None:
    user = pod(resourceClaimTemplateName="gone")
    path = "spec.resourceClaims[0].resourceClaimTemplateName"
    assert found(user, claim(exactly())) == [("claim-missing", path)]
    user["status"] = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "p-gpu-x2k4q"}]}
    assert found(user, claim(exactly())) == []


@pytest.mark.parametrize(
    ("kind", "spec", "alarmed"),
    [
        ("Deployment", {"replicas": 2}, True),
        ("Deployment", {"replicas": 1}, False),
        ("DaemonSet", {}, True),
    ],
)
def test_pods_that_share_a_claim_are_told(kind: str, spec: dict[str, Any], alarmed: bool) -> None:
    path = "spec.template.spec.resourceClaims[0].resourceClaimName"
    expected = [("shared-claim-many-replicas", path)] if alarmed else []
    assert found(workload(kind, pod(resourceClaimName="c"), **spec), claim(exactly())) == expected


def test_a_template_in_the_place_of_a_claim_is_not_shared() -> None:
    several = workload("Deployment", pod(resourceClaimName="t"), replicas=2)
    path = "spec.template.spec.resourceClaims[0].resourceClaimName"
    expected = [("claim-name-is-template", path)]
    assert found(several, claim(exactly(), kind="ResourceClaimTemplate", name="t")) == expected


@pytest.mark.parametrize(("name", "rules"), [("gpus", ["api-validation"]), ("nic", None), ("gpu", [])])
def test_a_claim_that_a_container_nearly_names_is_used(name: str, rules: list[str] | None) -> None:
    user = pod(resourceClaimName="c")
    user["spec"]["containers"][0]["resources"]["claims"][0]["name"] = name
    both = ["pod-claim-not-consumed", "api-validation"]
    assert sorted(rule for rule, _ in found(user)) == sorted(both if rules is None else rules)


def test_objects_without_a_namespace_are_in_the_one_that_is_asked_for() -> None:
    there = {**claim(exactly()), "metadata": {"name": "c", "namespace": "team-a"}}
    user = pod(resourceClaimName="c")
    assert found(user, beside=(there, device_class()), complete=True, namespace="team-a") == []
    assert found(user, beside=(there, device_class()), complete=True) == [
        ("claim-missing", "spec.resourceClaims[0].resourceClaimName")
    ]


def test_the_template_of_a_compute_domain_is_made_by_its_controller() -> None:
    domain = {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "ComputeDomain",
        "metadata": {"name": "d"},
        "spec": {"numNodes": 0, "channel": {"resourceClaimTemplate": {"name": "channel"}}},
    }
    other = claim(exactly(), kind="ResourceClaimTemplate")
    user = pod(resourceClaimTemplateName="channel")
    assert found(other, user) == [("claim-missing", "spec.resourceClaims[0].resourceClaimTemplateName")]
    assert found(other, user, domain) == []
    path = "spec.resourceClaims[0].resourceClaimName"
    assert found(other, pod(resourceClaimName="channel"), domain) == [("claim-name-is-template", path)]


def test_an_entry_with_both_names_is_told_once() -> None:
    user = pod(resourceClaimName="t", resourceClaimTemplateName="t")
    template = claim(exactly(), kind="ResourceClaimTemplate", name="t")
    assert found(user, template) == [("api-validation", "spec.resourceClaims[0]")]


def test_a_pod_on_a_node_whose_claim_is_allocated_is_right() -> None:
    result = {"request": "gpu", "driver": "gpu.example.com", "pool": "w", "device": "gpu-0"}
    allocated = {**claim(exactly()), "status": {"allocation": {"devices": {"results": [result]}}}}
    user = pod(resourceClaimName="c")
    user["spec"]["nodeName"] = "w"
    assert found(user, allocated) == []
    assert found(user, claim(exactly())) == [("pod-nodename-with-claims", "spec.nodeName")]


def test_a_deployment_counts_for_the_pods_that_it_made() -> None:
    template = pod(resourceClaimName="c")
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {
            "replicas": 200,
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": template["spec"]},
        },
    }
    owner = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "uid": "1", "controller": True}]
    made = [
        {**pod(f"p{n}", resourceClaimName="c"), "metadata": {"name": f"p{n}", "ownerReferences": owner}}
        for n in range(100)
    ]
    rules = {rule for rule, _ in found(claim(exactly()), deployment, beside=tuple(made))}
    assert rules == {"shared-claim-many-replicas"}
    others = [pod(f"p{n}", resourceClaimName="c") for n in range(100)]
    rules = {rule for rule, _ in found(claim(exactly()), deployment, beside=tuple(others))}
    assert rules == {"shared-claim-many-replicas", "claim-consumers-over-limit"}


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("gpu.exmaple.com", ["gpu.example.com", "nic.example.com"], "gpu.example.com"),
        ("nic.example.com", ["gpu.example.com"], None),
        ("gpus.example.com", ["gpu.example.com"], "gpu.example.com"),
        ("example.com", ["gpu.example.com"], "gpu.example.com"),
        ("com", ["gpu.example.com"], None),
        ("gpus", ["gpu", "gpus.example.com"], "gpu"),
    ],
)
def test_names_with_dots_are_compared_part_by_part(name: str, known: list[str], meant: str | None) -> None:
    assert similar(name, known) == meant


def test_a_pod_group_names_claims_as_a_pod_does() -> None:
    group = {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "g"},
        "spec": {
            "schedulingPolicy": {"gang": {"minCount": 2}},
            "resourceClaims": [{"name": "gpu", "resourceClaimName": "t"}],
        },
    }
    template = claim(exactly(), kind="ResourceClaimTemplate", name="t")
    gates = "GenericWorkload=true,DRAWorkloadResourceClaims=true"
    path = "spec.resourceClaims[0].resourceClaimName"
    assert found(group, template, feature_gates=gates) == [("claim-name-is-template", path)]
    assert found(group) == [("feature-gate-off", "spec.resourceClaims")]
