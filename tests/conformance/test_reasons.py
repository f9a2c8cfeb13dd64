"""What is said about the pods that stay pending in the scenarios: it names what their authors found to be the cause."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from tests.conformance.test_scenarios import CASES, PASSING, seconds, steps

from drayman import Cluster, features
from drayman.reasons import Answer
from drayman.testing.parts import Options
from drayman.testing.simulate import Simulation, play

CAUSES: dict[str, list[str]] = {
    "ALLOC-01 team-a/mon-2": ["node `n1`", "no devices", "team-a/mon-1-gpu"],
    "ALLOC-03 team-a/train": ["resource.kubernetes.io/pcieRoot", "gpu.example.com/n1/gpu-0"],
    "ALLOC-05 team-a/w2": ["team-a/w0-pair", "team-a/w1-pair"],
    "ALLOC-09 team-a/train": ["team-a/notebook-gpu", "gpu.example.com/n1/big-80", "selector"],
    "CEL-01 team-a/optional": ["selector", "team-a/fixed-gpu"],
    "CEL-01 team-a/wrong": ["no such key: sharingStrategy", "gpu.example.com/n1/gpu-0", "has()"],
    "CEL-05 team-a/version": ["no such overload: _>=_"],
    "CEL-07 team-a/p": ["no devices"],
    "CEL-09 team-a/str": ["bool", "gpu.example.com/n1/gpu-1"],
    "CONS-01 team-a/c": ["capacity"],
    "CONS-03 team-a/over": ["capacity"],
    "CONS-03 team-a/over-slots": ["capacity"],
    "CONS-09 team-a/b": ["capacity"],
    "LIFE-03 team-a/one-more": ["at most 256", "team-a/c"],
    "LINT-05 team-a/p": ["a ResourceClaimTemplate has that name", "resourceClaimTemplateName"],
    "NET-01 team-a/w1": ["team-a/w0-chan", "channel-0"],
    "NET-07 team-a/d3": ["allocated already", "`cd.example.com/domain` is set", "node `n3`"],
    "PART-01 team-a/whole": ["counter `gpu-0/memory-slice-0`"],
    "PART-03 team-a/pod-3": ["team-a/pod-1-gpu", "team-a/pod-2-gpu"],
    "PART-13 team-a/p3": ["team-a/p1-gpu", "team-a/p2-gpu"],
    "PERF-03 team-a/p": ["request `never`", "selector"],
    "POOL-01 team-a/p": ["no devices"],
    "POOL-05 team-a/p": ["duplicate device name gpu-0"],
    "PREEMPT-01 team-a/production": ["team-a/batch-gpu"],
    "PRIO-01 team-a/p3": ["team-a/p1-gpu", "team-a/p2-gpu"],
    "TAINT-07 team-a/job-2": ["team-a/job-1-gpu"],
}
"""Words that the tree has about a pod, by case and pod."""


PENDING = [
    case
    for case in PASSING
    if CASES.is_dir() and json.loads((CASES / case / "expect.json").read_text()).get("unschedulable")
]


def ended(case: str) -> tuple[dict[str, Any], Cluster]:
    """Return what is right for a case, and the cluster at its end."""
    folder = CASES / case
    expect = json.loads((folder / "expect.json").read_text())
    gates = features.parse(expect.get("gates", ""))
    options = Options(kubernetes_version=expect.get("kubernetes", "1.37"), feature_gates=gates)
    wait, settle = seconds(expect.get("wait", "6s")), seconds(expect.get("settle", "60s"))
    end = play(steps(folder), Simulation(options=options, wait=wait, settle=settle))
    return expect, Cluster.from_objects(
        end.objects, kubernetes_version=options.kubernetes_version, feature_gates=gates, compatibility="fixed"
    )


def checked(case: str, pod: str, answer: Answer) -> list[str]:
    """Return what is wrong with an answer about a pod that stays pending."""
    tree = answer.tree()
    text = re.sub(r"[│ ]*\n[│ ]*", " ", tree)
    return [
        *([f"{pod} is well: {answer.verdict}"] if answer.fits else []),
        *(f"{pod}: `{word}` is not in\n{tree}" for word in CAUSES.get(f"{case} {pod}", ()) if word not in text),
        *(f"{pod}: too wide: {line}" for line in tree.splitlines() if len(line) > 100 and " " in line.strip("│├└─ ")),
        *([f"{pod}: line of {len(answer.line().encode())} bytes"] if len(answer.line().encode()) > 300 else []),
    ]


@pytest.mark.skipif(not CASES.is_dir(), reason="the cases are not beside the repository")
@pytest.mark.parametrize("case", PENDING)
def test_cause_is_named_for_every_pod_that_stays_pending(case: str) -> None:
    expect, cluster = ended(case)
    wrong = [text for pod in expect["unschedulable"] for text in checked(case, pod, cluster.explain(pod))]
    assert not wrong, "\n".join(wrong)


def test_every_cause_is_about_a_case() -> None:
    assert {key.split()[0] for key in CAUSES} <= set(PASSING)
