"""What lint must find in the scenario cases beside this repository, and that it finds nothing else that is wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from drayman.lint import Diagnostic, Options, Severity, all_rules, lint

CASES = Path(__file__).resolve().parents[3] / "shared" / "conformance" / "scenarios"
EXPECT = {path.parent.name: json.loads(path.read_text()) for path in sorted(CASES.glob("*/expect.json"))}
FACT = re.compile(r"[\w.]*(?:[./][\w./]*\w|[A-Z]\w+)")
"""What a message has to tell, whatever its words: names with dots and slashes, and those with capitals."""

BESIDES = {
    # The three requests really are given one device twice.
    ("CONS-07", "shared-device-may-repeat", "ResourceClaim team-a/all"),
    # Both classes of the pair are named; the case asks for one.
    ("EXT-03", "duplicate-extended-resource-name", "DeviceClass class-new"),
    # Selectors that fail or select nothing, of pods that are not scheduled.
    ("CEL-01", "cel-matches-no-device", "ResourceClaimTemplate team-a/fixed-optional"),
    ("CEL-05", "cel-compared-by-operator", "ResourceClaimTemplate team-a/version-ge"),
    ("CEL-07", "cel-invalid-literal", "ResourceClaimTemplate team-a/bad-literal"),
    ("CEL-09", "cel-result-not-bool", "ResourceClaimTemplate team-a/stringattr"),
    ("PERF-03", "cel-matches-no-device", "ResourceClaim team-a/job"),
}
"""Findings that no case asks for, and that are right."""


def found_in(case: str) -> list[Diagnostic]:
    expect = EXPECT[case]
    options = Options(kubernetes_version=expect.get("kubernetes", "1.37"), feature_gates=expect.get("gates", ""))
    return lint([("input.yaml", (CASES / case / "input.yaml").read_text())], options)


def answers(expected: dict[str, Any], one: Diagnostic) -> bool:
    path = re.escape(expected.get("path", one.path)).replace(r"\[\*\]", r"\[\d+\]")
    told = f"{one.message} {one.hint or ''}"
    return (
        (one.rule, one.object) == (expected["rule"], expected["object"])
        and re.fullmatch(path, one.path) is not None
        and all(fact.rstrip(".") in told for fact in FACT.findall(expected.get("message", "")))
    )


WANTED = [
    (case, one) for case, expect in EXPECT.items() for one in expect.get("lint", ()) if one["rule"] in all_rules()
]


@pytest.mark.skipif(not CASES.is_dir(), reason="the cases are not beside the repository")
def test_every_rule_that_a_case_names_exists() -> None:
    named = {one["rule"] for expect in EXPECT.values() for one in expect.get("lint", ())}
    assert named <= set(all_rules())


@pytest.mark.parametrize(("case", "expected"), WANTED, ids=[f"{case}-{one['object']}" for case, one in WANTED])
def test_what_a_case_asks_for_is_found(case: str, expected: dict[str, Any]) -> None:
    assert [one for one in found_in(case) if answers(expected, one)]


@pytest.mark.parametrize("case", EXPECT)
def test_what_the_server_refuses_is_an_error_and_nothing_else_is_said_without_reason(case: str) -> None:
    expect, found = EXPECT[case], found_in(case)
    refused = set(expect.get("rejected", ()))
    assert refused <= {one.object for one in found if one.severity is Severity.ERROR}
    asked = {(one["rule"], one["object"]) for one in expect.get("lint", ())}
    besides = {(case, one.rule, one.object) for one in found if one.object not in refused}
    assert {one for one in besides if one[1:] not in asked} <= BESIDES
