"""Facts: what stands against a pod, a claim or a node, each with a code that stays the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Fact:
    """One reason. `details` are the members that the JSON has besides; `hint` says what to do about it.

    `general` is the message for several nodes, where that of one says what this node has; both are about the same.
    `code` is stable; the codes are listed in `docs/explain.md`.
    """

    code: str
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)
    hint: str | None = None
    general: str = ""

    def json(self) -> dict[str, Any]:
        """Return the fact as JSON."""
        hint = {"hint": self.hint} if self.hint else {}
        return {"code": self.code, "message": self.message, **self.details, **hint}


def named(names: tuple[str, ...] | list[str], most: int = 3) -> str:
    """Return names in backticks, the first few and how many more there are."""
    shown = ", ".join(f"`{name}`" for name in names[:most])
    more = len(names) - most
    return f"{shown} and {more} more" if more > 0 else shown


def counted(number: int, noun: str) -> str:
    """Return "1 node" or "2 nodes"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
