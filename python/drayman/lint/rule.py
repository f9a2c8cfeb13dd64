"""Rules: what they are, and how they are found.

A rule is a function from the context to findings, decorated with :func:`rule`, in a module of
:mod:`drayman.lint.rules`. Adding a rule is adding such a module; its examples are its tests and its documentation.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from drayman.lint.diagnostic import Severity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drayman.lint.context import Context
    from drayman.lint.diagnostic import Fix
    from drayman.lint.document import Document
    from drayman.manifest import Position

__all__ = ["Check", "Finding", "Findings", "Rule", "Severity", "all_rules", "rule"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule has found in `document`, at `path` of its object (version v1).

    `position` says where to point when it is not the field at `path`; `severity` differs from the rule's only where
    one rule knows both. `said` is what the message repeats of the API server's about an expression.
    """

    document: Document
    path: str
    message: str
    hint: str | None = None
    position: Position | None = None
    fix: Fix | None = None
    severity: Severity | None = None
    said: str | None = None


Findings: TypeAlias = Iterable[Finding]
Check: TypeAlias = Callable[["Context"], Findings]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule. `bad` is a manifest in which it finds something, `good` one that is clean under all rules.

    What a rule with `refines` finds, the API server refuses too: its general text for that field is left out.
    `kubernetes_version` is that of the examples.
    """

    name: str
    severity: Severity
    summary: str
    why: str
    bad: str
    good: str
    check: Check
    refines: bool = False
    kubernetes_version: str = "1.37"


def rule(
    name: str,
    severity: Severity,
    *,
    summary: str,
    why: str,
    bad: str,
    good: str,
    refines: bool = False,
    kubernetes_version: str = "1.37",
) -> Callable[[Check], Rule]:
    """Make a rule of a function."""

    def make(check: Check) -> Rule:
        return Rule(name, severity, summary, why.strip(), bad, good, check, refines, kubernetes_version)

    return make


@functools.cache
def all_rules() -> Mapping[str, Rule]:
    """Return all rules by name, in order of their names."""
    from drayman.lint import rules as package

    found = {}
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, Rule):
                found[value.name] = value
    return dict(sorted(found.items()))
