"""Sets of completion indexes as a Job's status prints them: `1,3-5,7`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def parse(text: str) -> set[int]:
    """Return the indexes in `text`; parts that are not numbers are left out, as upstream does."""
    indexes: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            indexes.update(range(int(first), int(last or first) + 1))
    return indexes


def render(indexes: Iterable[int]) -> str:
    """Return `indexes` in order, neighbours joined: two by a comma, more by a hyphen."""
    parts: list[str] = []
    run: list[int] = []
    for index in [*sorted(set(indexes)), None]:
        if run and (index is None or index != run[-1] + 1):
            separator = "-" if len(run) > 2 else ","
            parts.append(str(run[0]) if len(run) == 1 else f"{run[0]}{separator}{run[-1]}")
            run = []
        if index is not None:
            run.append(index)
    return ",".join(parts)
