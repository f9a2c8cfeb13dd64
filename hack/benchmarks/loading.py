"""Loading 5,000 slices of 8 devices from raw JSON, and taking in one that changed.

The process that loads is a new one, `python -m hack.benchmarks.loading FILE`, so that its memory is that of nothing
else.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from hack.benchmarks.clusters import DEVICES, NODES, PENDING, SELECTOR, name
from hack.benchmarks.figure import Figure
from hack.benchmarks.measure import Bench
from hack.benchmarks.objects import GATES, GPU, Object, claim, device_class, gpu, request, resource_slice

import drayman

ROOT = Path(__file__).parents[2]
MIB = 1 << 20


def figures(bench: Bench) -> Iterator[Figure]:
    """Yield the figures."""
    slices = [published(index, generation=1) for index in range(NODES)]
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.writelines(json.dumps(one, separators=(",", ":")) + "\n" for one in slices)
        file.flush()
        loads = [load_apart(file.name) for _ in range(bench.repeats)]
    theirs = bench.ask("decode", {"slices": slices})
    seconds, heap = (None, None) if theirs is None else (theirs["seconds"], theirs["heapBytes"] / MIB)
    yield Figure("load 40,000 devices", median(load["seconds"] for load in loads), seconds, at_most=1.0)
    resident = median(load["resident"] for load in loads) / MIB
    yield Figure("  resident memory after that", resident, heap, unit="MiB", at_most=300)
    yield from updates(bench)


def load_apart(file: str) -> dict[str, Any]:
    """Load in a process of its own."""
    command = [sys.executable, "-m", "hack.benchmarks.loading", file]
    answer: dict[str, Any] = json.loads(subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)
    return answer


def load(path: Path) -> dict[str, Any]:
    """Load one slice a line; the time includes reading the file, and working out what every node sees."""
    inventory = drayman.Inventory(features=GATES)
    with path.open("rb") as file:
        start = time.perf_counter()
        for line in file:
            inventory.apply(line)
        nodes = inventory.nodes()
        seconds = time.perf_counter() - start
    assert len(nodes) == NODES
    return {"seconds": seconds, "resident": resident()}


def resident() -> int:
    """Return the bytes of memory that this process has."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(fields["VmRSS"].removesuffix("kB")) * 1024


def updates(bench: Bench) -> Iterator[Figure]:
    """Yield the figures of one changed slice among 5,000 nodes."""
    inventory = drayman.Inventory(features=GATES)
    inventory.apply(device_class())
    for index in range(NODES):
        inventory.apply(published(index, generation=1))
    inventory.evaluate([PENDING])
    generations = iter(range(2, sys.maxsize))

    def changed() -> bytes:
        return json.dumps(published(NODES // 2, next(generations)), separators=(",", ":")).encode()

    theirs = bench.ask("decode", {"slices": [json.loads(changed())] * 1000})
    upstream = None if theirs is None else theirs["seconds"] / 1000
    seconds, _ = bench.time(inventory.apply, changed)
    yield Figure("take in one changed slice", seconds, upstream, at_most=100e-6)
    pending = claim([request("gpu", 1, SELECTOR)])

    def ask(raw: bytes) -> object:
        inventory.apply(raw)
        return inventory.evaluate([pending], [name(NODES // 2)])

    seconds, _ = bench.time(ask, changed)
    yield Figure("  and evaluate a claim on its node", seconds)


def published(index: int, generation: int) -> Object:
    """Return the slice of a node; with every generation the number of a driver changes too."""
    devices = [gpu(index, device) for device in range(DEVICES)]
    for device in devices:
        device["attributes"]["driverVersion"] = {"version": f"580.95.{generation}"}
    one = resource_slice(name(index), GPU, devices, nodeName=name(index))
    one["spec"]["pool"]["generation"] = generation
    return one


if __name__ == "__main__":
    print(json.dumps(load(Path(sys.argv[1]))))
