"""Small clusters after real reports, with the right answers: cases beside this repository that pass through `simulate`.

`tests/scenarios-passing.txt` lists those that pass. The list only grows.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from drayman import features, manifest
from drayman.testing.compare import compare
from drayman.testing.parts import Options
from drayman.testing.simulate import Simulation, simulate

REPOSITORY = Path(__file__).resolve().parents[2]
CASES = REPOSITORY.parent / "shared" / "conformance" / "scenarios"
PASSING = [
    line
    for line in (REPOSITORY / "tests" / "scenarios-passing.txt").read_text().splitlines()
    if line and not line.startswith("#")
]


def steps(case: Path) -> list[list[dict[str, Any]]]:
    """Return the objects of `input.yaml` and of each `stepN.yaml`, in order of N."""
    later = sorted(case.glob("step*.yaml"), key=lambda path: int(re.sub(r"\D", "", path.stem)))
    files = [case / "input.yaml", *later]
    return [[dict(loaded.object) for loaded in manifest.load([str(path)])] for path in files]


def labels_of_nodes(objects: list[dict[str, Any]]) -> dict[str, dict[str, str]]:
    return {obj["metadata"]["name"]: obj["metadata"].get("labels", {}) for obj in objects if obj["kind"] == "Node"}


def seconds(duration: str) -> float:
    """Return the seconds of "6s" or "1500ms"."""
    return float(duration[:-2]) / 1000 if duration.endswith("ms") else float(duration[:-1])


def play(case: Path) -> list[str]:
    """Return how the result of a case deviates from what is right."""
    expect = json.loads((case / "expect.json").read_text())
    objects = steps(case)
    simulation = Simulation(
        options=Options(
            kubernetes_version=expect.get("kubernetes", "1.37"),
            feature_gates=features.parse(expect.get("gates", "")),
        ),
        wait=seconds(expect.get("wait", "6s")),
        settle=seconds(expect.get("settle", "60s")),
    )
    return compare(expect, simulate(objects, simulation), node_labels=labels_of_nodes(objects[0]))


@pytest.mark.skipif(not CASES.is_dir(), reason="the cases are not beside the repository")
@pytest.mark.parametrize("case", PASSING)
def test_case_ends_as_is_right(case: str) -> None:
    assert play(CASES / case) == []


def test_list_is_sorted_and_without_repeats() -> None:
    assert sorted(set(PASSING)) == PASSING
