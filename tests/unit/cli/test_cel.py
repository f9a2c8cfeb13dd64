from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.unit.cli.manifests import GPU, device_class, files, slice_

if TYPE_CHECKING:
    from tests.unit.cli.conftest import CommandLine

HINT = (
    "consider using CEL optional chaining (.? followed by orValue()) "
    "or guarding the check with has() for optional fields"
)
NIC = """\
name: nic-3
driver: nic.example.com
attributes: {speed: {int: 400}, firmware: {version: 2.1.0}, rails: {ints: [1, 2]}}
capacity: {bandwidth: {value: 400G}}
"""
COSTLY = "device.attributes.all(d, " + "device.attributes[d].all(i, " * 4 + "true" + ")" * 5


def test_expression_alone_is_compiled_and_its_cost_estimated(drayman: CommandLine) -> None:
    result = drayman.run("cel", "device.driver == 'gpu.example.com'")
    assert (result.code, result.out, result.err) == (0, "TYPE   MAX COST\nbool   4\n", "")


def test_value_and_cost_are_told_for_each_device(drayman: CommandLine) -> None:
    drayman.write("slices.yaml", files(slice_("worker-1", devices=1), slice_("worker-1", devices=1, driver="nic")))
    result = drayman.run("cel", "device.driver == 'nic'", "--device", "slices.yaml")
    assert (result.code, result.err) == (0, "")
    assert (
        result.out
        == """\
TYPE   MAX COST
bool   3

DEVICE                           VALUE   COST
gpu.example.com/worker-1/gpu-0   false   3
nic/worker-1/gpu-0               true    3
"""
    )


def test_devices_of_the_catalogue_are_named_with_with(drayman: CommandLine) -> None:
    result = drayman.run("cel", f"device.attributes['{GPU}'].index == 7", "--with", GPU, "-o", "json")
    devices = json.loads(result.out)["devices"]
    assert (result.code, result.err) == (0, "")
    assert [device["device"] for device in devices if device["value"]] == ["gpu.example.com/node-1/gpu-7"]
    assert len(devices) == 8


def test_lone_device_needs_no_slice(drayman: CommandLine) -> None:
    expression = "device.capacity['nic.example.com'].bandwidth.isLessThan(quantity('1T'))"
    result = drayman.run("cel", expression, "--device", "-", "-o", "json", stdin=NIC.encode())
    assert (result.code, result.err) == (0, "")
    assert json.loads(result.out) == {
        "version": 1,
        "kubernetes": "1.37",
        "compatibility": "1.37",
        "environment": "stored",
        "expression": expression,
        "type": "bool",
        "maxCost": 6,
        "devices": [{"device": "nic-3", "cost": 6, "value": True}],
    }


@pytest.mark.parametrize(
    ("attribute", "value", "type_name", "cause"),
    [
        ("speed", 400, "int", "unsupported type conversion from 'int' to bool"),
        ("firmware", "2.1.0", "kubernetes.Semver", "type conversion error from 'Semver' to 'bool'"),
        ("rails", [1, 2], "list", "type conversion error from list to 'bool'"),
    ],
)
def test_value_that_is_no_bool_is_shown_with_what_the_scheduler_says(
    drayman: CommandLine, attribute: str, value: object, type_name: str, cause: str
) -> None:
    drayman.write("nic.yaml", NIC)
    result = drayman.run(
        "cel", f"device.attributes['nic.example.com'].{attribute}", "--device", "nic.yaml", "-o", "json"
    )
    told = json.loads(result.out)
    assert (result.code, result.err, told["type"]) == (1, "", "dyn")
    assert told["devices"] == [
        {
            "device": "nic-3",
            "cost": 4,
            "value": value,
            "error": f"CEL result of type {type_name} could not be converted to bool: {cause}",
        }
    ]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("dyn(device.capacity)", {"nic.example.com": {"bandwidth": "400G"}}),
        ("dyn(ip('2001:DB8::1'))", "2001:db8::1"),
        ("dyn(b'hi')", "aGk="),
        ("dyn(optional.none())", None),
    ],
)
def test_value_of_any_type_can_be_shown(drayman: CommandLine, expression: str, value: object) -> None:
    drayman.write("nic.yaml", NIC)
    result = drayman.run("cel", expression, "--device", "nic.yaml", "-o", "json")
    assert (result.code, json.loads(result.out)["devices"][0].get("value")) == (1, value)


def test_selector_that_is_false_everywhere_is_a_no(drayman: CommandLine) -> None:
    drayman.write("nic.yaml", NIC)
    result = drayman.run("cel", "device.driver == 'other'", "--device", "nic.yaml")
    assert (result.code, result.err) == (3, "")
    assert result.out.endswith("DEVICE   VALUE   COST\nnic-3    false   3\n")


