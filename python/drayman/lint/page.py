"""What rules are about, for `--explain` and for `docs/lint.md`, which `python -m drayman.lint.page` prints."""

from __future__ import annotations

import itertools
import textwrap
from importlib import resources
from typing import TYPE_CHECKING

from drayman.lint.rule import all_rules

if TYPE_CHECKING:
    from drayman.lint.rule import Rule

WIDTH = 98


def explanation(rule: Rule) -> str:
    """Return name, severity, reason and examples of a rule as text."""
    version = "" if rule.kubernetes_version == "1.37" else f" (Kubernetes {rule.kubernetes_version})"
    parts = [
        f"{rule.name} ({rule.severity}): {rule.summary}",
        _filled(rule.why),
        f"bad{version}:\n\n{_indented(rule.bad)}",
        f"good:\n\n{_indented(rule.good)}",
    ]
    return "\n\n".join(parts)


def page() -> str:
    """Return the page about lint in Markdown: how it is used, and all rules."""
    introduction = resources.files("drayman.lint").joinpath("page.md").read_text("utf-8")
    rows = [f"| [{one.name}](#{one.name}) | {one.severity} | {one.summary} |" for one in all_rules().values()]
    table = "\n".join(["| rule | severity | finds |", "|---|---|---|", *rows])
    return "\n".join([introduction, table, "", *(_section(one) for one in all_rules().values())]).rstrip() + "\n"


def _section(rule: Rule) -> str:
    version = "" if rule.kubernetes_version == "1.37" else f", for Kubernetes {rule.kubernetes_version}"
    return (
        f"## {rule.name}\n\n{rule.severity.capitalize()}: {rule.summary}.\n\n{rule.why}\n\n"
        f"Bad{version}:\n\n```yaml\n{rule.bad.strip()}\n```\n\nGood:\n\n```yaml\n{rule.good.strip()}\n```\n"
    )


def _filled(text: str) -> str:
    """Break paragraphs anew for a terminal."""
    paragraphs = [" ".join(lines) for blank, lines in itertools.groupby(text.splitlines(), str.isspace) if not blank]
    return "\n\n".join(textwrap.fill(one, WIDTH, break_on_hyphens=False) for one in paragraphs)


def _indented(text: str) -> str:
    return textwrap.indent(text.strip(), "  ")


if __name__ == "__main__":
    print(page(), end="")
