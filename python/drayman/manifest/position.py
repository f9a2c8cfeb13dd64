"""Where the fields of a document stand in its file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

_STEP = re.compile(r"\[([^\]]*)\]|([^.\[]+)")


@dataclass(frozen=True, slots=True)
class Position:
    """A span of a file. Lines and columns are 1-based; the end is the first character after it."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Tree:
    """A value and the positions of what it consists of: members of an object or items of a list.

    `position` is that of the whole: a member's begins at its name. `key` is the name alone, None where the value is no
    member, and `content` the value alone.
    """

    value: Any
    position: Position
    members: dict[str, Tree] | None = None
    items: list[Tree] | None = None
    key: Position | None = None
    alone: Position | None = None

    @property
    def content(self) -> Position:
        """Where the value alone stands."""
        return self.alone or self.position

    def step(self, name: str) -> Tree | None:
        """Return the member or item called `name`, or None."""
        if self.members is not None:
            return self.members.get(name)
        if self.items is not None and name.isdecimal() and int(name) < len(self.items):
            return self.items[int(name)]
        return None


def find(tree: Tree, path: str) -> tuple[Tree, bool]:
    """Return the field at `path`, such as `spec.devices.requests[0].name` or `metadata.labels[a.b/c]`, and True.

    For what does not exist it is the nearest part of the path that does, and False.
    """
    current = tree
    for bracketed, plain in _STEP.findall(path):
        below = current.step(bracketed or plain)
        if below is None:
            return current, False
        current = below
    return current, True
