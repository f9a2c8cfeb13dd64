"""Diagnostics as SARIF 2.1.0, which code hosts and editors read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from drayman.lint.diagnostic import Severity
from drayman.lint.rule import all_rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drayman.lint.diagnostic import Diagnostic, Fix
    from drayman.manifest import Position

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def sarif_object(diagnostics: Sequence[Diagnostic], *, tool_version: str) -> dict[str, Any]:
    """Return the log of one run; it lists the rules that found something."""
    names = sorted({one.rule for one in diagnostics})
    driver = {"name": "drayman", "semanticVersion": tool_version, "rules": [_rule(name) for name in names]}
    results = [_result(one, names.index(one.rule)) for one in diagnostics]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(name: str) -> dict[str, Any]:
    rule = all_rules().get(name)
    if rule is None:
        return {"id": name, "defaultConfiguration": {"level": "error"}}
    return {
        "id": name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.why},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(one: Diagnostic, index: int) -> dict[str, Any]:
    location: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": _artifact(one.file), "region": _region(one.position)}
    }
    if one.object:
        name = f"{one.object}: {one.path}" if one.path else one.object
        location["logicalLocations"] = [{"fullyQualifiedName": name}]
    result: dict[str, Any] = {
        "ruleId": one.rule,
        "ruleIndex": index,
        "level": _LEVELS[one.severity],
        "message": {"text": f"{one.message}\nhint: {one.hint}" if one.hint else one.message},
        "locations": [location],
    }
    if one.fix:
        result["fixes"] = [_fix(one, one.fix)]
    return result


def _fix(one: Diagnostic, fix: Fix) -> dict[str, Any]:
    replacements = [
        {"deletedRegion": _region(edit.position), "insertedContent": {"text": edit.text}} for edit in fix.edits
    ]
    changes = [{"artifactLocation": _artifact(one.file), "replacements": replacements}]
    return {"description": {"text": one.hint or one.message}, "artifactChanges": changes}


def _artifact(file: str) -> dict[str, str]:
    """Return a URI: relative to where the command ran, but for absolute names."""
    path = file.replace("\\", "/")
    if re.match(r"[A-Za-z]:/", path):
        return {"uri": f"file:///{quote(path, safe='/:')}"}
    return {"uri": f"file://{quote(path)}" if path.startswith("/") else quote(path.removeprefix("./"))}


def _region(at: Position) -> dict[str, int]:
    return {"startLine": at.line, "startColumn": at.column, "endLine": at.end_line, "endColumn": at.end_column}
