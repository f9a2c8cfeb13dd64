"""Answers of upstream's CEL environment for selectors, through the wheel: texts, results and costs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import drayman
from drayman import cel

OURS = Path(__file__).parent / "cel"
SHARED = Path(__file__).parents[3] / "shared/conformance"

Case = dict[str, Any]


def cases(folder: Path) -> list[Any]:
    """Return the cases of all files in the folder; lines are numbered from 1."""
    if not folder.is_dir():
        return [pytest.param({}, marks=pytest.mark.skip(reason=f"{folder} does not exist"), id="absent")]
    return [
        pytest.param(json.loads(line), id=f"{path.stem}:{number}")
        for path in sorted(folder.glob("*.jsonl"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
    ]


@pytest.mark.parametrize("case", [*cases(OURS), *cases(SHARED)])
def test_selector_answers_as_upstream(case: Case) -> None:
    expected = dict(case["expect"])
    if "compileError" in expected:
        with pytest.raises(drayman.CELCompileError) as caught:
            compiled(case)
        assert comparable(str(caught.value)) == comparable(expected["compileError"])
        return
    told = answer(case)
    assert {name: told.get(name) for name in expected} == expected


def compiled(case: Case) -> cel.Selector:
    return cel.compile(case["expression"], case.get("environment", "stored"))


def answer(case: Case) -> dict[str, Any]:
    selector = compiled(case)
    told: dict[str, Any] = {"cost": selector.evaluate(case["device"]).cost, "maxCost": selector.max_cost}
    try:
        told["match"] = selector.matches(case["device"])
    except drayman.CELRuntimeError as error:
        told["matchError"] = str(error)
    return told


def comparable(text: str) -> str:
    """Return what must agree: of a syntax error the first line, without the tokens that the parser had expected."""
    first, _, _ = text.partition("\n")
    if "Syntax error" not in first:
        return text
    return first.partition(" expecting ")[0]
