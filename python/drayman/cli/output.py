"""What the verbs print: tables for people, JSON and YAML for programs."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Any

from drayman.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

WIDTH = 100
"""How many columns text for people has at most."""

_NARROWEST = 10
_SEPARATORS = " /,="


def columns() -> int:
    """Return how many columns lines have: on a terminal those that it has, up to a hundred."""
    return min(shutil.get_terminal_size().columns, WIDTH) if sys.stdout.isatty() else WIDTH


class Printer:
    """Prints titles, lines and tables: with rich on a terminal where it is installed, as plain text elsewhere.

    Tables fit a hundred columns, long cells are broken, unless they are `wide`.
    """

    def __init__(self, *, wide: bool = False) -> None:
        self._console = _console(None if wide else WIDTH)
        self._width = None if wide else WIDTH

    def title(self, text: str) -> None:
        """Print a heading."""
        text = visible(text)
        if self._console is None:
            print(f"\n== {text}")
        else:
            self._console.print(f"\n[bold]{_escape(text)}[/bold]")

    def line(self, text: str = "") -> None:
        """Print a line."""
        text = visible(text)
        if self._console is None:
            print(text)
        else:
            self._console.print(text, markup=False, highlight=False)

    def paragraph(self, text: str) -> None:
        """Print text, broken into lines of at most a hundred columns."""
        self.line("\n".join(textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)))

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Print rows under upper-case column names, or nothing when there are none; a cell may have several lines."""
        filled = [tuple(map(visible, row)) for row in rows]
        if not filled:
            return
        if self._console is None:
            print(plain_table(columns, filled if self._width is None else folded(columns, filled, self._width)))
        else:
            self._console.print(_rich_table(columns, filled))


class Progress:
    """One line on standard error that says what takes long; only on a terminal, and gone at the end of the block."""

    def __init__(self) -> None:
        self._shown = 0
        self._on = sys.stderr.isatty()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._write("")

    def show(self, text: str) -> None:
        """Replace the line by `text`."""
        if self._on:
            self._write(visible(text)[: WIDTH - 1])

    def _write(self, text: str) -> None:
        print(f"\r{text.ljust(self._shown)}", end="\r" if not text else "", file=sys.stderr, flush=True)
        self._shown = len(text)


def plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the table as text, columns three blanks apart as kubectl has them."""
    lines: list[Sequence[str]] = [columns]
    for row in rows:
        cells = [cell.split("\n") for cell in row]
        height = max(len(cell) for cell in cells)
        lines += [[cell[index] if index < len(cell) else "" for cell in cells] for index in range(height)]
    widths = [max(len(line[index]) for line in lines) for index in range(len(columns))]
    return "\n".join(
        "   ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def folded(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    """Return the rows with long cells broken into lines, so that the table fits `width` columns where that is possible.

    The widest columns give way; names are broken at their separators, those between their parts first.
    """
    lines = [list(columns), *(list(row) for row in rows)]
    widths = [max(len(part) for row in lines for part in row[index].split("\n")) for index in range(len(columns))]
    while sum(widths) + 3 * (len(columns) - 1) > width and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return [["\n".join(_broken(cell, room)) for cell, room in zip(row, widths, strict=True)] for row in rows]


def _broken(cell: str, room: int) -> Iterator[str]:
    for line in cell.split("\n"):
        rest = line
        while len(rest) > room:
            at = max(rest.rfind(mark, room // 2, room) for mark in _SEPARATORS) + 1
            at = at or rest.rfind("-", room // 2, room) + 1
            yield rest[: at or room].rstrip()
            rest = "  " + rest[at or room :].lstrip() if room > 2 * _NARROWEST else rest[at or room :]
        yield rest


def print_json(value: Any) -> None:
    """Print `value` as indented JSON."""
    print(json.dumps(value, indent=2, ensure_ascii=not _takes_all()))


def print_yaml(value: Any) -> None:
    """Print `value` as YAML, keys in their order."""
    import yaml

    print(yaml.safe_dump(value, sort_keys=False, allow_unicode=_takes_all(), width=120), end="")


def _takes_all() -> bool:
    """Whether every character can be printed as it is."""
    return (sys.stdout.encoding or "").lower().startswith("utf")


def note(text: str) -> None:
    """Print a remark that is neither result nor error to standard error."""
    print(f"note: {visible(text)}", file=sys.stderr)


def _console(width: int | None) -> Any:
    """Return a rich console when standard output is a terminal and rich is installed; it honours NO_COLOR itself."""
    if not sys.stdout.isatty():
        return None
    try:
        from rich.console import Console
    except ImportError:
        return None
    console = Console()
    if width is not None:
        console.width = min(console.width, width)
    return console


def _escape(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def _rich_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table
