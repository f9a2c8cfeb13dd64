"""Explanations: why claims cannot be allocated, as one line, as a tree and as JSON.

An explanation is made only when it is looked at, from what is known then. `docs/explain.md` has the codes of facts and
the fields of the JSON form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from drayman import _native


class Explanation:
    """Why claims do not fit on one node, or on any of several; nodes for which the same holds are told together."""

    __slots__ = ("_all", "_line", "_make")

    def __init__(self, make: Callable[[str], _native.Explanation]) -> None:
        self._make = make
        self._all: _native.Explanation | None = None
        self._line: str | None = None

    def line(self) -> str:
        """Return one line of at most 300 bytes, about the nodes nearest to fitting."""
        if self._line is None:
            self._line = (self._all or self._make("nearest")).line()
        return self._line

    def tree(self) -> str:
        """Return a text for a terminal, at most 100 columns wide: what is against each device, and what would help."""
        return self._made().tree()

    def json(self) -> dict[str, Any]:
        """Return all as JSON: `version`, `compatibility`, `claims` and `groups` of nodes for which the same holds."""
        return self._made().json()

    def __repr__(self) -> str:
        return f"<Explanation: {self.line()}>"

    def _made(self) -> _native.Explanation:
        if self._all is None:
            self._all = self._make("all")
        return self._all
