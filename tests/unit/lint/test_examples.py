"""The examples of the rules, as `--explain` shows them, are their tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from drayman.lint import Options, Rule, Severity, all_rules, lint
from drayman.lint.page import page

RULES = pytest.mark.parametrize("rule", all_rules().values(), ids=lambda rule: rule.name)


@RULES
def test_the_bad_example_has_the_finding(rule: Rule) -> None:
    found = lint([("bad.yaml", rule.bad)], Options(kubernetes_version=rule.kubernetes_version))
    assert {one.rule for one in found if one.severity is not Severity.INFO or one.rule == rule.name} == {rule.name}
    assert all(one.position.line > 1 for one in found)


@RULES
def test_the_good_example_is_clean_under_all_rules(rule: Rule) -> None:
    assert lint([("good.yaml", rule.good)], Options(kubernetes_version=rule.kubernetes_version)) == []


@RULES
def test_a_rule_says_what_it_is_about_in_a_line_and_in_sentences(rule: Rule) -> None:
    assert not rule.summary[0].isupper()
    assert not rule.summary.endswith(".")
    assert len(rule.summary) <= 90
    assert rule.why.endswith(".")


def test_the_page_of_rules_is_up_to_date() -> None:
    written = (Path(__file__).resolve().parents[3] / "docs" / "lint.md").read_text("utf-8")
    assert written == page(), "run: python -m drayman.lint.page > docs/lint.md"
