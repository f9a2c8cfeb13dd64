"""The text of a pod that fits nowhere."""

from __future__ import annotations

from drayman.framework import unresolvable, unschedulable
from drayman.framework.fit_error import Diagnosis


def test_reasons_are_sorted_as_strings() -> None:
    names = [f"n{index:02}" for index in range(15)]
    statuses = {name: unschedulable("Too many pods") for name in names[:12]}
    statuses |= {names[12]: unresolvable("a"), names[13]: unresolvable("b"), names[14]: unresolvable("b")}

    assert Diagnosis(names, statuses).message() == "0/15 nodes are available: 1 a, 12 Too many pods, 2 b."


def test_every_reason_of_a_node_counts() -> None:
    diagnosis = Diagnosis(["n1"], {"n1": unschedulable("Insufficient cpu", "Insufficient memory")})
    assert diagnosis.message() == "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory."


def test_refusal_of_the_pod_itself_is_told_once() -> None:
    diagnosis = Diagnosis(["n1", "n2"], pre_filter=unresolvable("no such class").by("P"), post_filter="Nothing helps.")
    assert diagnosis.message() == "0/2 nodes are available: no such class. Nothing helps."
    assert diagnosis.rejectors() == {"P"}
    assert set(diagnosis.all_statuses()) == {"n1", "n2"}


def test_nodes_that_pre_filter_left_out_have_a_reason_of_their_own() -> None:
    diagnosis = Diagnosis(
        ["n1", "n2", "n3"],
        {"n1": unschedulable("Insufficient cpu").by("Fit")},
        narrowed=unresolvable("node(s) didn't satisfy plugin(s) [NodeAffinity]").by("NodeAffinity"),
    )
    assert diagnosis.message() == (
        "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]."
    )
    assert diagnosis.rejectors() == {"Fit", "NodeAffinity"}
