"""What rules say beyond their examples, and where they keep silent."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from tests.unit.lint.objects import claim, device_class, exactly, found, node, pod, slice_

from drayman.lint import Options, lint


@pytest.mark.parametrize(
    ("resource", "driver", "alarmed"),
    [
        ("nvidia.com/gpu", "gpu.nvidia.com", True),
        ("nvidia.com/mig-1g.10gb", "gpu.nvidia.com", True),
        ("nvidia.com/gpu", "nic.example.com", False),
    ],
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


MEMORY = "device.capacity['gpu.example.com'].memory"


@pytest.mark.parametrize(
    ("first", "second", "unreachable"),
    [
        ({}, {"allocationMode": "All"}, True),
        ({"count": 2}, {"allocationMode": "All"}, False),
        ("a == 1", "a == 1 && b == 2", True),
        ("a == 1 && b == 2", "b == 2 && (a) == 1", False),
        ("a == 1 && b == 2", "b==2  &&  a == 1", True),
        ("a == 1", "a == 1 || b == 2", False),
        ("a == '1 && 2'", "a == '1 && 3'", False),
        (f"{MEMORY}.compareTo(quantity('40Gi')) >= 0", f"{MEMORY}.compareTo(quantity('80Gi')) >= 0", True),
        (f"{MEMORY}.compareTo(quantity('80Gi')) >= 0", f"{MEMORY}.compareTo(quantity('40Gi')) >= 0", False),
        (f"{MEMORY}.isGreaterThan(quantity('1Gi'))", f"{MEMORY}.compareTo(quantity('1Gi')) >= 0", False),
        (f"{MEMORY}.compareTo(quantity('1Gi')) >= 0", f"{MEMORY}.isGreaterThan(quantity('1Gi'))", True),
        (f"{MEMORY}.compareTo(quantity('1Gi')) >= 0", f"{MEMORY}.compareTo(quantity('nope')) >= 0", False),
    ],
)
def test_an_alternative_is_compared_by_what_its_selectors_ask_for(
    first: str | dict[str, Any], second: str | dict[str, Any], unreachable: bool
) -> None:
    def alternative(name: str, given: str | dict[str, Any]) -> dict[str, Any]:
        fields = {"selectors": [{"cel": {"expression": given}}]} if isinstance(given, str) else given
        return {"name": name, "deviceClassName": "gpu", **fields}

    both = {"name": "gpu", "firstAvailable": [alternative("one", first), alternative("two", second)]}
    rules = {rule for rule, _ in found(claim(both))}
    assert ("alternative-unreachable" in rules) is unreachable


def test_a_toleration_that_is_dropped_evicts_nobody() -> None:
    wanted = claim(exactly(tolerations=[{"key": "a.b/bad", "operator": "Exists"}]))
    path = "spec.devices.requests[0].exactly.tolerations"
    assert found(wanted) == [("toleration-effect-missing", f"{path}[0]")]
    assert found(wanted, kubernetes_version="1.35") == [("feature-gate-off", path)]


def test_what_is_refused_because_a_field_is_dropped_says_so() -> None:
    apart = claim(exactly(count=2), constraints=[{"distinctAttribute": "a.b/c"}])
    text = yaml.safe_dump(apart)
    refused, dropped = lint([("f.yaml", text)], Options(kubernetes_version="1.35"))
    assert (refused.rule, refused.hint) == (
        "api-validation",
        "a field that it needs is dropped: its feature gate is off",
    )
    assert dropped.rule == "feature-gate-off"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("numaNode", "did you mean `resource.kubernetes.io/numaNode`?"),
        ("numa", "did you mean `resource.kubernetes.io/numaNode`?"),
        ("productname", "did you mean `gpu.nvidia.com/productName`?"),
        ("pciBusId", "did you mean `resource.kubernetes.io/pciBusID`?"),
        ("rack", "write the domain before it, as in `gpu.example.com/rack`"),
    ],
)
def test_a_constraint_without_a_domain_is_told_once(name: str, hint: str) -> None:
    pair = claim(exactly(device_class="gpu.nvidia.com", count=2), constraints=[{"matchAttribute": name}])
    [one] = lint([("f.yaml", yaml.safe_dump(pair))])
    assert (one.rule, one.hint) == ("api-validation", hint)


def test_an_attribute_of_kubernetes_itself_has_its_domain() -> None:
    pair = claim(exactly(device_class="own", count=2), constraints=[{"matchAttribute": "numaNode"}])
    [one] = lint([("f.yaml", yaml.safe_dump(pair))])
    assert one.hint == "did you mean `resource.kubernetes.io/numaNode`?"


@pytest.mark.parametrize(
    ("selector", "hint"),
    [
        ({"driver": "mig.nvidia.com"}, "did you mean `gpu.nvidia.com`?"),
        ({"driver": "gpu.nvidia.com"}, None),
        ({"driver": "gpu.acme.example"}, None),
        ({"pool": "w"}, None),
    ],
)
def test_a_taint_rule_names_a_driver(selector: dict[str, str], hint: str | None) -> None:
    taint = {"key": "a.b/bad", "effect": "NoSchedule"}
    rule = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "r"},
        "spec": {"deviceSelector": selector, "taint": taint},
    }
    found = lint([("f.yaml", yaml.safe_dump(rule))])
    assert [(one.rule, one.hint) for one in found] == ([("taint-rule-matches-nothing", hint)] if hint else [])


def test_a_template_of_a_template_is_a_spec() -> None:
    given = claim(exactly(), kind="ResourceClaimTemplate")
    given["spec"] = {"template": given["spec"]}
    assert found(given) == [("template-spec-nesting", "spec.template")]


NVIDIA = "resource.nvidia.com/v1beta1"
MEANT = ("config-for-other-driver", "did you mean `gpu.nvidia.com`?")
OTHER = ("opaque-config-invalid", "their configuration is a MigDeviceConfig")


@pytest.mark.parametrize(
    ("device_class", "driver", "kind", "expected"),
    [
        ("gpu.nvidia.com", "gpu.nvidia.com", "GpuConfig", None),
        ("mig.nvidia.com", "gpu.nvidia.com", "MigDeviceConfig", None),
        ("own", "gpu.nvidia.com", "GpuConfig", None),
        ("gpu.nvidia.com", "nvidia.com", "GpuConfig", MEANT),
        (
            "mig.nvidia.com",
            "mig.nvidia.com",
            "MigDeviceConfig",
            MEANT,
        ),
        (
            "mig.nvidia.com",
            "gpu.nvidia.com",
            "GpuConfig",
            OTHER,
        ),
    ],
)
def test_configuration_is_for_the_driver_and_type_of_the_devices(
    device_class: str, driver: str, kind: str, expected: tuple[str, str] | None
) -> None:
    opaque = {"driver": driver, "parameters": {"apiVersion": NVIDIA, "kind": kind}}
    given = claim(exactly(device_class=device_class), config=[{"requests": ["gpu"], "opaque": opaque}])
    found = lint([("f.yaml", yaml.safe_dump(given))])
    assert [(one.rule, one.hint) for one in found] == ([expected] if expected else [])


@pytest.mark.parametrize("parameters", ["x", [], {"kind": ["GpuConfig"]}, None])
def test_parameters_may_be_anything(parameters: Any) -> None:
    opaque = {"driver": "gpu.nvidia.com", "parameters": parameters}
    given = claim(exactly(device_class="mig.nvidia.com"), config=[{"requests": ["gpu"], "opaque": opaque}])
    assert {rule for rule, _ in found(given)} <= {"api-validation", "opaque-config-invalid"}


def test_configuration_of_a_version_that_a_driver_does_not_have() -> None:
    parameters = {"apiVersion": "gpu.resource.example.com/v1", "kind": "GpuConfig"}
    given = claim(exactly(), config=[{"opaque": {"driver": "gpu.example.com", "parameters": parameters}}])
    assert found(given) == [("opaque-config-invalid", "spec.devices.config[0].opaque.parameters.apiVersion")]


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
