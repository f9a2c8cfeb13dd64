from __future__ import annotations

import pytest

from drayman import features
from drayman.api import validation

PATH = "spec.devices[0]"
IDENTIFIER = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters "
    "or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')"
)
MEMBERS = "`int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`"
NODES = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"


def resource_slice(*devices: dict, **spec: object) -> dict:
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 1}
    base = {"driver": "gpu.example.com", "pool": pool, "nodeName": "n1", "devices": list(devices)}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "n1-gpu"},
        "spec": {name: value for name, value in (base | spec).items() if value is not None},
    }


def device(name: str = "gpu-0", **fields: object) -> dict:
    return {"name": name, **fields}


def shareable(value: str = "80Gi", **policy: object) -> dict:
    return device(allowMultipleAllocations=True, capacity={"memory": {"value": value, "requestPolicy": policy}})


def test_plain_slice_is_accepted(refusals):
    attributes = {"index": {"int": 0}, "gpu.example.com/model": {"string": "x"}, "driverVersion": {"version": "1.2.3"}}
    assert refusals(resource_slice(device(attributes=attributes, capacity={"memory": {"value": "80Gi"}}))) == []


@pytest.mark.parametrize(
    ("spec", "texts"),
    [
        ({"driver": ""}, ["spec.driver: Required value"]),
        ({"driver": "GPU.example.com"}, []),
        ({"nodeName": None}, [f"spec: Required value: {NODES}"]),
        (
            {"allNodes": True},
            [f'spec: Invalid value: "{{`nodeName`, `allNodes`}}": {NODES}, but multiple fields are set'],
        ),
        (
            {"nodeName": ""},
            [
                'spec.nodeName: Invalid value: "": must be either unset or set to a non-empty string',
                f"spec: Required value: {NODES}",
            ],
        ),
        (
            {"allNodes": False},
            ["spec.allNodes: Invalid value: false: must be either unset or set to true"],
        ),
        (
            {"nodeName": None, "nodeSelector": {"nodeSelectorTerms": [{}, {}]}},
            [
                "spec.nodeSelector.nodeSelectorTerms: Invalid value: [{},{}]: must have exactly one node selector term",
            ],
        ),
        (
            {"pool": {"name": "n1", "generation": -1}},
            [
                "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero",
                "spec.pool.generation: Invalid value: -1: must be greater than or equal to zero",
            ],
        ),
        (
            {"sharedCounters": [{"name": "set", "counters": {"memory": {"value": "1"}}}]},
            ['spec: Invalid value: "": only one of `sharedCounters` or `devices` is allowed'],
        ),
        (
            {"devices": None, "sharedCounters": [{"name": "set"}, {"counters": {"m": {"value": "1"}}}]},
            ["spec.sharedCounters[0].counters: Required value", "spec.sharedCounters[1].name: Required value"],
        ),
        (
            {"skipNodeOperations": ["NodePrepareResources"]},
            [
                'spec.skipNodeOperations: Invalid value: ["NodePrepareResources"]: NodePrepareResources cannot be '
                "skipped unless NodeUnprepareResources is also skipped"
            ],
        ),
    ],
)
def test_slice_keeps_the_rules(refusals, spec: dict, texts: list[str]):
    assert refusals(resource_slice(**spec)) == texts


def test_slice_holds_128_devices_or_64_with_advanced_features(refusals):
    plain = [device(f"gpu-{index}") for index in range(129)]
    tainted = [device(f"gpu-{index}", taints=[{"key": "k", "effect": "NoSchedule"}]) for index in range(65)]
    assert refusals(resource_slice(*plain)) == ["spec.devices: Too many: 129: must have at most 128 items"]
    assert refusals(resource_slice(*plain[:128])) == []
    assert refusals(resource_slice(*tainted)) == ["spec.devices: Too many: 65: must have at most 64 items"]


@pytest.mark.parametrize(
    ("attribute", "texts"),
    [
        ({}, [f'[a]: Invalid value: "": must specify one of: {MEMBERS}']),
        ({"int": 1, "bool": True}, [f'[a]: Invalid value: "{{int, bool}}": must specify exactly one of: {MEMBERS}']),
        ({"string": "x" * 65}, ["[a].string: Too long: may not be more than 64 bytes"]),
        (
            {"version": "550.127.08"},
            [
                '[a].version: Invalid value: "550.127.08": must be a string compatible with semver.org spec 2.0.0',
            ],
        ),
        (
            {"ints": []},
            [
                "[a].ints: Invalid value: []: must not be empty if specified",
                f'[a]: Invalid value: "": must specify one of: {MEMBERS}',
            ],
        ),
    ],
)
def test_attribute_has_one_value(refusals, attribute: dict, texts: list[str]):
    assert refusals(resource_slice(device(attributes={"a": attribute}))) == [
        f"{PATH}.attributes{text}" for text in texts
    ]


