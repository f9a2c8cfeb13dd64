"""A search ends with its budget and says what it knows, and errors are strict unless they need not be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import drayman

if TYPE_CHECKING:
    from .conftest import Object, Objects


class StoppedClock:
    """Shows one time more with every look at it."""

    def __init__(self) -> None:
        self.looks = 0

    def monotonic(self) -> float:
        self.looks += 1
        return float(self.looks)


@pytest.fixture
def inventory(objects: Objects) -> drayman.Inventory:
    """Two nodes: a small one, and one on which a long search begins."""
    inventory = drayman.Inventory()
    for obj in (objects.device_class(), objects.slice("worker-1", 8), objects.slice("worker-2", 640)):
        inventory.apply(obj)
    return inventory


@pytest.fixture
def claims(objects: Objects) -> list[Object]:
    """Claims for 640 devices together."""
    return [objects.claim(f"claim-{index:02}", allocationMode="ExactCount", count=16) for index in range(40)]


def exceeded(inventory: drayman.Inventory, claims: list[Object], budget: Any) -> drayman.BudgetExceededError:
    with pytest.raises(drayman.BudgetExceededError) as caught:
        inventory.evaluate(claims, budget=budget)
    return caught.value


def test_nodes_before_the_end_of_the_steps_have_outcomes(inventory: drayman.Inventory, claims: list[Object]) -> None:
    error = exceeded(inventory, claims, drayman.Budget(steps=100))
    assert str(error) == "no answer within 100 steps"
    assert {node: bool(outcome) for node, outcome in error.partial.items()} == {"worker-1": False}
    assert error.partial.unfinished.node == "worker-2"
    assert error.partial.unfinished.taken[0] == ("default/claim-00", "devices", "gpu.example.com/worker-2/gpu-0")
    assert 16 < len(error.partial.unfinished.taken) < 100


def test_search_without_time_does_not_begin(inventory: drayman.Inventory, claims: list[Object]) -> None:
    error = exceeded(inventory, claims, drayman.Budget(seconds=0))
    assert str(error) == "no answer in time, after 0 steps"
    assert (dict(error.partial), error.partial.unfinished) == ({}, drayman.Unfinished("worker-1", ()))


def test_search_ends_at_its_deadline(inventory: drayman.Inventory, claims: list[Object]) -> None:
    clock: Any = StoppedClock()
    error = exceeded(inventory, claims, drayman.Budget(seconds=2, clock=clock))
    assert str(error) == "no answer in time, after 256 steps"
    assert list(error.partial) == ["worker-1"]
    assert error.partial.unfinished.taken


def test_search_ends_when_it_is_cancelled(inventory: drayman.Inventory, claims: list[Object]) -> None:
    answers = iter((False, False, True))
    error = exceeded(inventory, claims, drayman.Budget(cancelled=lambda: next(answers)))
    assert str(error) == "cancelled after 512 steps"


def test_what_the_question_raises_ends_the_search(inventory: drayman.Inventory, claims: list[Object]) -> None:
    def cancelled() -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        inventory.evaluate(claims, budget=drayman.Budget(cancelled=cancelled))


def test_budget_that_suffices_changes_nothing(inventory: drayman.Inventory, claims: list[Object]) -> None:
    clock: Any = StoppedClock()
    budget = drayman.Budget(steps=10_000, seconds=100, cancelled=lambda: False, clock=clock)
    assert inventory.evaluate(claims, budget=budget).fitting == inventory.evaluate(claims).fitting == ["worker-2"]


def test_allocator_keeps_to_its_budget(objects: Objects) -> None:
    allocator = drayman.Allocator([objects.slice("worker-1", 8)], [objects.device_class()])
    wanted = objects.claim("claim", allocationMode="ExactCount", count=8)
    with pytest.raises(drayman.BudgetExceededError) as caught:
        allocator.allocate(objects.node("worker-1"), [wanted], budget=drayman.Budget(steps=4))
    partial = caught.value.partial
    assert (len(partial), partial.steps, partial.unfinished.node) == (0, 4, "worker-1")
    assert [device for _, _, device in partial.unfinished.taken] == [
        f"gpu.example.com/worker-1/gpu-{index}" for index in range(3)
    ]


@pytest.mark.parametrize("strict", [True, False])
def test_errors_that_upstream_would_meet_are_strict(objects: Objects, strict: bool) -> None:
    devices = [{"name": "a", "attributes": {"main": {"bool": True}}}, {"name": "b"}, {"name": "c"}]
    claim = objects.claim("claim")
    own = 'device.attributes["gpu.example.com"]'
    # The first request has to give its device to the second; then the third is reached, and nothing helps the last.
    claim["spec"]["devices"]["requests"] = [
        request("any"),
        request("main", f"has({own}.main)"),
        request("broken", f"{own}.nope == 1"),
        request("many", count=5),
    ]
    inventory = drayman.Inventory(strict_errors=strict)
    inventory.apply(objects.device_class())
    inventory.apply(objects.slice("worker-1") | {"spec": {**objects.slice("worker-1")["spec"], "devices": devices}})
    if strict:
        with pytest.raises(drayman.CELRuntimeError):
            inventory.evaluate([claim])
    else:
        assert isinstance(inventory.evaluate([claim])["worker-1"], drayman.Unallocatable)


def request(name: str, *selectors: str, count: int = 1) -> Object:
    cel = [{"cel": {"expression": text}} for text in selectors]
    return {"name": name, "exactly": {"deviceClassName": "gpu", "count": count, "selectors": cel}}
