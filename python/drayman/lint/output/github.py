"""Diagnostics as workflow commands of GitHub Actions, which become annotations of the changed lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.lint.diagnostic import Severity
from drayman.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from drayman.lint.diagnostic import Diagnostic

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def github(diagnostics: Iterable[Diagnostic]) -> str:
    """Return one command a line."""
    return "".join(_command(one) + "\n" for one in diagnostics)


def _command(one: Diagnostic) -> str:
    at = one.position
    properties = {
        "file": one.file,
        "line": at.line,
        "endLine": at.end_line,
        # GitHub takes columns only where start and end are on one line.
        **({"col": at.column, "endColumn": at.end_column} if at.line == at.end_line else {}),
        "title": f"drayman: {one.rule}",
    }
    given = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    message = "\n".join(part for part in (one.object, one.message, one.hint and f"hint: {one.hint}") if part)
    return f"::{_COMMANDS[one.severity]} {given}::{_data(message)}"


def _data(text: str) -> str:
    return visible(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
