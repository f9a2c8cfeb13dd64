"""The rules of DRA, a folder each under `allocator/`, with cases of our own that upstream answered.

`hack/oracle/answer` fills in the answers; `pytest -m oracle` checks that upstream still gives them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hack.oracle.client import Oracle, expectation
from tests.conformance.allocation import Case, answer

TABLE = Path(__file__).parent / "allocator"
FILES = sorted(TABLE.rglob("*.json"))


def read(file: Path) -> Case:
    case: Case = json.loads(file.read_text())
    return case


@pytest.mark.parametrize("file", [pytest.param(file, id=f"{file.parent.name}/{file.stem}") for file in FILES])
def test_case_is_answered_as_upstream_does(file: Path) -> None:
    case = read(file)
    assert answer(case) == case["expect"], case["description"]


def test_every_rule_has_cases_that_say_what_they_show() -> None:
    rules = Counter(file.parent.name for file in FILES)
    assert {rule: count for rule, count in rules.items() if count < 3} == {}
    assert [file for file in FILES if not read(file)["description"] or read(file)["name"] != file.stem] == []


def test_every_rule_stands_in_the_table_of_rules() -> None:
    table = (TABLE.parent / "README.md").read_text().partition("| Rule | Folder |")[2]
    folders = re.findall(r"`([a-z-]+)`", "".join(line.rpartition(" | ")[2] for line in table.splitlines()))
    assert sorted(folders) == sorted({file.parent.name for file in FILES})


@pytest.mark.oracle
def test_answers_are_still_those_of_upstream(oracle: Oracle) -> None:
    cases = {file: read(file) for file in FILES}
    changed = [file for file, case in cases.items() if expectation(oracle.allocate(case)) != case["expect"]]
    assert changed == []
