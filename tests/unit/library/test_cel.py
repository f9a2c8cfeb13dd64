from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

import drayman
from drayman import cel

DEVICE = {
    "driver": "gpu.example.com",
    "attributes": {"model": {"string": "LATEST"}, "index": {"int": 3}, "driverVersion": {"version": "1.2.3"}},
    "capacity": {"memory": {"value": "80Gi"}},
}


@pytest.mark.parametrize(
    ("expression", "selected"),
    [
        ('device.driver == "gpu.example.com"', True),
        ('device.attributes["gpu.example.com"].index > 3', False),
        ('device.attributes["gpu.example.com"].model.lowerAscii().matches("^latest$")', True),
        ('device.attributes["gpu.example.com"].driverVersion.isGreaterThan(semver("1.0.0"))', True),
        ('device.capacity["gpu.example.com"].memory == quantity("80Gi")', True),
        ('device.attributes["gpu.example.com"].?absent.orValue(false)', False),
    ],
)
def test_selector_says_whether_a_device_is_meant(expression: str, selected: bool) -> None:
    assert cel.compile(expression).matches(DEVICE) is selected


def test_driver_may_be_named_beside_the_device() -> None:
    selector = cel.compile('device.driver == "other"')
    assert selector.matches(DEVICE, "other")
    assert not selector.matches(DEVICE)


def test_error_of_an_expression_has_its_place() -> None:
    with pytest.raises(drayman.CELCompileError) as caught:
        cel.compile("true &&\n device.nope")
    assert str(caught.value) == (
        "compilation failed: ERROR: <input>:2:8: undefined field 'nope'\n |  device.nope\n | .......^"
    )
    assert caught.value.issues == ((2, 8, "undefined field 'nope'"),)


def test_expression_of_another_type_is_refused() -> None:
    with pytest.raises(drayman.CELCompileError) as caught:
        cel.compile("device.driver")
    assert str(caught.value) == "must evaluate to bool or the unknown type, not string"
    assert caught.value.issues == ()


def test_missing_attribute_is_an_error_with_upstreams_advice() -> None:
    selector = cel.compile('device.attributes["gpu.example.com"].absent')
    with pytest.raises(drayman.CELRuntimeError) as caught:
        selector.matches(DEVICE)
    assert str(caught.value) == "no such key: absent"
    assert caught.value.hint == (
        "consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() "
        "for optional fields"
    )


def test_evaluation_tells_value_error_and_cost() -> None:
    found = cel.compile('device.attributes["gpu.example.com"].index').evaluate(DEVICE)
    assert (found.value, found.error, found.cost) == (3, None, 4)
    failed = cel.compile('device.attributes["gpu.example.com"].absent').evaluate(DEVICE)
    assert failed.value is None
    assert str(failed.error) == "no such key: absent"


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ({"version": "1.2.3"}, drayman.Version("1.2.3")),
        ({"string": "é"}, "é"),
        ({"ints": [1, 2]}, [1, 2]),
        ({"bool": True}, True),
    ],
)
def test_values_are_those_of_python(attribute: dict[str, object], value: object) -> None:
    device = {"driver": "d", "attributes": {"a": attribute}}
    assert cel.compile('device.attributes["d"].a').evaluate(device).value == value


def test_new_expressions_have_no_more_than_the_server_allows() -> None:
    with pytest.raises(drayman.CELCompileError):
        cel.compile('device.attributes["d"].a.includes(1)', "new")
    assert cel.compile('device.attributes["d"].a.includes(1)', "stored").max_cost > 0


def test_unknown_environment_is_refused() -> None:
    with pytest.raises(drayman.InputError) as caught:
        cel.compile("true", "old")  # type: ignore[arg-type]
    assert str(caught.value) == "environment `old` is not known; known are `stored`, `new`"


def test_device_that_is_no_device_is_an_input_error() -> None:
    with pytest.raises(drayman.InputError) as caught:
        cel.compile("true").matches({"attributes": {"a": {"int": "three"}}})
    assert "invalid type" in str(caught.value)


def test_selectors_are_shared_between_threads() -> None:
    selector = cel.compile('device.attributes["gpu.example.com"].index == 3')
    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(lambda _: selector.matches(DEVICE), range(200)))
