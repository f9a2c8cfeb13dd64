"""Where each character of a YAML scalar's value stands in the file.

The parser only tells where a scalar begins and ends. Between the two, quotes, escapes, indentation and folded lines
separate what is written from what is meant; here they are walked through side by side.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from drayman.lint.source import BREAK

if TYPE_CHECKING:
    from collections.abc import Sequence

_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")
_FOLD = re.compile("[ \t]*(?:(?:\r\n|[\n\r\x85\u2028\u2029])[ \t]*)+")
_ESCAPED_BREAK = re.compile("\\\\(?:\r\n|[\n\r\x85\u2028\u2029])[ \t]*")
_SIMPLE_ESCAPE = 2
_HEX_ESCAPES = {"x": 4, "u": 6, "U": 10}


def offsets(text: str, start: int, end: int, value: str) -> Sequence[int] | None:
    """Return for each character of `value`, and for its end, the offset in `text` at which it is written.

    The scalar, of any style, stands in `text` from `start` up to `end`. None when the two do not fit, as for an alias.
    """
    properties = _PROPERTIES.match(text, start, end)
    start = properties.end() if properties else start
    indicator = text[start : start + 1]
    if indicator in ("|", ">"):
        return _block(text, start, end, value, folded=indicator == ">")
    if indicator in ("'", '"') and text[end - 1 : end] == indicator and end - start > 1:
        return _flow(text, start + 1, end - 1, value, quote=indicator)
    return _flow(text, start, end, value, quote="")


def _flow(text: str, at: int, end: int, value: str, *, quote: str) -> Sequence[int] | None:
    found: list[int] = []
    while at < end:
        length, step = _flow_step(text, at, end, quote)
        found += [at] * length
        at += step
    return [*found, end] if len(found) == len(value) else None


def _flow_step(text: str, at: int, end: int, quote: str) -> tuple[int, int]:
    """Return how many characters of the value begin at `at`, and how many are written for them."""
    character = text[at]
    if quote == "'" and text.startswith("''", at):
        return 1, 2
    if quote == '"' and character == "\\":
        joined = _ESCAPED_BREAK.match(text, at, end)
        if joined:
            # Of empty lines after the escaped end of a line each but that line's own counts.
            rest = _FOLD.match(text, joined.end(), end)
            return (len(BREAK.findall(rest[0])), len(joined[0]) + len(rest[0])) if rest else (0, len(joined[0]))
        return 1, _HEX_ESCAPES.get(text[at + 1 : at + 2], _SIMPLE_ESCAPE)
    if character in " \t\r\n\x85\u2028\u2029":
        fold = _FOLD.match(text, at, end)
        if fold:
            return max(len(BREAK.findall(fold[0])) - 1, 1), len(fold[0])
    return 1, 1


def _block(text: str, start: int, end: int, value: str, *, folded: bool) -> Sequence[int] | None:
    header = BREAK.search(text, start, end)
    if header is None:
        return [end] if not value else None
    lines = _lines(text, header.end(), end)
    indent = _indent([line for _, line in lines], value)
    contents = [(at + min(indent, len(line)), line[indent:]) for at, line in lines]
    return _folded(contents, end, value) if folded else _literal(contents, end, value)


def _lines(text: str, start: int, end: int) -> list[tuple[int, str]]:
    lines = []
    while start < end:
        found = BREAK.search(text, start, end)
        lines.append((start, text[start : found.start() if found else end]))
        start = found.end() if found else end
    return lines


def _indent(lines: Sequence[str], value: str) -> int:
    """Return by how many blanks the lines of a block are indented."""
    first_meant = next((line for line in value.split("\n") if line.strip(" ")), "")
    first_written = next((line for line in lines if line.strip(" ")), "")
    return _blanks(first_written) - _blanks(first_meant)


def _blanks(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _literal(contents: Sequence[tuple[int, str]], end: int, value: str) -> Sequence[int] | None:
    found: list[int] = []
    at = 0
    for start, line in contents:
        if not value.startswith(line, at) or at + len(line) > len(value):
            break
        found += range(start, start + len(line))
        at += len(line)
        if at < len(value):
            found.append(start + len(line))
            at += 1
    return [*found, _last(contents, found, end)] if len(found) == len(value) else None


def _folded(contents: Sequence[tuple[int, str]], end: int, value: str) -> Sequence[int] | None:
    found: list[int] = []
    at = 0
    line_end = contents[0][0] if contents else end
    for start, line in contents:
        if not line:
            continue
        separator = at
        while value.startswith("\n", at):
            at += 1
        if at == separator and found and value.startswith(" ", at):
            at += 1
        found += [line_end] * (at - separator)
        if not value.startswith(line, at):
            break
        found += range(start, start + len(line))
        at += len(line)
        line_end = start + len(line)
    found += [line_end] * (len(value) - len(found))
    return [*found, _last(contents, found, end)] if value[at:].strip("\n") == "" else None


def _last(contents: Sequence[tuple[int, str]], found: Sequence[int], end: int) -> int:
    """Return where a value ends: behind its last character, or where a line would begin."""
    if not found:
        return contents[0][0] if contents else end
    last = found[-1]
    within = any(start <= last < start + len(line) for start, line in contents)
    return min(last + 1, end) if within else last
