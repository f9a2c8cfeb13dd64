"""Diagnostics as JSON, version 1; `docs/lint.md` describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from drayman.lint.diagnostic import Diagnostic, Fix
    from drayman.manifest import Position

VERSION = 1


def json_object(diagnostics: Iterable[Diagnostic], *, kubernetes: str) -> dict[str, Any]:
    """Return the whole answer; members without a value are left out of the diagnostics."""
    return {
        "version": VERSION,
        "kubernetes": kubernetes,
        "compatibility": "1.37",
        "diagnostics": [_diagnostic(one) for one in diagnostics],
    }


def _diagnostic(one: Diagnostic) -> dict[str, Any]:
    members = {
        "rule": one.rule,
        "severity": str(one.severity),
        "object": one.object,
        "path": one.path,
        "message": one.message,
        "hint": one.hint,
        "file": one.file,
        **_place(one.position),
        "fix": _fix(one.fix) if one.fix else None,
    }
    return {name: value for name, value in members.items() if value not in (None, "")}


def _fix(fix: Fix) -> dict[str, Any]:
    return {"safe": fix.safe, "edits": [{**_place(edit.position), "text": edit.text} for edit in fix.edits]}


def _place(at: Position) -> dict[str, int]:
    return {"line": at.line, "column": at.column, "endLine": at.end_line, "endColumn": at.end_column}