def test_names_of_attributes_are_identifiers_with_or_without_a_domain(refusals):
    attributes = {"numa-1": {"int": 1}, "/x": {"int": 1}, "d/": {"int": 1}, "a/b/c": {"int": 1}}
    assert refusals(resource_slice(device(attributes=attributes))) == [
        f'{PATH}.attributes: Invalid value: "": the domain must not be empty',
        f'{PATH}.attributes: Invalid value: "": the name must not be empty',
        f'{PATH}.attributes: Invalid value: "numa-1": {IDENTIFIER}',
    ]


def test_attributes_and_capacities_are_counted_together(refusals):
    attributes = {f"a{index}": {"int": 1} for index in range(32)}
    assert refusals(resource_slice(device(attributes=attributes, capacity={"m": {"value": "1"}}))) == [
        f"{PATH}: Invalid value: 33: the total number of attributes and capacities must not exceed 32"
    ]
    assert refusals(resource_slice(device(attributes={"a": {"ints": [1] * 49}}))) == [
        f"{PATH}: Invalid value: 49: the total number of attribute values must not exceed 48"
    ]


def test_names_of_devices_are_labels_and_unique(refusals):
    assert refusals(resource_slice(device("a.b"), device("c"), device("c"))) == [
        f'{PATH}.name: Invalid value: "a.b": must not contain dots',
        'spec.devices[2]: Duplicate value: "c"',
    ]


def test_device_says_where_it_is_only_when_the_slice_leaves_it_to_devices(refusals):
    text = (
        "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to "
        "true in the ResourceSlice spec"
    )
    devices = [device("a"), device("b", nodeName="n1", allNodes=True), device("c", allNodes=True)]
    assert refusals(resource_slice(*devices, nodeName=None, perDeviceNodeSelection=True)) == [
        f"{PATH}: Required value: {text}",
        f'spec.devices[1]: Invalid value: "{{`nodeName`, `allNodes`}}": {text}',
    ]
    assert refusals(resource_slice(device(allNodes=True))) == [
        f"{PATH}: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if "
        "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"
    ]


def test_consumed_counters_name_a_set_once(refusals):
    consumed = [{"counterSet": "s", "counters": {"m": {"value": "1"}}}, {"counterSet": "s"}]
    assert refusals(resource_slice(device(consumesCounters=consumed))) == [
        f"{PATH}.consumesCounters[1].counters: Required value",
        f'{PATH}.consumesCounters[1]: Duplicate value: {{"counterSet":"s"}}',
    ]


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        ({"validValues": ["10Gi"]}, ".default: Required value: required when validValues is defined"),
        ({"validRange": {"min": "1Gi"}}, ".default: Required value: required when validRange is defined"),
        (
            {"default": "1Gi", "validValues": ["1Gi"], "validRange": {"min": "1Gi"}},
            ': Forbidden: exactly one policy can be specified, cannot specify "validValues" and "validRange" at the '
            "same time",
        ),
        (
            {"default": "10Gi", "validValues": ["20Gi", "10Gi"]},
            '.validValues[1]: Invalid value: "10Gi": values must be sorted in ascending order',
        ),
        (
            {"default": "10Gi", "validValues": ["10Gi", "90Gi"]},
            '.validValues[1]: Invalid value: "90Gi": option is larger than capacity value: 80Gi',
        ),
        (
            {"default": "5Gi", "validValues": ["10Gi"]},
            '.validValues: Invalid value: "5Gi": default value is not valid according to the requestPolicy',
        ),
        (
            {"default": "1Gi", "validRange": {"max": "2Gi"}},
            ".validRange.min: Required value: required when validRange is defined",
        ),
        (
            {"default": "1Gi", "validRange": {"min": "2Gi"}},
            '.validRange.default: Invalid value: "1Gi": default is less than min: 2Gi',
        ),
        (
            {"default": "3Gi", "validRange": {"min": "1Gi", "max": "2Gi"}},
            '.validRange.default: Invalid value: "3Gi": default is more than max: 2Gi',
        ),
        (
            {"default": "1Gi", "validRange": {"min": "1Gi", "max": "90Gi"}},
            '.validRange.max: Invalid value: "90Gi": max is larger than capacity value: 80Gi',
        ),
        (
            {"default": "1Gi", "validRange": {"min": "1Gi", "step": "0"}},
            '.validRange.step: Invalid value: "0": must be greater than zero',
        ),
        (
            {"default": "2Gi", "validRange": {"min": "1Gi", "step": "2Gi"}},
            '.validRange.step: Invalid value: "2Gi": value is not a multiple of a given step (2Gi) from (1Gi)',
        ),
        (
            {"default": "1Gi", "validRange": {"min": "1Gi", "step": "80Gi"}},
            '.validRange.step: Invalid value: "80Gi": one step 81Gi is larger than capacity value: 80Gi',
        ),
        (
            {"default": "-1", "validRange": {"min": "-1", "step": "1"}},
            None,
        ),
    ],
)
def test_request_policy_fits_the_capacity(refusals, policy: dict, text: str | None):
    path = f"{PATH}.capacity[memory].requestPolicy"
    expected = (
        [f"{path}{text}"]
        if text
        else [
            f'{path}.validRange.{name}: Invalid value: "-1": must be greater than or equal to 0'
            for name in ("default", "min")
        ]
    )
    assert refusals(resource_slice(shareable(**policy))) == expected


