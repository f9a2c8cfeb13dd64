"""Claims that do not fit on a node, or fit only after a long search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hack.benchmarks.clusters import work
from hack.benchmarks.figure import Figure
from hack.benchmarks.measure import Bench, agree
from hack.benchmarks.objects import (
    GATES,
    GPU,
    Object,
    claim,
    device_class,
    gpu,
    node,
    request,
    resource_slice,
)
from tests.conformance.allocation import described

import drayman

WORKER = "worker"
NODE = node(WORKER)


def figures(bench: Bench) -> Iterator[Figure]:
    """Yield the figures, one for each case.

    The time is that of the first question to an inventory: it compiles the selectors and finds out about the devices.
    """
    yield figure(bench, "32 devices, 31 free", pool(gpus(31)), [request("gpus", 32)])
    singles = [request(f"gpu-{index}") for index in range(10)]
    yield figure(bench, "10 requests of 1 device, 9 free", pool(gpus(9)), singles)
    grouped = [{**device, "attributes": {"group": {"int": i // 16}}} for i, device in enumerate(gpus(64))]
    same = [{"matchAttribute": f"{GPU}/group"}]
    yield figure(bench, "17 devices of a group, 4 groups of 16", pool(grouped), [request("gpus", 17)], same)
    small = f'device.attributes["{GPU}"].profile.startsWith("1g")'
    yield figure(bench, "8 MIG devices 1g of a GPU", partitioned(*mig()), [request("mig", 8, small)])
    singles = [request(f"mig-{index}", 1, small) for index in range(8)]
    yield figure(bench, "8 requests of 1 MIG device 1g", partitioned(*mig()), singles)
    yield figure(bench, "7 partitions of CPU and memory", partitioned(*cpu_and_memory()), [request("parts", 7)])


def figure(
    bench: Bench, title: str, slices: list[Object], requests: list[Object], constraints: Sequence[Object] = ()
) -> Figure:
    """Return the figure of a claim on the slices of one node."""
    pending = claim(requests, constraints)

    def prepare() -> drayman.Inventory:
        inventory = drayman.Inventory(features=GATES)
        for obj in (NODE, device_class(), *slices):
            inventory.apply(obj)
        return inventory

    def evaluate(inventory: drayman.Inventory) -> drayman.inventory.Evaluation:
        evaluation = inventory.evaluate([pending], [WORKER])
        evaluation.fitting  # noqa: B018 - whoever asks looks at the answer
        return evaluation

    seconds, evaluation = bench.time(evaluate, prepare)
    theirs = bench.upstream(
        {
            "features": list(GATES),
            "implementation": "incubating",
            "node": NODE,
            "classes": [device_class()],
            "slices": slices,
            "claims": [pending],
        }
    )
    if theirs is None:
        return Figure(title, seconds, work=work(evaluation), at_most=1e-3)
    given_up = bool(theirs.get("interrupted"))
    if not given_up:
        agree(title, described(evaluation[WORKER]), {"results": theirs["results"]})
    return Figure(
        title,
        seconds,
        theirs["seconds"],
        given_up,
        work=work(evaluation),
        upstream_steps=theirs["steps"],
        at_most=1e-3,
    )


def gpus(count: int) -> list[Object]:
    return [gpu(0, index) for index in range(count)]


def pool(devices: Sequence[Object]) -> list[Object]:
    return [resource_slice("pool", GPU, devices, nodeName=WORKER)]


def partitioned(counter_sets: list[Object], devices: list[Object]) -> list[Object]:
    """Return a pool of two slices, of counters and of devices that consume them."""
    counters, parts = pool([])[0], pool(devices)[0]
    del counters["spec"]["devices"]
    counters["metadata"] = {"name": "pool-counters"}
    counters["spec"]["sharedCounters"] = counter_sets
    for one in (counters, parts):
        one["spec"]["pool"]["resourceSliceCount"] = 2
    return [counters, parts]


MIG_COUNTERS = {"multiprocessors": 98, "copy-engines": 7, "decoders": 5, "jpeg-engines": 1, "ofa-engines": 1}
MIG_SLICES = 8
MIG_PROFILES: dict[str, tuple[int, int, Sequence[int], dict[str, int]]] = {
    "1g.10gb": (15, 2, (0, 2, 4, 6), {"multiprocessors": 14, "copy-engines": 1, "decoders": 1}),
    "1g.5gb": (19, 1, range(7), {"multiprocessors": 14, "copy-engines": 1}),
    "1g.5gb+me": (
        20,
        1,
        range(7),
        {"multiprocessors": 14, "copy-engines": 1, "decoders": 1, "jpeg-engines": 1, "ofa-engines": 1},
    ),
    "2g.10gb": (14, 2, (0, 2, 4), {"multiprocessors": 28, "copy-engines": 2, "decoders": 1}),
    "3g.20gb": (9, 4, (0, 4), {"multiprocessors": 42, "copy-engines": 3, "decoders": 2}),
    "4g.20gb": (5, 4, (0,), {"multiprocessors": 56, "copy-engines": 4, "decoders": 2}),
    "7g.40gb": (0, 8, (0,), MIG_COUNTERS),
}
"""Profiles of an A100 with 40 GB: NVML's number, memory slices, where they may start, and what else is taken."""


def mig() -> tuple[list[Object], list[Object]]:
    """Return the counters of one GPU, and a device for each place of each profile, as NVIDIA's driver does."""
    devices = [
        {
            "name": f"gpu-0-mig-{profile.replace('.', '').replace('+', '-')}-{number}-{start}",
            "attributes": {"type": {"string": "mig"}, "profile": {"string": profile}},
            "consumesCounters": [consumption("gpu-0", taken | memory_slices(range(start, start + size)))],
        }
        for profile, (number, size, starts, taken) in MIG_PROFILES.items()
        for start in starts
    ]
    return [counter_set("gpu-0", MIG_COUNTERS | memory_slices(range(MIG_SLICES)))], devices


def memory_slices(numbers: range) -> dict[str, int]:
    return {f"memory-slice-{number}": 1 for number in numbers}


def cpu_and_memory() -> tuple[list[Object], list[Object]]:
    """Return 8 partitions, of which 7 fit into the memory only without the first.

    The case is that of upstream's own benchmark `PartitionableBacktracking`.
    """
    sets = [counter_set("cpu", {f"cpu-{index}": 1 for index in range(8)}), counter_set("memory", {"memory": "70Gi"})]
    devices = [
        {
            "name": f"part-{index}",
            "consumesCounters": [
                consumption("cpu", {f"cpu-{index}": 1}),
                consumption("memory", {"memory": "10Gi" if index else "20Gi"}),
            ],
        }
        for index in range(8)
    ]
    return sets, devices


def counter_set(name: str, counters: dict[str, Any]) -> Object:
    return {"name": name, "counters": values(counters)}


def consumption(counter_set: str, counters: dict[str, Any]) -> Object:
    return {"counterSet": counter_set, "counters": values(counters)}


def values(counters: dict[str, Any]) -> Object:
    return {name: {"value": str(value)} for name, value in counters.items()}
