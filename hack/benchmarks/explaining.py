"""Explanations of one claim that fits on none of 5,000 nodes with 8 devices each."""

from __future__ import annotations

from collections.abc import Iterator

from hack.benchmarks.clusters import DEVICES, NODES, name
from hack.benchmarks.figure import Figure
from hack.benchmarks.measure import Bench
from hack.benchmarks.objects import (
    GATES,
    GPU,
    Object,
    allocated,
    claim,
    device_class,
    gpu,
    node,
    request,
    resource_slice,
)

import drayman
from drayman import _native

LARGE = f'device.attributes["{GPU}"].model == "none" || device.driver == "none"'


def figures(bench: Bench) -> Iterator[Figure]:
    """Yield the figures: of facts alone, of the line that an event carries, and of all."""
    inventory = drayman.Inventory(features=GATES)
    slices = (
        resource_slice(name(i), GPU, [gpu(i, index) for index in range(DEVICES)], nodeName=name(i))
        for i in range(NODES)
    )
    for obj in (*(node(name(i)) for i in range(NODES)), device_class(), *slices):
        inventory.apply(obj)
    yield from explanations(bench, inventory, "5,000 nodes, no device selected", claim([request("gpu", 1, LARGE)]))
    for i in range(NODES):
        held = [(GPU, name(i), f"gpu-{index}") for index in range(DEVICES)]
        inventory.apply(allocated(claim([request("gpu", DEVICES)], name=f"held-{i}"), held))
    yield from explanations(bench, inventory, "5,000 nodes, all devices in use", claim([request("gpu", 1)]))


def explanations(bench: Bench, inventory: drayman.Inventory, title: str, pending: Object) -> Iterator[Figure]:
    """Yield the figures of a claim that fits nowhere."""
    nodes = list(inventory.nodes())
    evaluation = inventory.evaluate([pending])
    assert not evaluation.fitting

    def explain(depth: str) -> _native.Explanation:
        return evaluation._native.explain(nodes, depth)

    for depth, row, at_most in (("facts", title, 50e-3), ("nearest", "  the line of the nearest nodes", None)):
        seconds, _ = bench.time(explain, lambda depth=depth: depth)
        yield Figure(row, seconds, at_most=at_most)
