"""What a rule is about, for `--explain` and for the page of all rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.lint.rule import all_rules

if TYPE_CHECKING:
    from drayman.lint.rule import Rule

_INTRODUCTION = """# Rules of `drayman lint`

Made by `drayman.lint.page` from the rules; the examples are their tests.
"""


def explanation(rule: Rule) -> str:
    """Return name, severity, reason and examples of a rule as text."""
    parts = [
        f"{rule.name} ({rule.severity}): {rule.summary}",
        rule.why,
        f"bad:\n\n{_indented(rule.bad)}",
        f"good:\n\n{_indented(rule.good)}",
    ]
    return "\n\n".join(parts)


def page() -> str:
    """Return the page of all rules in Markdown."""
    rows = [f"| [{one.name}](#{one.name}) | {one.severity} | {one.summary} |" for one in all_rules().values()]
    table = "\n".join(["| rule | severity | finds |", "|---|---|---|", *rows])
    return "\n".join([_INTRODUCTION, table, "", *(_section(one) for one in all_rules().values())])


def _section(rule: Rule) -> str:
    return (
        f"## {rule.name}\n\n{rule.severity}: {rule.summary}\n\n{rule.why}\n\n"
        f"Bad:\n\n```yaml\n{rule.bad.strip()}\n```\n\nGood:\n\n```yaml\n{rule.good.strip()}\n```\n"
    )


def _indented(text: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in text.strip().splitlines())
