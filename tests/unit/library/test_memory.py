"""An inventory takes no more memory after many changes than after some."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import drayman
from drayman import _native

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .conftest import Object, Objects

STATUS = Path("/proc/self/statm")
PAGE = 4096
UPDATES = 1_000_000 if _native.BUILD_PROFILE == "release" else 100_000
WARM_UP, CHANGES = 10_000, 50_000
NODES = 200

readable_memory = pytest.mark.skipif(not STATUS.exists(), reason="the resident memory of a process is read from /proc")


@readable_memory
def test_memory_is_flat_over_a_million_updates(objects: Objects) -> None:
    """Far less is kept of an update than any name takes."""
    assert growth(endless_updates(drayman.Inventory(), objects), UPDATES // 10, UPDATES) < UPDATES * 4


@readable_memory
def test_memory_is_flat_over_many_questions(objects: Objects) -> None:
    """Far less is kept of a change than any object takes."""
    assert growth(endless_changes(drayman.Inventory(), objects), WARM_UP, CHANGES) < CHANGES * 40


def growth(changes: Iterator[object], first: int, more: int) -> int:
    """Return by how many bytes `more` changes let the process grow after the `first` ones."""
    next(itertools.islice(changes, first - 1, None))
    before = resident()
    next(itertools.islice(changes, more - 1, None))
    return resident() - before


def endless_updates(inventory: drayman.Inventory, objects: Objects) -> Iterator[object]:
    """Create, update and delete objects of all kinds, of names that recur and of new ones; a question is rare."""
    slice_ = json.dumps(objects.slice("NODE", 1))
    claim = json.dumps({**objects.claim("CLAIM"), "status": {"allocation": allocation("NODE")}})
    free = json.dumps(objects.claim("CLAIM"))
    node = json.dumps(objects.node("NODE", zone="ZONE"))
    rule = json.dumps({**taint_rule("NODE"), "metadata": {"name": "RULE"}})
    inventory.apply(objects.device_class())
    for number in itertools.count():
        known, new = f"worker-{number % NODES}", f"passing-{number}"
        yield apply(inventory, slice_, NODE=known, **{'"generation": 1': f'"generation": {number + 1}'})
        yield apply(inventory, node, NODE=known, ZONE=str(number % 7))
        yield apply(inventory, claim, NODE=known, CLAIM=f"claim-{number % 50}")
        yield apply(inventory, free, CLAIM=f"claim-{(number + 25) % 50}")
        yield apply(inventory, slice_, NODE=new)
        yield apply(inventory, node, NODE=new, ZONE=new)
        yield apply(inventory, claim, NODE=new, CLAIM=new)
        if number % 500 == 0:
            yield apply(inventory, rule, NODE=known, RULE=new)
            assert inventory.evaluate([objects.claim("wanted")])
            inventory.evaluate([objects.claim("wanted")], [f"nowhere-{number}"])
            yield inventory.delete("DeviceTaintRule", new)
        yield inventory.delete("ResourceClaim", new, "default")
        yield inventory.delete("Node", new)
        yield inventory.delete("ResourceSlice", f"{new}-gpu.example.com")


def endless_changes(inventory: drayman.Inventory, objects: Objects) -> Iterator[object]:
    """Replace slices by new generations, take and free devices, ask with new selectors, let nodes come and go."""
    inventory.apply(objects.device_class())
    template = json.dumps(objects.slice("worker", 4))
    for number in itertools.count():
        name = f"worker-{number % 50}"
        inventory.apply(
            template.replace("worker", name).replace('"generation": 1', f'"generation": {number + 1}').encode()
        )
        yield None
        claim = objects.claim(f"claim-{number}")
        if number % 10 == 0:
            expression = f'device.attributes["gpu.example.com"].index >= 0 && {number} >= 0'
            claim["spec"]["devices"]["requests"][0]["exactly"]["selectors"] = [{"cel": {"expression": expression}}]
        held = inventory.evaluate([claim], [name])[name].unwrap()[0]
        inventory.apply({**claim, "apiVersion": "resource.k8s.io/v1", "status": {"allocation": held}})
        yield None
        inventory.delete("ResourceClaim", f"claim-{number}", "default")
        inventory.apply(objects.node(f"passing-{number}", zone=str(number % 7)))
        yield None
        if number % 20 == 0:
            inventory.evaluate([claim])
        inventory.delete("Node", f"passing-{number}")
        inventory.delete("ResourceSlice", f"worker-{(number + 1) % 50}-gpu.example.com")
        yield None


def apply(inventory: drayman.Inventory, template: str, **replacements: str) -> object:
    """Apply an object with other names."""
    for old, new in replacements.items():
        template = template.replace(old, new)
    return inventory.apply(template.encode())


def allocation(pool: str) -> Object:
    """Return the allocation of the first device of a pool."""
    result = {"request": "devices", "driver": "gpu.example.com", "pool": pool, "device": "gpu-0"}
    return {"devices": {"results": [result]}}


def taint_rule(pool: str) -> Object:
    """Return a rule that taints a pool."""
    spec = {"deviceSelector": {"pool": pool}, "taint": {"key": "k", "effect": "NoSchedule"}}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceTaintRule", "spec": spec}


def resident() -> int:
    """Return the resident memory of this process in bytes."""
    return int(STATUS.read_text().split()[1]) * PAGE
