"""Upstream's answers on known inputs, through the wheel: same devices, same order, same configuration, same errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import drayman

CASES = Path(__file__).parents[3] / "shared/conformance/allocator"

NOT_EXPRESSIBLE = "list-attributes-distinct-constaint-with-empty-or-unknown-type"
"""Upstream's case has an empty list where its JSON has nothing, so that the device to blame is another one."""

Case = dict[str, Any]


def cases() -> list[Any]:
    if not CASES.is_dir():
        return [pytest.param({}, marks=pytest.mark.skip(reason=f"{CASES} does not exist"), id="absent")]
    return [pytest.param(json.loads(path.read_text()), id=path.stem) for path in sorted(CASES.glob("*.json"))]


@pytest.mark.parametrize("case", cases())
def test_allocator_answers_as_upstream(case: Case) -> None:
    if case["name"] == NOT_EXPRESSIBLE:
        pytest.skip("its JSON lacks the empty list that upstream's answer is about")
    assert answer(case) == case["expect"]


@pytest.mark.parametrize("case", cases())
def test_inputs_are_not_changed_and_the_answer_is_repeated(case: Case) -> None:
    before = json.dumps(case)
    assert json.dumps(answer(case)) == json.dumps(answer(case))
    assert json.dumps(case) == before


def answer(case: Case) -> dict[str, Any]:
    state = case["allocated"]
    allocator = drayman.Allocator(
        slices=case["slices"],
        classes=case["classes"],
        features=case["features"],
        allocated=drayman.AllocatedState(
            devices=state["devices"],
            shared=["{driver}/{pool}/{device}/{shareID}".format(**share) for share in state["shared"]],
            consumed_capacity=state["consumedCapacity"],
        ),
    )
    try:
        outcome = allocator.allocate(node=case["node"], claims=case["claims"])
    except drayman.AllocationError as error:
        return {"error": {"message": str(error), "nodeLocal": error.node_local}}
    if isinstance(outcome, drayman.Unallocatable):
        return {"results": None}
    return {"results": [without_share_ids(allocation) for allocation in outcome.allocations]}


def without_share_ids(allocation: dict[str, Any]) -> dict[str, Any]:
    for result in allocation["devices"].get("results", ()):
        if "shareID" in result:
            result["shareID"] = "<share-id>"
    return allocation
