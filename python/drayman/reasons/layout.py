"""Trees of text for a terminal, in lines of at most a hundred columns."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

WIDTH = 100
"""Columns that a line has at most, but for a word that is longer."""

_BRANCH = re.compile(r"((?:│  |   )*)[├└]─ (.*)")
"""A line of a tree at which a branch starts; the others are titles, or go on with what stands above them."""


@dataclass(slots=True)
class Branch:
    """A text and what hangs below it."""

    text: str
    branches: list[Branch] = field(default_factory=list)


def parse(tree: str) -> list[Branch]:
    """Return the branches of trees that are drawn already, one below the other."""
    roots: list[Branch] = []
    path: list[Branch] = []
    for line in tree.split("\n"):
        match = _BRANCH.match(line)
        if match:
            added, depth = Branch(match[2]), len(match[1]) // 3 + 1
            del path[depth:]
            path[-1].branches.append(added)
            path.append(added)
        elif line[:1] in ("│", " ") and path:
            path[-1].text += f" {line.lstrip('│ ')}"
        else:
            path = [Branch(line)]
            roots += path
    return roots


def render(title: str, branches: Sequence[Branch], width: int = WIDTH) -> str:
    """Return the title and the branches below it, in lines of at most `width` columns."""
    return "\n".join([*_wrapped(title, "", "", width), *_below(branches, "", width)])


def _below(branches: Sequence[Branch], stem: str, width: int) -> Iterator[str]:
    for branch in branches:
        last = branch is branches[-1]
        below = stem + ("   " if last else "│  ")
        first = stem + ("└─ " if last else "├─ ")
        yield from _wrapped(branch.text, first, below + ("│  " if branch.branches else ""), width)
        yield from _below(branch.branches, below, width)


def _wrapped(text: str, first: str, other: str, width: int) -> list[str]:
    """Break text into lines: `first` stands before the first one, `other` before those that follow."""
    lines: list[str] = []
    for part in text.split("\n"):
        indent = other if lines else first
        lines += textwrap.wrap(
            part,
            width,
            initial_indent=indent,
            subsequent_indent=other,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [indent.rstrip()]
    return lines
