from __future__ import annotations

import pytest

from drayman import cel, features
from drayman.api import validation

LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
REFERENCE = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
ADMIN = (
    "Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the "
    "containing namespace"
)


def claim(**devices: object) -> dict:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"namespace": "team-a", "name": "c"},
        "spec": {"devices": devices},
    }


def exactly(name: str = "gpu", **fields: object) -> dict:
    return {"name": name, "exactly": {"deviceClassName": "gpu.example.com", **fields}}


def template(**devices: object) -> dict:
    return {**claim(), "kind": "ResourceClaimTemplate", "spec": {"spec": {"devices": devices}}}


def test_plain_claim_is_accepted(refusals):
    assert refusals(claim(requests=[exactly()])) == []
    assert refusals(template(requests=[exactly()])) == []


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        ({"name": "gpu"}, "Required value: exactly one of `exactly` or `firstAvailable` is required"),
        (
            {**exactly(), "firstAvailable": [{"name": "a"}]},
            "Invalid value: null: exactly one of `exactly` or `firstAvailable` is required, "
            "but multiple fields are set",
        ),
    ],
)
def test_request_has_one_form(refusals, request_: dict, text: str):
    assert refusals(claim(requests=[request_])) == [f"spec.devices.requests[0]: {text}"]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"deviceClassName": ""}, "deviceClassName: Required value"),
        ({"count": -1}, "count: Invalid value: -1: must be greater than zero"),
        (
            {"allocationMode": "All", "count": 2},
            "count: Invalid value: 2: must not be specified when allocationMode is 'All'",
        ),
        (
            {"allocationMode": "Some"},
            'allocationMode: Unsupported value: "Some": supported values: "All", "ExactCount"',
        ),
        ({"selectors": [{}]}, "selectors[0].cel: Required value"),
        ({"selectors": [{}] * 33}, "selectors: Too many: 33: must have at most 32 items"),
        (
            {"selectors": [{"cel": {"expression": "x" * 10241}}]},
            "selectors[0].cel.expression: Too long: may not be more than 10240 bytes",
        ),
        (
            {"tolerations": [{"operator": "Is"}]},
            'tolerations[0].operator: Unsupported value: "Is": supported values: "Equal", "Exists"',
        ),
        (
            {"tolerations": [{"operator": "Exists", "value": "x"}]},
            'tolerations[0].value: Invalid value: "x": must be empty for operator `Exists`',
        ),
        (
            {"tolerations": [{"operator": "Exists", "effect": "Never"}]},
            'tolerations[0].effect: Unsupported value: "Never": supported values: "NoExecute", "NoSchedule", "None"',
        ),
    ],
)
def test_exact_request_keeps_the_rules(refusals, fields: dict, text: str):
    assert refusals(claim(requests=[exactly(**fields)])) == [f"spec.devices.requests[0].exactly.{text}"]


def test_names_of_requests_are_labels_and_unique(refusals):
    assert refusals(claim(requests=[exactly("GPU"), exactly("b"), exactly("b")])) == [
        f'spec.devices.requests[0].name: Invalid value: "GPU": {LABEL}',
        'spec.devices.requests[2]: Duplicate value: {"name":"b","exactly":{"deviceClassName":"gpu.example.com",'
        '"allocationMode":"ExactCount","count":1}}',
    ]


def test_alternatives_are_limited_and_unique(refusals):
    nine = [{"name": f"a{index}", "deviceClassName": "gpu"} for index in range(9)]
    assert refusals(claim(requests=[{"name": "gpu", "firstAvailable": nine}])) == [
        "spec.devices.requests[0].firstAvailable: Too many: 9: must have at most 8 items"
    ]
    twice = [{"name": "a", "deviceClassName": "gpu"}, {"deviceClassName": "gpu", "name": "a"}]
    assert refusals(claim(requests=[{"name": "gpu", "firstAvailable": twice}])) == [
        'spec.devices.requests[0].firstAvailable[1]: Duplicate value: {"name":"a","deviceClassName":"gpu",'
        '"allocationMode":"ExactCount","count":1}'
    ]


def test_constraints_name_requests_and_attributes(refusals):
    requests = [exactly("a"), {"name": "b", "firstAvailable": [{"name": "x", "deviceClassName": "gpu"}]}]
    good = {"requests": ["a", "b", "b/x"], "matchAttribute": "gpu.example.com/numa"}
    assert refusals(claim(requests=requests, constraints=[good])) == []
    bad = [
        {"requests": ["c"], "matchAttribute": "gpu.example.com/numa"},
        {"requests": ["a/b/c"], "matchAttribute": "gpu.example.com/numa"},
        {"matchAttribute": "numa"},
        {"distinctAttribute": "GPU/numa-1"},
        {},
    ]
    path = "spec.devices.constraints"
    assert refusals(claim(requests=requests, constraints=bad)) == [
        f'{path}[0].requests[0]: Invalid value: "c": {REFERENCE}',
        f'{path}[1].requests[0]: Invalid value: "a/b/c": {REFERENCE}',
        f'{path}[4]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, '
        "but multiple fields are set",
        f'{path}[2].matchAttribute: Invalid value: "numa": a fully qualified name must be a domain and a name '
        "separated by a slash",
        f'{path}[3].distinctAttribute: Invalid value: "GPU": prefix: a lowercase RFC 1123 subdomain must consist of '
        "lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character "
        "(e.g. 'example.com', regex used for validation is "
        r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        f'{path}[3].distinctAttribute: Invalid value: "numa-1": a valid C identifier must start with alphabetic '
        "character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or "
        "'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')",
    ]


