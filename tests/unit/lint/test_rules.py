"""What rules say beyond their examples, and where they keep silent."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from drayman import manifest
from drayman.lint import Options, Severity, lint
from drayman.lint.similar import similar

API = "resource.k8s.io/v1"


def node(name: str = "w", **status: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}


def slice_(*devices: dict[str, Any], driver: str = "gpu.example.com", name: str = "w", **spec: Any) -> dict[str, Any]:
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    given = {"driver": driver, "nodeName": name, "pool": pool, "devices": list(devices), **spec}
    return {"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": f"{name}-{driver}"}, "spec": given}


def device_class(name: str = "gpu", expression: str = "device.driver == 'gpu.example.com'") -> dict[str, Any]:
    selectors = [{"cel": {"expression": expression}}]
    return {"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": name}, "spec": {"selectors": selectors}}


def claim(*requests: dict[str, Any], kind: str = "ResourceClaim", name: str = "c", **devices: Any) -> dict[str, Any]:
    spec: dict[str, Any] = {"devices": {"requests": list(requests), **devices}}
    spec = {"spec": spec} if kind == "ResourceClaimTemplate" else spec
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name}, "spec": spec}


def exactly(name: str = "gpu", device_class: str = "gpu", **more: Any) -> dict[str, Any]:
    return {"name": name, "exactly": {"deviceClassName": device_class, **more}}


def pod(name: str = "p", used: bool = True, **entry: Any) -> dict[str, Any]:
    container: dict[str, Any] = {"name": "main", "image": "registry.example.com/app:1"}
    if used:
        container["resources"] = {"claims": [{"name": "gpu"}]}
    spec = {"containers": [container], "resourceClaims": [{"name": "gpu", **entry}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def found(*objects: dict[str, Any], beside: tuple[dict[str, Any], ...] = (), **options: Any) -> list[tuple[str, str]]:
    """Return rule and path of what lint finds in `objects`."""
    context = manifest.parse(yaml.safe_dump_all(beside)) if beside else []
    diagnostics = lint([("f.yaml", yaml.safe_dump_all(objects))], Options(context=context, **options))
    return [(one.rule, one.path) for one in diagnostics]


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


def test_a_claim_is_missed_only_where_claims_of_its_namespace_are_given() -> None:
    user = pod(resourceClaimName="gone")
    path = "spec.resourceClaims[0].resourceClaimName"
    assert found(user) == []
    assert found(user, claim(exactly())) == [("claim-missing", path)]
    assert found(user, {**claim(exactly()), "metadata": {"name": "c", "namespace": "other"}}) == []
    assert found(user, complete=True) == [("claim-missing", path)]


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


@pytest.mark.parametrize(
    ("resource", "driver", "alarmed"),
    [("nvidia.com/gpu", "gpu.nvidia.com", True), ("nvidia.com/gpu", "nic.example.com", False)],
)
def test_a_device_plugin_is_known_by_its_vendor(resource: str, driver: str, alarmed: bool) -> None:
    objects = [node(allocatable={"cpu": "8", resource: "2"}), slice_({"name": "gpu-0"}, driver=driver)]
    expected = [("device-plugin-and-dra", f"status.allocatable[{resource}]")] if alarmed else []
    assert found(*objects) == expected
    none = node(allocatable={resource: "0"})
    assert found(none, objects[1]) == []


COUNTERS = {"name": "card-0", "counters": {"units": {"value": "2"}}}


def consuming(name: str, units: str | None) -> dict[str, Any]:
    if units is None:
        return {"name": name}
    return {"name": name, "consumesCounters": [{"counterSet": "card-0", "counters": {"units": {"value": units}}}]}


def pool(*devices: dict[str, Any], sets: dict[str, Any] = COUNTERS) -> list[dict[str, Any]]:
    both = {"name": "w", "generation": 1, "resourceSliceCount": 2}
    counters = slice_(pool=both, sharedCounters=[sets])
    del counters["spec"]["devices"]
    counters["metadata"]["name"] = "w-counters"
    return [counters, slice_(*devices, pool=both)]


@pytest.mark.parametrize(
    ("devices", "alarmed"),
    [
        ([("whole", None), ("half-1", "1"), ("half-2", "1")], True),
        ([("whole", "2"), ("half-1", "1"), ("half-2", "1")], False),
        ([("whole", "2"), ("half-1", "1"), ("other", None)], False),
        ([("gpu-0", None), ("gpu-0-mig-1g", "1")], True),
        ([("gpu-0", None), ("gpu-0-mig-1g", None)], True),
        ([("gpu-0", "2"), ("gpu-0-mig-1g", "1"), ("gpu-1", None)], False),
        ([("gpu-1", None), ("gpu-1-0", None)], False),
    ],
)
def test_a_whole_without_counters_beside_its_parts(devices: list[tuple[str, str | None]], alarmed: bool) -> None:
    path = "spec.devices[0]"
    expected = [("partition-without-counters", path)] if alarmed else []
    assert found(*pool(*(consuming(name, units) for name, units in devices))) == expected


def test_counters_are_looked_for_in_whole_pools_only() -> None:
    counters, devices = pool(consuming("whole", "2"), sets={**COUNTERS, "name": "card-1"})
    assert found(counters, devices) == [("counter-undefined", "spec.devices[0].consumesCounters[0].counterSet")]
    assert found(devices) == []


def test_an_alternative_is_unreachable_only_where_nothing_tells_it_from_an_earlier_one() -> None:
    def request(*alternatives: dict[str, Any]) -> dict[str, Any]:
        return {"name": "gpu", "firstAvailable": [{"deviceClassName": "gpu", **one} for one in alternatives]}

    path = "spec.devices.requests[0].firstAvailable[1]"
    unreachable = [("alternative-unreachable", path)]
    taint = [{"key": "a.b/c", "operator": "Exists", "effect": "NoExecute"}]
    assert found(claim(request({"name": "one"}, {"name": "two", "count": 2}))) == unreachable
    assert found(claim(request({"name": "two", "count": 2}, {"name": "one"}))) == []
    assert found(claim(request({"name": "any"}, {"name": "other", "deviceClassName": "nic"}))) == []
    assert found(claim(request({"name": "any"}, {"name": "tainted", "tolerations": taint}))) == []
    assert found(claim(request({"name": "tainted", "tolerations": taint}, {"name": "any"}))) == unreachable
    both = claim(
        request({"name": "near"}, {"name": "far"}),
        exactly("nic", "nic"),
        constraints=[{"requests": ["gpu/near", "nic"], "matchAttribute": "a.b/root"}],
    )
    assert found(both) == []


@pytest.mark.parametrize(
    ("effect", "alarmed"), [("NoExecute", True), ("NoSchedule", False), ("None", False), (None, True)]
)
def test_a_toleration_without_effect_is_fine_where_no_taint_evicts(effect: str | None, alarmed: bool) -> None:
    taints = {"taints": [{"key": "a.b/bad", "effect": effect}]} if effect else {}
    wanted = claim(exactly(tolerations=[{"key": "a.b/bad", "operator": "Exists"}]))
    rules = [rule for rule, _ in found(wanted, device_class(), slice_({"name": "gpu-0", **taints}))]
    assert rules == (["toleration-effect-missing"] if alarmed else [])


def test_a_taint_that_nodes_have_too_may_be_tolerated_by_a_pod() -> None:
    tainted = slice_({"name": "gpu-0", "taints": [{"key": "a.b/bad", "effect": "NoSchedule"}]})
    user = pod(resourceClaimTemplateName="t")
    user["spec"]["tolerations"] = [{"key": "a.b/bad", "operator": "Exists"}]
    assert found(user, tainted) == [("device-toleration-on-pod", "spec.tolerations[0].key")]
    tainted_node = node()
    tainted_node["spec"] = {"taints": [{"key": "a.b/bad", "effect": "NoSchedule"}]}
    assert found(user, tainted, tainted_node) == []


def test_a_pod_on_a_node_whose_claim_is_allocated_is_right() -> None:
    result = {"request": "gpu", "driver": "gpu.example.com", "pool": "w", "device": "gpu-0"}
    allocated = {**claim(exactly()), "status": {"allocation": {"devices": {"results": [result]}}}}
    user = pod(resourceClaimName="c")
    user["spec"]["nodeName"] = "w"
    assert found(user, allocated) == []
    assert found(user, claim(exactly())) == [("pod-nodename-with-claims", "spec.nodeName")]


def test_a_class_of_a_driver_without_slices_may_have_devices_elsewhere() -> None:
    nic = device_class("nic", "device.driver == 'nic.example.org'")
    assert found(nic, slice_({"name": "gpu-0"})) == []
    assert found(nic, slice_({"name": "gpu-0"}), complete=True) == [("class-matches-no-device", "spec.selectors")]


def test_a_derived_attribute_need_not_be_published() -> None:
    derived = {"name": "a.b/root", "expression": "device.driver"}
    wanted = claim(
        exactly("gpu", derivedAttributes=[derived]),
        constraints=[{"matchAttribute": "a.b/root"}],
    )
    plain = claim(exactly(), constraints=[{"matchAttribute": "a.b/root"}])
    there = (device_class(), slice_({"name": "gpu-0"}))
    assert found(wanted, *there, feature_gates="DRADerivedAttributes=true") == []
    assert found(plain, *there) == [
        ("constraint-attribute-not-published", "spec.devices.constraints[0].matchAttribute")
    ]


def test_thirty_two_devices_are_counted_over_all_requests() -> None:
    assert found(claim(exactly("a", count=16), exactly("b", count=16))) == []
    assert found(claim(exactly("a", count=16), exactly("b", count=17))) == [
        ("count-over-limit", "spec.devices.requests")
    ]
    assert found(claim(exactly("a", count=33))) == [("count-over-limit", "spec.devices.requests[0].exactly.count")]


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


def test_what_public_drivers_publish_is_known_without_slices() -> None:
    def pair(attribute: str, device_class: str = "gpu.nvidia.com") -> dict[str, Any]:
        return claim(exactly(device_class=device_class, count=2), constraints=[{"matchAttribute": attribute}])

    path = "spec.devices.constraints[0].matchAttribute"
    assert found(pair("resource.kubernetes.io/numaNode")) == []
    assert found(pair("gpu.nvidia.com/numaNode")) == [("constraint-attribute-not-published", path)]
    assert found(pair("gpu.nvidia.com/parentUUID", "mig.nvidia.com")) == []
    assert found(pair("gpu.nvidia.com/parentUUID", "of-my-own")) == []


def test_taints_with_the_domain_of_a_public_driver_are_those_of_devices() -> None:
    user = pod(resourceClaimTemplateName="t")
    user["spec"]["tolerations"] = [{"key": "gpu.nvidia.com/xid", "operator": "Exists"}]
    assert found(user) == [("device-toleration-on-pod", "spec.tolerations[0].key")]
    user["spec"]["tolerations"] = [{"key": "nvidia.com/gpu", "operator": "Exists"}]
    assert found(user) == []


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
