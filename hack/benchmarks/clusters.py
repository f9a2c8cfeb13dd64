"""One claim on 5,000 nodes with 8 devices each, half of which are held."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hack.benchmarks.figure import Figure
from hack.benchmarks.measure import Bench, agree
from hack.benchmarks.objects import (
    FABRIC,
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
from tests.conformance.allocation import described

import drayman

NODES = 5000
DEVICES = 8
RACKS = 500
SELECTOR = f'device.attributes["{GPU}"].model == "H100"'
PENDING = claim([request("gpu", 1, SELECTOR)])


def figures(bench: Bench) -> Iterator[Figure]:
    """Yield the figures; an inventory is warm when a claim with the same selectors was evaluated before."""
    local = [
        resource_slice(name(i), GPU, [gpu(i, index) for index in range(DEVICES)], nodeName=name(i))
        for i in range(NODES)
    ]
    yield from cluster(bench, "5,000 nodes", local, at_most=1e-3, ratio_at_least=100)
    racks = [resource_slice(f"rack-{rack}", FABRIC, [{"name": "port"}], nodeSelector=on(rack)) for rack in range(RACKS)]
    yield from cluster(bench, "5,000 nodes, 500 slices with selectors", [*racks, *local], at_most=5e-3)


def cluster(
    bench: Bench, title: str, slices: list[Object], at_most: float, ratio_at_least: float | None = None
) -> Iterator[Figure]:
    """Yield the figure of a warm inventory, and those of one that has something to find out."""
    held = [(GPU, name(i), f"gpu-{index}") for i in range(NODES) for index in range(0, DEVICES, 2)]
    nodes = [node(name(i), rack=f"rack-{i % RACKS}") for i in range(NODES)]
    inventory = drayman.Inventory(features=GATES)
    for obj in (*nodes, device_class(), *slices):
        inventory.apply(obj)
    for index, device in enumerate(held):
        inventory.apply(allocated(claim([request("gpu")], name=f"held-{index}"), [device]))

    def evaluate(pending: Object) -> drayman.inventory.Evaluation:
        evaluation = inventory.evaluate([pending])
        assert len(evaluation.fitting) == NODES, "half of the devices are free on every node"
        return evaluation

    evaluate(PENDING)
    seconds, evaluation = bench.time(evaluate, lambda: PENDING)
    theirs = bench.upstream(
        {
            "features": list(GATES),
            "implementation": "incubating",
            "nodes": nodes,
            "classes": [device_class()],
            "slices": slices,
            "claims": [PENDING],
            "allocated": {"devices": ["/".join(device) for device in held]},
        }
    )
    if theirs is not None:
        ours = {name: described(outcome) for name, outcome in evaluation.items()}
        agree(title, ours, {name: {"results": answer["results"]} for name, answer in theirs["nodes"].items()})
    upstream = None if theirs is None else theirs["seconds"]
    steps = None if theirs is None else theirs["steps"]

    def figure(name: str, seconds: float, evaluation: drayman.inventory.Evaluation) -> Figure:
        return Figure(name, seconds, upstream, work=work(evaluation), upstream_steps=steps)

    yield replace(figure(title, seconds, evaluation), at_most=at_most, ratio_at_least=ratio_at_least)
    taken = evaluation[name(0)].unwrap()[0]
    seconds, evaluation = bench.time(evaluate, lambda: took_one(inventory, taken))
    yield figure("  after a claim got a device", seconds, evaluation)
    inventory.forget("default", "other")
    unknown = iter(range(bench.repeats))
    seconds, evaluation = bench.time(evaluate, lambda: with_new_selector(next(unknown)))
    yield figure("  with a selector never seen before", seconds, evaluation)


def took_one(inventory: drayman.Inventory, allocation: dict[str, Any]) -> Object:
    """Let another claim have a device, as when a pod was scheduled a moment ago."""
    inventory.forget("default", "other")
    inventory.assume("default", "other", allocation)
    return PENDING


def with_new_selector(number: int) -> Object:
    return claim([request("gpu", 1, f"{SELECTOR} && {number} >= 0")])


def work(evaluation: drayman.inventory.Evaluation) -> dict[str, int]:
    return {"steps": evaluation.steps, "selector_evaluations": evaluation.selector_evaluations}


def name(index: int) -> str:
    return f"node-{index:04}"


def on(rack: int) -> Object:
    """Return the selector of the nodes of a rack."""
    expression = {"key": "rack", "operator": "In", "values": [f"rack-{rack}"]}
    return {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
