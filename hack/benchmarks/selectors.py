"""One evaluation of a selector on a device."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from hack.benchmarks.figure import Figure
from hack.benchmarks.measure import Bench, agree
from hack.benchmarks.objects import GPU, gpu

import drayman.cel

ROOT = Path(__file__).parents[2]
EXPRESSION = (
    f'device.attributes["{GPU}"].model == "H100" && device.capacity["{GPU}"].memory.compareTo(quantity("40Gi")) >= 0'
)
EVALUATIONS = 20_000


def figures(bench: Bench) -> Iterator[Figure]:
    """Yield the figures: the kernel has a device at hand that it converted once, Python hands over a dict each time."""
    device = {"driver": GPU, **gpu(0, 0)}
    selector = drayman.cel.compile(EXPRESSION)
    theirs = bench.ask("cel", {"expression": EXPRESSION, "device": device, "repeat": EVALUATIONS})
    upstream = None if theirs is None else theirs["seconds"]
    if theirs is not None:
        agree(EXPRESSION, selector.matches(device), theirs["match"])
    work = {"selector_evaluations": 1}
    seconds = in_kernel()
    yield Figure("one selector on one device", seconds, upstream, work=work, at_most=100e-9, ratio_at_least=50)
    seconds, _ = bench.time(selector.matches, lambda: device)
    yield Figure("  Selector.matches(dict) in Python", seconds, upstream, work=work)


def in_kernel() -> float:
    """Return the median of the seconds of an evaluation, without the way from and to Python."""
    program = [
        "cargo",
        "run",
        "--release",
        "--locked",
        "--quiet",
        "--package",
        "drayman-cel",
        "--example",
        "evaluation",
    ]
    command = [*program, "--", EXPRESSION, GPU, json.dumps(gpu(0, 0))]
    answer = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return float(answer.stdout) * 1e-9