def test_failing_evaluation_is_told_with_its_hint(drayman: CommandLine) -> None:
    drayman.write("slices.yaml", slice_("worker-1"))
    arguments = ("cel", f"device.attributes['{GPU}'].modell == 'x'", "--device", "slices.yaml")
    result = drayman.run(*arguments)
    assert (result.code, result.err) == (1, f"hint: {HINT}\n")
    assert (
        result.out
        == """\
TYPE   MAX COST
bool   5

DEVICE                           VALUE                        COST
gpu.example.com/worker-1/gpu-0   error: no such key: modell   5
gpu.example.com/worker-1/gpu-1   error: no such key: modell   5
"""
    )
    told = json.loads(drayman.run(*arguments, "-o", "json").out)
    device = {"device": "gpu.example.com/worker-1/gpu-0", "cost": 5, "error": "no such key: modell", "hint": HINT}
    assert told["devices"][0] == device


def test_expression_that_does_not_compile_is_shown_with_the_place(drayman: CommandLine) -> None:
    result = drayman.run("cel", "true &&\n  device.nope", "--with", GPU)
    assert (result.code, result.out) == (1, "")
    assert (
        result.err
        == """\
error: compilation failed: ERROR: <input>:2:9: undefined field 'nope'
 |   device.nope
 | ........^
"""
    )


def test_json_has_the_findings_of_the_compiler(drayman: CommandLine) -> None:
    result = drayman.run("cel", "device.nope == 1", "-o", "json")
    told = json.loads(result.out)
    assert (result.code, result.err) == (1, f"error: {told['error']}\n")
    assert told["issues"] == [{"line": 1, "column": 7, "message": "undefined field 'nope'"}]


def test_expression_is_read_from_standard_input(drayman: CommandLine) -> None:
    result = drayman.run("cel", "-", "-o", "json", stdin=b"true ||\n  false\n")
    assert (result.code, json.loads(result.out)["expression"]) == (0, "true ||\n  false")


def test_standard_input_is_read_once(drayman: CommandLine) -> None:
    result = drayman.run("cel", "-", "--device", "-")
    assert (result.code, result.out) == (2, "")
    assert result.err.endswith("drayman cel: error: standard input is either the EXPRESSION or a device\n")


def test_new_objects_may_not_use_what_is_behind_a_gate(drayman: CommandLine) -> None:
    drayman.write("nic.yaml", NIC)
    arguments = ("cel", "device.attributes['nic.example.com'].rails.includes(2)", "--device", "nic.yaml")
    assert drayman.run(*arguments).code == 0
    refused = drayman.run(*arguments, "--environment", "new")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("error: compilation failed: ERROR: <input>:1:52: undeclared reference to 'includes'")


@pytest.mark.parametrize(
    ("expression", "refusal"),
    [
        (COSTLY, "too complex, exceeds cost limit: it can cost 109322499 of 1000000"),
        (f"'{'x' * 10240}' == ''", "Too long: may not be more than 10240 bytes"),
    ],
)
def test_limits_of_the_api_server_hold_for_new_objects(drayman: CommandLine, expression: str, refusal: str) -> None:
    stored = drayman.run("cel", expression)
    assert (stored.code, stored.err) == (0, f"note: the API server refuses it in new objects: {refusal}\n")
    new = drayman.run("cel", expression, "--environment", "new")
    assert (new.code, new.out, new.err) == (1, "", f"error: expression: {refusal}\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("attributes: {}\n", "device.yaml:1: driver: not set"),
        ("driver: 1\n", "device.yaml:1: driver: not text"),
        ("driver: d\nattributs: {}\n", "device.yaml:2: attributs: unknown field\nhint: did you mean `attributes`?"),
        (
            "driver: d\nattributes:\n  a: {int: x}\n",
            "device.yaml:3: attributes.a.int: json: cannot unmarshal string into Go struct field "
            "DeviceAttribute.spec.devices.attributes.int of type int64",
        ),
        (slice_("worker-1", devices=0), "device.yaml: no devices in the given files"),
    ],
)
def test_bad_device_is_named_with_file_and_field(drayman: CommandLine, text: str, message: str) -> None:
    drayman.write("device.yaml", text)
    result = drayman.run("cel", "true", "--device", "device.yaml")
    assert (result.code, result.out, result.err) == (1, "", f"error: {message}\n")


def test_other_kinds_are_skipped_with_a_note(drayman: CommandLine) -> None:
    drayman.write("all.yaml", files(device_class(), slice_("worker-1")))
    result = drayman.run("cel", "true", "--device", "all.yaml")
    assert (result.code, result.err) == (0, "note: `cel` does not use DeviceClass: skipped\n")