def test_constraint_without_attribute_is_told_what_it_lacks_when_only_one_kind_exists(refusals):
    context = validation.Context(gates=features.defaults() - {"DRAConsumableCapacity"})
    assert refusals(claim(requests=[exactly()], constraints=[{}]), context) == [
        "spec.devices.constraints[0].matchAttribute: Required value"
    ]


def test_configuration_is_for_a_driver(refusals):
    config = [
        {},
        {"opaque": {"parameters": {}}},
        {"opaque": {"driver": "d", "parameters": None}},
        {"opaque": {"driver": "d", "parameters": [1]}},
        {"opaque": {"driver": "d", "parameters": {"a": "x" * 10240}}},
    ]
    assert refusals(claim(requests=[exactly()], config=config)) == [
        "spec.devices.config[0].opaque: Required value",
        "spec.devices.config[2].opaque.parameters: Required value",
        'spec.devices.config[3].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object',
        "spec.devices.config[4].opaque.parameters: Too long: may not be more than 10240 bytes",
        "spec.devices.config[1].opaque.driver: Required value",
    ]


def test_admin_access_needs_the_label_of_the_namespace(refusals):
    admin = [exactly(adminAccess=True)]
    assert refusals(claim(requests=admin)) == [f"spec.devices.requests[0].adminAccess: {ADMIN}"]
    assert refusals(template(requests=admin)) == [f"spec.devices.requests[0].adminAccess: {ADMIN}"]
    context = validation.Context(namespace_labels={"resource.kubernetes.io/admin-access": "true"})
    assert refusals(claim(requests=admin), context) == []


def test_derived_attribute_is_for_a_constraint(refusals):
    derived = [{"name": "d.example.com/slot", "expression": "1"}]
    request = exactly(derivedAttributes=derived)
    assert refusals(claim(requests=[request])) == [
        'spec.devices.requests[0].exactly.derivedAttributes[0].name: Invalid value: "d.example.com/slot": must be '
        "referenced by at least one matchAttribute or distinctAttribute constraint targeting this request"
    ]
    assert refusals(claim(requests=[request], constraints=[{"matchAttribute": "d.example.com/slot"}])) == []


def derived(expression: str, count: int = 1) -> dict:
    """Return a claim with derived attributes that constraints are about."""
    names = [f"d.example.com/slot{index}" for index in range(count)]
    attributes = [{"name": name, "expression": expression} for name in names]
    constraints = [{"matchAttribute": name} for name in names]
    return claim(requests=[exactly(derivedAttributes=attributes)], constraints=constraints)


def test_expression_of_a_derived_attribute_is_compiled(refusals):
    place = "spec.devices.requests[0].exactly.derivedAttributes[0].expression: "
    wanted = "must evaluate to a primitive scalar (string, integer, boolean, semver), not "
    assert refusals(derived('device.attributes["d.example.com"].slot')) == []
    assert refusals(derived("1.5")) == [f'{place}Invalid value: "1.5": {wanted}double']
    assert refusals(derived("x" * 10241)) == [f"{place}Too long: may not be more than 10240 bytes"]


def test_derived_attributes_of_a_claim_have_one_limit_of_cost(refusals):
    half = 'device.attributes.map(domain, device.attributes[domain].map(name, name + "a")).size()'
    expression = f"{half} + {half}"
    costs = cel.compile_derived(expression, "new").max_cost
    fitting = 1_000_000 // costs
    assert 1 <= fitting < 32
    assert refusals(derived(expression, fitting)) == []
    assert refusals(derived(expression, fitting + 1)) == [
        "spec.devices: Forbidden: too complex, total cost of derived attribute CEL expressions in the claim exceeds "
        "cost limit"
    ]


@pytest.mark.parametrize(
    ("expression", "gates", "message"),
    [
        ("device.allowMultipleAllocations", {"DRAConsumableCapacity"}, None),
        ("device.allowMultipleAllocations", (), "undefined field 'allowMultipleAllocations'"),
        ('device.attributes["d"].a.includes(1)', {"DRAListTypeAttributes"}, None),
        ('device.attributes["d"].a.includes(1)', (), "undeclared reference to 'includes' (in container '')"),
    ],
)
def test_new_selector_may_use_what_the_gates_allow(refusals, expression, gates, message):
    context = validation.Context(frozenset(gates))
    obj = claim(requests=[exactly(selectors=[{"cel": {"expression": expression}}])])
    found = refusals(obj, context)
    assert [message in text for text in found] == ([True] if message else [])


def test_spec_never_changes(update_refusals):
    old = claim(requests=[exactly()])
    old["metadata"]["resourceVersion"] = "1"
    new = {**old, "spec": {"devices": {}}}
    assert update_refusals(old, old) == []
    assert update_refusals(new, old) == ["spec: Invalid value: null: field is immutable"]


def test_template_never_changes(update_refusals):
    old = template(requests=[])
    old["metadata"]["resourceVersion"] = "1"
    new = {**old, "spec": {"spec": {}, "metadata": {"labels": {"a": "b"}}}}
    assert update_refusals(new, old) == [
        'spec: Invalid value: {"metadata":{"labels":{"a":"b"}},"spec":{}}: field is immutable'
    ]


def test_metadata_is_checked(refusals):
    bad = claim(requests=[exactly()])
    bad["metadata"] = {"namespace": "team-a", "labels": {"a b": "x"}, "generateName": ""}
    assert refusals(bad) == [
        "metadata.name: Required value: name or generateName is required",
        "metadata.labels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', "
        "and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex "
        "used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ]
