"""Trees of text for a terminal, in lines of at most a hundred columns."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

WIDTH = 100

_STEM = re.compile(r"((?:│  |   )*(?:├─ |└─ )?)(.*)")


@dataclass(frozen=True, slots=True)
class Branch:
    """A text and what hangs below it: branches, or the lines of a tree that is drawn already."""

    text: str
    branches: tuple[Branch, ...] = ()
    drawn: tuple[str, ...] = ()


def drawn(tree: str) -> list[Branch]:
    """Return trees that are drawn already, one below the other, as branches."""
    found: list[tuple[str, list[str]]] = []
    for line in tree.split("\n"):
        if found and line[:1] in "├└│ ":
            found[-1][1].append(line)
        else:
            found.append((line, []))
    return [Branch(text, drawn=tuple(lines)) for text, lines in found]


def render(title: str, branches: Sequence[Branch]) -> str:
    """Return the title and the branches below it."""
    return "\n".join([*_wrapped(title, "", ""), *_below(branches, "")])


def _below(branches: Sequence[Branch], stem: str) -> Iterator[str]:
    for branch in branches:
        last = branch is branches[-1]
        below = stem + ("   " if last else "│  ")
        more = "│  " if branch.branches or branch.drawn else ""
        yield from _wrapped(branch.text, stem + ("└─ " if last else "├─ "), below + more)
        yield from _below(branch.branches, below)
        for index, line in enumerate(branch.drawn):
            yield from _redrawn(line, below, branch.drawn[index + 1 : index + 2])


def _redrawn(line: str, stem: str, following: Sequence[str]) -> Iterator[str]:
    """Yield a line of a drawn tree below `stem`; what does not fit continues under its text."""
    match = _STEM.match(line)
    own, text = (match[1], match[2]) if match else ("", line)
    after = own.replace("├─ ", "│  ").replace("└─ ", "   ")
    has_children = any(len(_STEM.sub(r"\1", one)) > len(own) for one in following)
    yield from _wrapped(text, stem + own, stem + after + ("│  " if has_children else ""))


def _wrapped(text: str, first: str, other: str) -> list[str]:
    """Break text into lines: `first` stands before the first one, `other` before those that follow."""
    lines: list[str] = []
    for part in text.split("\n"):
        lines += textwrap.wrap(
            part,
            WIDTH,
            initial_indent=other if lines else first,
            subsequent_indent=other,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [(other if lines else first).rstrip()]
    return lines
