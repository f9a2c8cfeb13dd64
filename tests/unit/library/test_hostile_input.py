"""Whatever objects say, the answer is an outcome or one of our errors, never a panic."""

from __future__ import annotations

import contextlib
import copy
import random
from typing import TYPE_CHECKING, Any

import pytest

import drayman
from drayman import cel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .conftest import Object, Objects

ODD_VALUES: tuple[Any, ...] = (
    *(None, "", True, 0, -1, 2**63 - 1, -(2**63), 2**64, 1.5, [], {}),
    *("x" * 300, "1Gi", "-5", "1e1000", "99999999999999999999", "a/b/c", "All", "ExactCount", "é", "device.driver"),
)


@pytest.fixture
def base(objects: Objects) -> list[Object]:
    """Objects that use every part of the API at once."""
    slice_ = objects.slice("worker-1", 3)
    slice_["spec"]["devices"][0] |= {
        "allowMultipleAllocations": True,
        "capacity": {
            "memory": {
                "value": "80Gi",
                "requestPolicy": {"default": "1Gi", "validRange": {"min": "1Gi", "max": "40Gi", "step": "1Gi"}},
            }
        },
        "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}],
    }
    slice_["spec"]["devices"][1] |= {"consumesCounters": [{"counterSet": "set", "counters": {"c": {"value": "1"}}}]}
    counters = copy.deepcopy(slice_)
    counters["metadata"]["name"] = "counters"
    del counters["spec"]["devices"]
    counters["spec"]["sharedCounters"] = [{"name": "set", "counters": {"c": {"value": "1"}}}]
    for part in (slice_, counters):
        part["spec"]["pool"]["resourceSliceCount"] = 2
    claim = objects.claim(
        "claim",
        count=1,
        selectors=[{"cel": {"expression": 'device.attributes["gpu.example.com"].index >= 0'}}],
        tolerations=[{"key": "k", "operator": "Exists"}],
        capacity={"requests": {"memory": "2Gi"}},
    )
    claim["spec"]["devices"]["requests"].append(
        {"name": "more", "firstAvailable": [{"name": "a", "deviceClassName": "gpu", "count": 9}]}
    )
    claim["spec"]["devices"]["constraints"] = [{"matchAttribute": "gpu.example.com/index"}]
    return [slice_, counters, objects.device_class(), objects.node("worker-1"), claim]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container in `value` with each of its keys or positions."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from places(value[key])


@pytest.mark.parametrize("seed", range(8))
def test_odd_values_never_panic(base: list[Object], seed: int) -> None:
    choice = random.Random(seed)
    for _ in range(100):
        objects = copy.deepcopy(base)
        for _ in range(choice.randint(1, 3)):
            container, key = choice.choice(list(places(objects)))
            container[key] = copy.deepcopy(choice.choice(ODD_VALUES))
        given = [obj for obj in objects if isinstance(obj, dict)]
        with contextlib.suppress(drayman.DraymanError):
            cluster = drayman.Cluster.from_objects(given, compatibility=choice.choice(["1.37", "fixed"]))
            for name in cluster.claims:
                outcome = cluster.allocate(name)
                if isinstance(outcome, drayman.Unallocatable):
                    assert outcome.explanation.line()


def test_huge_object_is_refused() -> None:
    with pytest.raises(drayman.InputError) as caught:
        drayman.Inventory().apply(b"{" + b" " * (3 * 1024 * 1024) + b"}")
    assert str(caught.value) == "object of 3145730 bytes exceeds the limit of 3145728"


@pytest.mark.parametrize(
    ("obj", "field"),
    [
        ({"kind": "\ud800"}, "kind"),
        ({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "\udfff"}}, "metadata.name"),
        ({"kind": "Node", "metadata": {"labels": {"a": "b", "\ud800": "c"}}}, "metadata.labels"),
        ({"spec": {"devices": [{"name": "a"}, {"name": "\ud800"}]}}, "spec.devices[1].name"),
    ],
)
def test_half_a_surrogate_pair_is_an_input_error_with_its_place(obj: Object, field: str) -> None:
    with pytest.raises(drayman.InputError) as caught:
        drayman.Inventory().apply(obj)
    assert "text that is no Unicode: half a surrogate pair" in str(caught.value)
    assert caught.value.field == field


