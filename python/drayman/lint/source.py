"""The text of a file, its lines, and where its characters are."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from drayman.manifest import Position

if TYPE_CHECKING:
    from collections.abc import Sequence

BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
"""What ends a line in YAML 1.1, by which the parser counts."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file's name and text. Offsets count characters from 0, lines and columns from 1."""

    file: str
    text: str
    _starts: Sequence[int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_starts", [0, *(found.end() for found in BREAK.finditer(self.text))])

    def line(self, number: int) -> str:
        """Return a line without its end; empty when the file has no such line."""
        if not 1 <= number <= len(self._starts):
            return ""
        found = BREAK.search(self.text, self._starts[number - 1])
        return self.text[self._starts[number - 1] : found.start() if found else len(self.text)]

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a place; the end of the text for a place behind it."""
        if line > len(self._starts):
            return len(self.text)
        return min(self._starts[line - 1] + column - 1, len(self.text))

    def position(self, start: int, end: int) -> Position:
        """Return the position of the characters from `start` up to `end`."""
        return Position(*self._place(start), *self._place(end))

    def span(self, position: Position) -> tuple[int, int]:
        """Return the offsets of the start and end of a position."""
        return self.offset(position.line, position.column), self.offset(position.end_line, position.end_column)

    def slice(self, position: Position) -> str:
        """Return the text at a position."""
        start, end = self.span(position)
        return self.text[start:end]

    def first_line(self, position: Position) -> Position:
        """Return the part of a position that is on its first line, without blanks at its end."""
        start, end = self.span(position)
        found = BREAK.search(self.text, start, end)
        end = found.start() if found else end
        return self.position(start, max(start + len(self.text[start:end].rstrip()), start))

    def _place(self, offset: int) -> tuple[int, int]:
        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1
