"""Diagnostics for people: where, the line with what is wrong marked under it, and what to write instead."""

from __future__ import annotations

import textwrap
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drayman.lint.diagnostic import Severity
from drayman.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from drayman.lint.diagnostic import Diagnostic
    from drayman.lint.source import Source

WIDTH = 100
_COLOURS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.INFO: "36"}
_BLUE, _BOLD = "34", "1"
_MARGIN = 20
"""How much of a long line is shown before what is wrong in it."""


@dataclass(frozen=True, slots=True)
class _Style:
    colour: bool

    def __call__(self, text: str, *codes: str) -> str:
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if self.colour and text else text


def text(diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source], *, colour: bool = False) -> str:
    """Return the diagnostics one after the other, each with the line of its file."""
    style = _Style(colour)
    return "".join("\n".join(_lines(one, sources.get(one.file), style)) + "\n\n" for one in diagnostics)


def summary(diagnostics: Sequence[Diagnostic], *, fixed: int = 0) -> str:
    """Return one line that says how much was found and fixed."""
    counts = [(severity, sum(one.severity is severity for one in diagnostics)) for severity in Severity]
    nouns = {Severity.ERROR: ("error", "errors"), Severity.WARNING: ("warning", "warnings")}
    parts = [f"{count} {nouns.get(severity, ('remark', 'remarks'))[count != 1]}" for severity, count in counts if count]
    found = f"found {', '.join(parts)}" if parts else "no findings"
    fixable = sum(one.fix is not None and one.fix.safe for one in diagnostics)
    if fixable:
        found += f"; --fix can put {fixable} right"
    return f"fixed {fixed}; {found}" if fixed else found


def _lines(one: Diagnostic, source: Source | None, style: _Style) -> Iterator[str]:
    colour = _COLOURS[one.severity]
    head = f"{one.severity}[{one.rule}]"
    first, *rest = _wrapped(visible(one.message), len(head) + 2)
    yield f"{style(head, _BOLD, colour)}{style(': ' + first.lstrip(), _BOLD)}"
    yield from (f"  {line}" for line in rest)
    gutter = " " * len(str(one.position.line))
    yield f"{gutter}{style('-->', _BLUE)} {visible(one.file)}:{one.position.line}:{one.position.column}"
    bar = style("|", _BLUE)
    if source is not None:
        line, marks = _excerpt(one, source)
        yield f"{gutter} {bar}"
        yield f"{style(str(one.position.line), _BLUE)} {bar} {line}".rstrip()
        yield f"{gutter} {bar} {style(marks, _BOLD, colour)}"
    where = f"{one.object}: {one.path}" if one.object and one.path else one.object or one.path
    for label, note in (("object", where), ("help", one.hint)):
        if note:
            indent = f"{gutter} {style('=', _BLUE)} {style(label, _BOLD)}: "
            first, *rest = _wrapped(visible(note), len(gutter) + len(label) + 5)
            yield f"{indent}{first.lstrip()}"
            yield from (f"{' ' * (len(gutter) + 3)}{line}" for line in rest)


def _wrapped(message: str, taken: int) -> list[str]:
    """Break text into lines; `taken` columns of the first one are used up."""
    lines: list[str] = []
    # The excerpt of the file stands for those that messages about CEL bring along.
    for number, line in enumerate(line for line in message.split("\n") if not line.startswith(" | ")):
        lead = " " * (taken if number == 0 else 0)
        lines += textwrap.wrap(
            lead + line,
            WIDTH - 4,
            drop_whitespace=True,
            replace_whitespace=False,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [""]
    return lines


def _excerpt(one: Diagnostic, source: Source) -> tuple[str, str]:
    """Return the line and the marks under it; of a long line the part around what is wrong."""
    at = one.position
    line = source.line(at.line)
    start = at.column - 1
    end = at.end_column - 1 if at.end_line == at.line else len(line.rstrip())
    room = WIDTH - len(str(at.line)) - 3
    if _columns(line) > room:
        cut = max(min(start - _MARGIN, len(line) - room + 2), 0)
        line, start, end = ("…" if cut else "") + line[cut:], start - cut + bool(cut), end - cut + bool(cut)
        if _columns(line) > room:
            line = line[: room - 1] + "…"
            end = min(end, len(line))
    line = visible(line.replace("\t", " "))
    return line, " " * _columns(line[:start]) + "^" * max(_columns(line[start:end]), 1)


def _columns(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(bool(unicodedata.combining(character)) for character in text)
