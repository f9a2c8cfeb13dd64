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

    __slots__ = ("_make", "_native")

    def __init__(self, make: Callable[[], _native.Explanation]) -> None:
        self._make = make
        self._native: _native.Explanation | None = None

    def line(self) -> str:
        """Return one line of at most 300 bytes, about the nodes nearest to fitting."""
        return self._made().line()

    def tree(self) -> str:
        """Return a text for a terminal, at most 100 columns wide: what is against each device, and what would help."""
        return self._made().tree()

    def json(self) -> dict[str, Any]:
        """Return the facts as JSON: `version` and `groups`, each with `nodes` and what holds for them."""
        return self._made().json()

    def __repr__(self) -> str:
        return f"<Explanation: {self.line()}>"

    def _made(self) -> _native.Explanation:
        if self._native is None:
            self._native = self._make()
        return self._native
