from __future__ import annotations

import copy
import json
import uuid
from typing import TYPE_CHECKING

import pytest

import drayman

if TYPE_CHECKING:
    from .conftest import Object, Objects


@pytest.fixture
def inventory(objects: Objects) -> drayman.Inventory:
    inventory = drayman.Inventory()
    for obj in (objects.slice("worker-1", 1), objects.device_class()):
        inventory.apply(obj)
    return inventory


def allocation(device: str = "gpu-0") -> Object:
    result = {"request": "devices", "driver": "gpu.example.com", "pool": "worker-1", "device": device}
    return {"devices": {"results": [result]}}


def fits(inventory: drayman.Inventory, objects: Objects, node: str = "worker-1") -> bool:
    return isinstance(inventory.evaluate([objects.claim("probe")], [node])[node], drayman.Allocated)


def test_bytes_and_dicts_are_the_same_object(objects: Objects) -> None:
    inventory = drayman.Inventory()
    raw = json.dumps(objects.slice("worker-1", 1)).encode()
    first = inventory.apply(raw)
    again = inventory.apply(objects.slice("worker-1", 1))
    assert (first.kind, first.namespace, first.name) == ("ResourceSlice", "", "worker-1-gpu.example.com")
    assert (first.capacity_added, again.capacity_added) == (True, False)


def test_allocated_claim_holds_its_device_until_it_is_deleted(inventory: drayman.Inventory, objects: Objects) -> None:
    holder = {**objects.claim("holder"), "status": {"allocation": allocation()}}
    inventory.apply(holder)
    assert inventory.holders("gpu.example.com/worker-1/gpu-0") == ["default/holder"]
    assert not fits(inventory, objects)
    change = inventory.delete("ResourceClaim", "holder", "default")
    assert change.devices_freed
    assert fits(inventory, objects)


def test_assumed_allocation_counts_until_it_is_forgotten(inventory: drayman.Inventory, objects: Objects) -> None:
    inventory.assume("default", "train", allocation())
    assert inventory.holders("gpu.example.com/worker-1/gpu-0") == ["default/train"]
    assert not fits(inventory, objects)
    inventory.forget("default", "train")
    assert inventory.holders("gpu.example.com/worker-1/gpu-0") == []
    assert fits(inventory, objects)


def test_assumption_outlives_the_claim_as_it_was_before(inventory: drayman.Inventory, objects: Objects) -> None:
    inventory.assume("default", "train", allocation())
    inventory.apply(objects.claim("train"))
    assert not fits(inventory, objects)


def test_claim_that_loses_its_allocation_frees_the_device(inventory: drayman.Inventory, objects: Objects) -> None:
    inventory.apply({**objects.claim("holder"), "status": {"allocation": allocation()}})
    change = inventory.apply(objects.claim("holder"))
    assert (change.kind, change.namespace, change.name) == ("ResourceClaim", "default", "holder")
    assert (change.devices_freed, change.capacity_added) == (True, False)


def test_copy_changes_on_its_own(inventory: drayman.Inventory, objects: Objects) -> None:
    twin = inventory.copy()
    twin.assume("default", "train", allocation())
    assert not fits(twin, objects)
    assert fits(inventory, objects)


def test_unreadable_object_changes_nothing(inventory: drayman.Inventory, objects: Objects) -> None:
    broken = objects.slice("worker-1", 2)
    broken["spec"]["pool"] = {"name": "worker-1", "generation": "two"}
    with pytest.raises(drayman.InputError) as caught:
        inventory.apply(broken)
    assert str(caught.value) == (
        'ResourceSlice worker-1-gpu.example.com: spec.pool.generation: invalid type: string "two", expected i64'
    )
    assert (caught.value.object, caught.value.field) == (
        "ResourceSlice worker-1-gpu.example.com",
        "spec.pool.generation",
    )
    assert fits(inventory, objects)


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b'{"kind": 1}', b"\xff\xfe", b"[" * 100_000])
def test_hostile_bytes_are_an_input_error(raw: bytes) -> None:
    with pytest.raises(drayman.InputError):
        drayman.Inventory().apply(raw)


def test_deeply_nested_dict_is_an_input_error() -> None:
    nested: object = {}
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(drayman.InputError):
        drayman.Inventory().apply({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "spec": nested})


def test_nodes_are_evaluated_in_the_order_asked_for(inventory: drayman.Inventory, objects: Objects) -> None:
    inventory.apply(objects.slice("worker-0", 1))
    assert inventory.nodes() == ["worker-0", "worker-1"]
    evaluation = inventory.evaluate([objects.claim("train")], ["worker-1", "absent", "worker-0"])
    assert list(evaluation) == ["worker-1", "absent", "worker-0"]
    assert evaluation.fitting == ["worker-1", "worker-0"]


def test_error_on_a_node_fails_that_node_alone_under_fixed(objects: Objects) -> None:
    inventory = drayman.Inventory(compatibility="fixed")
    inventory.apply(objects.slice("worker-1", 1))
    outcome = inventory.evaluate([objects.claim("train")])["worker-1"]
    assert isinstance(outcome, drayman.Failed)
    assert isinstance(outcome.error, drayman.DeviceClassNotFoundError)
    with pytest.raises(drayman.DeviceClassNotFoundError):
        outcome.unwrap()


def test_search_beyond_its_steps_is_given_up(inventory: drayman.Inventory, objects: Objects) -> None:
    with pytest.raises(drayman.BudgetExceededError) as caught:
        inventory.evaluate([objects.claim("train")], budget=drayman.Budget(steps=0))
    assert str(caught.value) == "no answer within 0 steps"
    assert list(caught.value.partial) == []


def test_shares_of_a_device_have_identities_that_are_repeated(objects: Objects) -> None:
    shared = objects.slice("worker-1", 1)
    shared["spec"]["devices"][0] |= {"allowMultipleAllocations": True, "capacity": {"memory": {"value": "80Gi"}}}
    inventory = drayman.Inventory()
    for obj in (shared, objects.device_class()):
        inventory.apply(obj)
    claim = objects.claim("share", capacity={"requests": {"memory": "10Gi"}})
    claim["metadata"]["uid"] = "5f0c9cb1-62b4-4f3c-9a83-5d0f6e0c7e11"
    given = copy.deepcopy(claim)
    results = [inventory.evaluate([claim])["worker-1"].unwrap()[0]["devices"]["results"] for _ in range(2)]
    assert results[0] == results[1]
    assert results[0][0]["shareID"] == str(uuid.uuid5(uuid.UUID(claim["metadata"]["uid"]), "0"))
    assert results[0][0]["consumedCapacity"] == {"memory": "10Gi"}
    assert claim == given