def test_half_a_surrogate_pair_is_an_input_error_in_every_argument() -> None:
    half = "\ud800"
    inventory = drayman.Inventory()
    calls: list[Callable[[], object]] = [
        lambda: inventory.apply(b'{"kind": "\\ud800"}'),
        lambda: inventory.delete(half, "a"),
        lambda: inventory.delete("Node", half),
        lambda: inventory.delete("ResourceClaim", "a", half),
        lambda: inventory.assume(half, "a", {}),
        lambda: inventory.assume("a", "a", {"devices": {"results": [{"request": half}]}}),
        lambda: inventory.forget("a", half),
        lambda: inventory.holders(f"a/b/{half}"),
        lambda: inventory.evaluate([], [half]),
        lambda: inventory.evaluate([{"metadata": {"name": half}}]),
        lambda: drayman.Allocator([], [], allocated=drayman.AllocatedState(devices=[f"a/b/{half}"])),
        lambda: drayman.Allocator([], [], allocated=drayman.AllocatedState(shared=[f"a/b/c/{half}"])),
        lambda: drayman.Allocator(
            [], [], allocated=drayman.AllocatedState(consumed_capacity={"a/b/c": {"memory": half}})
        ),
        lambda: drayman.Quantity(half),
        lambda: drayman.Version(half),
        lambda: cel.compile("true", half),  # type: ignore[arg-type]
        lambda: cel.compile("true").matches({}, half),
        lambda: cel.compile("true").evaluate({}, half),
        lambda: cel.compile("true").evaluate({"driver": half}),
        lambda: cel.Devices([(half, {})]),
        lambda: inventory.evaluate([], ["a"])[half],
    ]
    for call in calls:
        with pytest.raises(drayman.InputError):
            call()


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        ("text", "expected an object with `apiVersion` and `kind`, found `str`"),
        (None, "expected an object with `apiVersion` and `kind`, found `NoneType`"),
        ({"kind": "List", "items": [7]}, "expected an object with `apiVersion` and `kind`, found `int`"),
        ({"apiVersion": 1, "kind": "Node"}, "apiVersion: expected a string, found `int`"),
        ({"apiVersion": "v1", "kind": ["Node"]}, "kind: expected a string, found `list`"),
    ],
)
def test_what_is_no_object_is_an_input_error(obj: Any, message: str) -> None:
    with pytest.raises(drayman.InputError) as caught:
        drayman.Cluster.from_objects([obj])
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("used", "message"),
    [
        ("80Gi", "device d/p/a: expected capacities by name, found `str`"),
        (
            {"memory": None},
            "device d/p/a: memory: quantities must match the regular expression"
            " '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
    ],
)
def test_consumed_capacity_that_cannot_be_read_is_an_input_error_with_its_place(used: Any, message: str) -> None:
    with pytest.raises(drayman.InputError) as caught:
        drayman.Allocator([], [], allocated=drayman.AllocatedState(consumed_capacity={"d/p/a": used}))
    assert str(caught.value) == message


@pytest.mark.parametrize("used", ["2", 2, drayman.Quantity("2")])
def test_consumed_capacity_may_be_text_a_number_or_a_quantity(objects: Objects, used: Any) -> None:
    slice_ = objects.slice("worker-1", 1)
    slice_["spec"]["devices"][0] |= {"allowMultipleAllocations": True, "capacity": {"memory": {"value": "3"}}}
    allocator = drayman.Allocator(
        [slice_],
        [objects.device_class()],
        allocated=drayman.AllocatedState(consumed_capacity={"gpu.example.com/worker-1/gpu-0": {"memory": used}}),
    )
    claims = [objects.claim("claim", allocationMode="ExactCount", count=1, capacity={"requests": {"memory": "2"}})]
    assert not allocator.allocate(objects.node("worker-1"), claims)


def test_half_a_surrogate_pair_in_an_expression_is_read_as_upstream_reads_such_bytes() -> None:
    assert cel.compile('"\ud800" == "\ufffd"').matches({})
    assert cel.inspect('"\ud800" == "\ufffd"').parsed


@pytest.mark.parametrize("steps", [-1, 2**64])
def test_steps_that_cannot_be_counted_are_an_input_error(steps: int) -> None:
    with pytest.raises(drayman.InputError) as caught:
        drayman.Budget(steps=steps)
    needed = f"needed is a number from 0 to {2**64 - 1}"
    assert str(caught.value) == f"budget: `{steps}` steps cannot be counted; {needed}"


def test_seconds_that_never_pass_are_an_input_error() -> None:
    with pytest.raises(drayman.InputError) as caught:
        drayman.Budget(seconds=float("nan"))
    assert str(caught.value) == "budget: `nan` seconds never pass; needed is a number"


def test_whole_numbers_of_any_size_are_quantities_or_input_errors() -> None:
    assert str(drayman.Quantity(2**70)) == str(drayman.Quantity(str(2**70)))
    assert drayman.Quantity(-(2**63)).value() == -(2**63)
    for number in (10**2_000, 10**10_000):
        with pytest.raises(drayman.InputError):
            drayman.Quantity(number)


def test_what_is_not_used_of_a_slice_is_said(objects: Objects) -> None:
    inventory = drayman.Inventory(features=[])
    obj = objects.slice("worker-1", 1, perDeviceNodeSelection=True)
    obj["spec"]["devices"][0]["attributes"]["color"] = {"rgb": "fff"}
    inventory.apply(obj)
    assert [(remark.pool, remark.slice, remark.message) for remark in inventory.remarks()] == [
        (
            "gpu.example.com/worker-1",
            "worker-1-gpu.example.com",
            "the slice is passed over: it needs the feature gate DRAPartitionableDevices",
        ),
        (
            "gpu.example.com/worker-1",
            "worker-1-gpu.example.com",
            "device gpu-0, attribute color: the value is of no known type",
        ),
    ]
