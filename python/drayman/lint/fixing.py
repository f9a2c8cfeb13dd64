"""Applying fixes: text in, text out, as often as there is something left that can be put right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from drayman import manifest
from drayman.errors import InputError
from drayman.lint.engine import lint
from drayman.lint.source import Source

if TYPE_CHECKING:
    from drayman.lint.diagnostic import Diagnostic, Fix
    from drayman.lint.engine import Options

MAX_ROUNDS = 10
"""Fixes that overlap are applied one after the other, each in a round of its own."""


def fix(texts: Sequence[tuple[str, str]], options: Options | None = None) -> tuple[Mapping[str, str], int]:
    """Return the texts with all safe fixes applied, by file, and how many findings that put right.

    A file in which fixes would leave something that is not YAML any more keeps its text.
    """
    current = dict(texts)
    fixed = 0
    for _ in range(MAX_ROUNDS):
        found = [one for one in lint(list(current.items()), options) if one.fix is not None and one.fix.safe]
        changed = 0
        for file in dict.fromkeys(one.file for one in found):
            text, count = apply(current[file], (one for one in found if one.file == file))
            if count and _is_readable(text, file):
                current[file], changed = text, changed + count
        if not changed:
            break
        fixed += changed
    return current, fixed


def apply(text: str, diagnostics: Iterable[Diagnostic]) -> tuple[str, int]:
    """Return the text with the fixes of the diagnostics, and how many; those that overlap an earlier one are left."""
    source = Source("", text)
    taken: list[tuple[int, int, str]] = []
    count = 0
    for one in diagnostics:
        if one.fix is None:
            continue
        edits = _edits(source, one.fix)
        if all(edit in taken for edit in edits):
            # Several findings may have one fix.
            count += 1
        elif not any(_overlap(edit, other) for edit in edits for other in taken):
            taken += edits
            count += 1
    for start, end, replacement in sorted(taken, reverse=True):
        text = text[:start] + replacement + text[end:]
    return text, count


def _edits(source: Source, fix: Fix) -> list[tuple[int, int, str]]:
    return [(*source.span(edit.position), edit.text) for edit in fix.edits]


def _overlap(one: tuple[int, int, str], other: tuple[int, int, str]) -> bool:
    """Whether two edits touch: where both insert, which comes first would be chance."""
    return one[0] <= other[1] and other[0] <= one[1]


def _is_readable(text: str, file: str) -> bool:
    try:
        manifest.parse(text, file=file)
    except InputError:
        return False
    return True
