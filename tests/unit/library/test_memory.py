"""An inventory takes no more memory after many changes than after some."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import drayman

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .conftest import Objects

STATUS = Path("/proc/self/statm")
PAGE = 4096
WARM_UP, CHANGES = 10_000, 50_000
BYTES_A_CHANGE = 40
"""Far less than any object takes: what is kept of a change, if anything, shows."""


@pytest.mark.skipif(not STATUS.exists(), reason="the resident memory of a process is read from /proc")
def test_memory_is_flat_over_many_changes(objects: Objects) -> None:
    inventory = drayman.Inventory()
    changes = endless_changes(inventory, objects)
    for _ in range(WARM_UP):
        next(changes)
    before = resident()
    for _ in range(CHANGES):
        next(changes)
    assert resident() - before < CHANGES * BYTES_A_CHANGE


def endless_changes(inventory: drayman.Inventory, objects: Objects) -> Iterator[None]:
    """Replace slices by new generations, take and free devices, ask with new selectors, let nodes come and go."""
    inventory.apply(objects.device_class())
    template = json.dumps(objects.slice("worker", 4))
    for number in itertools.count():
        name = f"worker-{number % 50}"
        inventory.apply(
            template.replace("worker", name).replace('"generation": 1', f'"generation": {number + 1}').encode()
        )
        yield
        claim = objects.claim(f"claim-{number}")
        if number % 10 == 0:
            expression = f'device.attributes["gpu.example.com"].index >= 0 && {number} >= 0'
            claim["spec"]["devices"]["requests"][0]["exactly"]["selectors"] = [{"cel": {"expression": expression}}]
        allocation = inventory.evaluate([claim], [name])[name].unwrap()[0]
        inventory.apply({**claim, "apiVersion": "resource.k8s.io/v1", "status": {"allocation": allocation}})
        yield
        inventory.delete("ResourceClaim", f"claim-{number}", "default")
        inventory.apply(objects.node(f"passing-{number}", zone=str(number % 7)))
        yield
        if number % 20 == 0:
            inventory.evaluate([claim])
        inventory.delete("Node", f"passing-{number}")
        inventory.delete("ResourceSlice", f"worker-{(number + 1) % 50}-gpu.example.com")
        yield


def resident() -> int:
    """Return the resident memory of this process in bytes."""
    return int(STATUS.read_text().split()[1]) * PAGE
