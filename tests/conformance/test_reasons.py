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
    "ALLOC-01 team-a/mon-2": ["node `n1` ├─ the node has no devices", "team-a/mon-1-gpu", "pod `mon-1`"],
    "ALLOC-03 team-a/train": [
        "without attribute `resource.kubernetes.io/pcieRoot`, but with `gpu.example.com/pciRoot` (gpu.example.com/n1",
    ],
    "ALLOC-05 team-a/w2": ["pod `w0`", "pod `w1`"],
    "ALLOC-07 team-a/p": ["matchAttribute `gpu.example.com/numaNode`", "values of different types are never equal"],
    "ALLOC-09 team-a/train": ["pod `notebook`", "gpu.example.com/n1/big-80", "memory is 24Gi"],
    "CEL-01 team-a/optional": ["sharingStrategy is missing", 'sharingStrategy is "mps"'],
    "CEL-01 team-a/wrong": [
        "no such key: sharingStrategy",
        "gpu.example.com/n1/gpu-0",
        '.?sharingStrategy.orValue("") == "mps"',
    ],
    "CEL-03 team-a/never": ['`device.driver == "example.com/gpu"`: driver is "gpu.example.com"'],
    "CEL-05 team-a/text": ['.ccText >= "9.0.0"`', 'ccText is "10.0.0"'],
    "CEL-05 team-a/version": ["no such overload: _>=_", "gpu.example.com/n1/gpu-0"],
    "CEL-07 team-a/p": ["the node has no devices"],
    "CEL-09 team-a/str": ["CEL result of type string could not be converted to bool", "gpu.example.com/n1/gpu-1"],
    "CONS-01 team-a/c": ["asks for `memory` 30Gi, 0 of 80Gi left", "pod `a`", "pod `b`", "pod `d`"],
    "CONS-03 team-a/over": ["asks for `memory` 17Gi, rounded to 18Gi, allows from 2Gi to 16Gi in steps of 2Gi"],
    "CONS-03 team-a/over-slots": ["asks for `slots` 9, allows 1, 2, 4, 8"],
    "CONS-09 team-a/b": ["asks for `share` 250m, rounded to 1, 0 of 1 left"],
    "LIFE-03 team-a/one-more": ["claim `team-a/c` is in use by 256 pods, and at most 256 can share a claim"],
    "LINT-05 team-a/p": ["a ResourceClaimTemplate has that name", "resourceClaimTemplateName"],
    "NET-01 team-a/w1": ["in use (compute-domain.example.com/n1/channel-0)", "pod `w0`"],
    "NET-07 team-a/d3": ["allocated already", "`cd.example.com/domain` is set", "node `n3`"],
    "PART-01 team-a/whole": [
        "counter `memory-slice-0` is short",
        "counters `memory-slice-0`, `memory-slice-1` of set `gpu-0`",
        "pod `small-1`",
    ],
    "PART-03 team-a/pod-3": ["pod `pod-1`", "pod `pod-2`"],
    "PART-05 team-a/every": ["counter `units` is short: needs 2", "pod `halves`"],
    "PERF-03 team-a/p": ["request `never` needs 1 device of class `gpu`, 0 of 12 can be used"],
    "POOL-01 team-a/p": ["the node has no devices"],
    "POOL-05 team-a/p": ["duplicate device name gpu-0"],
    "PREEMPT-01 team-a/production": ["pod `batch`"],
    "PRIO-01 team-a/p3": ["pod `p1`", "pod `p2`"],
    "TAINT-07 team-a/job-2": ["pod `job-1`"],
}
"""Words that the tree has about a pod, by case and pod."""


def ended(case: str) -> tuple[dict[str, Any], dict[str, Any], Cluster]:
    """Return what is right for a case, the state at its end, and the cluster as it is then."""
    folder = CASES / case
    expect = json.loads((folder / "expect.json").read_text())
    gates = features.parse(expect.get("gates", ""))
    options = Options(kubernetes_version=expect.get("kubernetes", "1.37"), feature_gates=gates)
    wait, settle = seconds(expect.get("wait", "6s")), seconds(expect.get("settle", "60s"))
    end = play(steps(folder), Simulation(options=options, wait=wait, settle=settle))
    cluster = Cluster.from_objects(
        end.objects, kubernetes_version=options.kubernetes_version, feature_gates=gates, compatibility="fixed"
    )
    return expect, dict(end.state), cluster


def checked(case: str, pod: str, answer: Answer) -> list[str]:
    """Return what is wrong with an answer about a pod that stays pending."""
    tree = answer.tree()
    text = re.sub(r"\s*[│ ]*\n[│ ]*", " ", tree)
    return [
        *([f"{pod} is well: {answer.verdict}"] if answer.fits else []),
        *(f"{pod}: `{word}` is not in\n{tree}" for word in CAUSES.get(f"{case} {pod}", ()) if word not in text),
        *(f"{pod}: too wide: {line}" for line in tree.splitlines() if len(line) > 100 and " " in line.strip("│├└─ ")),
        *([f"{pod}: line of {len(answer.line().encode())} bytes"] if len(answer.line().encode()) > 300 else []),
    ]


def contradictions(pods: dict[str, Any], cluster: Cluster) -> list[str]:
    """Return the pods of which the scheduler thought otherwise than their explanation."""
    wrong = []
    for name, pod in pods.items():
        answer = None if pod.get("deleted") else cluster.explain(name)
        # A pod that was put on a node by hand waits there for its claims.
        stuck = answer and "claim-not-allocated" in {fact.code for fact in answer.facts}
        if answer and pod.get("node") and answer.verdict not in ("scheduled", "finished") and not stuck:
            wrong.append(f"{name} is on {pod['node']}, but {answer.verdict}")
        if answer and pod.get("reason") and answer.fits:
            wrong.append(f"{name} is not scheduled ({pod['message']}), but {answer.verdict}")
    return wrong


@pytest.mark.skipif(not CASES.is_dir(), reason="the cases are not beside the repository")
@pytest.mark.parametrize("case", PASSING)
def test_explanations_agree_with_the_scheduler_and_name_the_cause(case: str) -> None:
    expect, state, cluster = ended(case)
    wrong = contradictions(state["pods"], cluster)
    for pod in expect.get("unschedulable", ()):
        wrong += checked(case, pod, cluster.explain(pod))
    assert not wrong, "\n".join(wrong)


def test_every_cause_is_about_a_case() -> None:
    assert {key.split()[0] for key in CAUSES} <= set(PASSING)
