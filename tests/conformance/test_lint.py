"""What lint must find in the scenario cases beside this repository, and that it finds nothing else that is wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from drayman import manifest
from drayman.lint import Diagnostic, Options, Severity, all_rules, lint

CASES = Path(__file__).resolve().parents[3] / "shared" / "conformance" / "scenarios"
EXPECT = {path.parent.name: json.loads(path.read_text()) for path in sorted(CASES.glob("*/expect.json"))}
FACT = re.compile(r"[\w.]*(?:[./][\w./]*\w|[A-Z]\w+)")
"""What a message has to tell, whatever its words: names with dots and slashes, and those with capitals."""


def found_in(case: str) -> list[Diagnostic]:
    expect = EXPECT[case]
    options = Options(kubernetes_version=expect.get("kubernetes", "1.37"), feature_gates=expect.get("gates", ""))
    return lint([("input.yaml", (CASES / case / "input.yaml").read_text())], options)


def works_in(case: str) -> set[str]:
    """Return the pods of a case that are placed, and the claims, templates and classes that they use."""
    by_name = {one.name: one.object for one in manifest.load([CASES / case / "input.yaml"])}
    works = set()
    for pod, expected in EXPECT[case].get("pods", {}).items():
        if not expected.get("node"):
            continue
        works.add(f"Pod {pod}")
        for entry in by_name.get(f"Pod {pod}", {}).get("spec", {}).get("resourceClaims", ()):
            place = pod.partition("/")[0]
            works.add(f"ResourceClaim {place}/{entry.get('resourceClaimName')}")
            works.add(f"ResourceClaimTemplate {place}/{entry.get('resourceClaimTemplateName')}")
    text = json.dumps([by_name[name] for name in works if name in by_name])
    return works | {
        name for name, one in by_name.items() if one["kind"] == "DeviceClass" and f'"{one["metadata"]["name"]}"' in text
    }


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
def test_what_the_server_refuses_is_an_error(case: str) -> None:
    errors = {one.object for one in found_in(case) if one.severity is Severity.ERROR}
    assert set(EXPECT[case].get("rejected", ())) <= errors


@pytest.mark.parametrize("case", EXPECT)
def test_nothing_is_said_about_what_works(case: str) -> None:
    asked = {(one["rule"], one["object"]) for one in EXPECT[case].get("lint", ())}
    works = works_in(case)
    assert [one for one in found_in(case) if one.object in works and (one.rule, one.object) not in asked] == []


@pytest.mark.parametrize("case", EXPECT)
def test_without_expressions_only_what_is_asked_for_is_said(case: str) -> None:
    expect = EXPECT[case]
    asked = {(one["rule"], one["object"]) for one in expect.get("lint", ())}
    told = {(one.rule, one.object) for one in found_in(case) if one.object not in expect.get("rejected", ())}
    assert {one for one in told if not one[0].startswith("cel-")} <= asked
