"""The rules of CEL selectors, a file each under `cel/`: every rule and every function has cases of our own.

`hack/oracle/answer` fills in the answers; `pytest -m oracle` checks that upstream still gives them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hack.oracle.client import Oracle

TABLE = Path(__file__).parent / "cel"
FILES = sorted(TABLE.glob("*.jsonl"))

FUNCTIONS = {
    "standard library": """
        bool bytes contains double duration dyn endsWith getDate getDayOfMonth getDayOfWeek getDayOfYear getFullYear
        getHours getMilliseconds getMinutes getMonth getSeconds int matches size startsWith string timestamp type uint
        has all exists exists_one map filter""",
    "strings": """
        charAt indexOf lastIndexOf lowerAscii upperAscii replace split substring trim join format strings.quote""",
    "lists": "slice flatten sort sortBy lists.range reverse distinct",
    "lists of Kubernetes": "isSorted sum min max indexOf lastIndexOf includes",
    "sets": "sets.contains sets.equivalent sets.intersects",
    "optionals": """
        optional.of optional.ofNonZeroValue optional.none hasValue value or orValue optMap optFlatMap first last
        optional.unwrap unwrapOpt""",
    "two-variable comprehensions": "existsOne transformList transformMap transformMapEntry",
    "bindings": "cel.bind",
    "regular expressions": "find findAll",
    "URLs": "url isURL getScheme getHost getHostname getPort getEscapedPath getQuery",
    "addresses": """
        ip isIP ip.isCanonical family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast
        isGlobalUnicast""",
    "networks": "cidr isCIDR containsIP containsCIDR prefixLength masked",
    "named formats": """
        format.named validate format.dns1123Label format.dns1123Subdomain format.dns1035Label format.qualifiedName
        format.dns1123LabelPrefix format.dns1123SubdomainPrefix format.dns1035LabelPrefix format.labelValue format.uri
        format.uuid format.byte format.date format.datetime""",
    "quantities": """
        quantity isQuantity sign isGreaterThan isLessThan compareTo asApproximateFloat asInteger isInteger add sub""",
    "versions": "semver isSemver major minor patch",
    "authorization": """
        path group serviceAccount resource subresource namespace name fieldSelector labelSelector check allowed reason
        error errored""",
}
"""What upstream declares for stored selectors, by library."""

Case = dict[str, Any]


def read(file: Path) -> list[Case]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_every_rule_has_cases_and_none_stands_twice() -> None:
    lines = Counter({file.stem: len(read(file)) for file in FILES})
    assert {rule: count for rule, count in lines.items() if count < 3} == {}
    texts = Counter(
        json.dumps({**case, "expect": None}, sort_keys=True) + file.stem for file in FILES for case in read(file)
    )
    assert [text for text, count in texts.items() if count > 1] == []


@pytest.mark.parametrize("library", FUNCTIONS)
def test_every_function_is_called_in_a_case_that_compiles(library: str) -> None:
    expressions = [case["expression"] for file in FILES for case in read(file) if "compileError" not in case["expect"]]
    called = {name for text in expressions for name in calls(text)}
    assert set(FUNCTIONS[library].split()) - called == set()


def calls(expression: str) -> set[str]:
    """Return the names before parentheses, with and without what stands before their last dot."""
    dotted = re.findall(r"((?:\w+\.)?\w+)\(", expression)
    return {*dotted, *(name.rpartition(".")[2] for name in dotted)}


@pytest.mark.oracle
def test_answers_are_still_those_of_upstream(oracle: Oracle) -> None:
    # Upstream walks maps in random order, on which a cost may depend.
    changed = [
        (file.stem, case["expression"])
        for file in FILES
        for case in read(file)
        if not any(oracle.ask("cel", case) == case["expect"] for _ in range(20))
    ]
    assert changed == []


OVERLOADS = Path(__file__).parent / "functions.txt"
"""All that upstream declares, an overload a line; a Rust test compares it with what drayman has."""


@pytest.mark.oracle
def test_overloads_are_still_those_of_upstream(oracle: Oracle) -> None:
    overloads = oracle.ask("functions", {})["overloads"]
    assert OVERLOADS.read_text().splitlines() == [listed(overload) for overload in overloads]


@pytest.mark.oracle
def test_every_overload_is_called_in_a_case(oracle: Oracle) -> None:
    declared = {line.partition(": ")[0].partition(" ")[2] for line in OVERLOADS.read_text().splitlines()}
    compiling = (case for file in FILES for case in read(file) if "compileError" not in case["expect"])
    called = {
        name
        for case in compiling
        for name in oracle.ask("functions", {"expression": case["expression"]}).get("called", ())
    }
    # The older name of an operator that macros use; no expression can call it.
    assert declared - called == {"__not_strictly_false__"}


def listed(overload: Case) -> str:
    """Return an overload as its line in the list."""
    member = "member " if overload["member"] else ""
    signature = f"({', '.join(overload['parameters'])}) -> {overload['result']}"
    return f"{overload['function']} {overload['id']}: {member}{signature}"
