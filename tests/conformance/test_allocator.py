"""Upstream's answers to the inputs of its own test table: same devices, same order, same configuration, same errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.allocation import Case, answer

CASES = Path(__file__).parents[3] / "shared/conformance/allocator"

NOT_EXPRESSIBLE = "list-attributes-distinct-constaint-with-empty-or-unknown-type"
"""Upstream's case has an empty list where its JSON has nothing, so that the device to blame is another one."""


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