def test_policy_needs_a_device_that_can_be_shared(refusals):
    capacity = {"memory": {"value": "1", "requestPolicy": {"default": "1"}}}
    assert refusals(resource_slice(device(capacity=capacity))) == [
        f"{PATH}.capacity[memory].requestPolicy: Forbidden: allowMultipleAllocations must be true"
    ]


def test_fractional_range_is_exact_to_a_thousandth(refusals):
    context = validation.Context(gates=features.defaults() | {"DRAFractionalCapacityRange"})
    fine = shareable("1", default="100m", validRange={"min": "100m", "step": "50m"})
    too_fine = shareable("1", default="100m", validRange={"min": "100m", "step": "50u"})
    assert refusals(resource_slice(fine), context) == []
    assert refusals(resource_slice(too_fine), context) == [
        f'{PATH}.capacity[memory].requestPolicy.validRange.step: Invalid value: "50u": value cannot be represented as '
        "a milli value"
    ]


def test_slice_stays_with_driver_pool_and_node(update_refusals):
    old = resource_slice(device())
    old["metadata"]["resourceVersion"] = "1"
    moved = {**old, "spec": {**old["spec"], "driver": "other", "nodeName": "n2"}}
    assert update_refusals(moved, old) == [
        'spec.driver: Invalid value: "other": field is immutable',
        'spec.nodeName: Invalid value: "n2": field is immutable',
    ]


def test_capacity_and_taints_that_stay_are_not_checked_again(update_refusals):
    broken = device(capacity={"memory": {"value": "1", "requestPolicy": {"default": "1"}}}, taints=[{"key": ""}])
    old = resource_slice(broken)
    old["metadata"]["resourceVersion"] = "1"
    assert update_refusals(old, old) == []


def test_driver_name_with_upper_case_letters_is_warned_of():
    assert validation.warnings(resource_slice(driver="GPU.example.com")) == [
        'spec.driver: driver names should be lowercase; "GPU.example.com" contains uppercase characters'
    ]
    assert validation.warnings(resource_slice()) == []


def test_device_class_and_taint_rule_keep_their_rules(refusals):
    device_class = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "gpu"},
        "spec": {"extendedResourceName": "gpu", "config": [{}]},
    }
    assert refusals(device_class) == [
        "spec.config[0].opaque: Required value",
        'spec.extendedResourceName: Invalid value: "gpu": a name must be a domain-prefixed path, such as '
        "'example.com/my-prop'",
    ]
    rule = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "r"},
        "spec": {"deviceSelector": {"device": "A"}, "taint": {"key": "k", "effect": "Evict"}},
    }
    assert refusals(rule) == [
        'spec.deviceSelector.device: Invalid value: "A": a lowercase RFC 1123 label must consist of lower case '
        "alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or "
        "'123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        'spec.taint.effect: Unsupported value: "Evict": supported values: "NoExecute", "NoSchedule", "None"',
    ]
