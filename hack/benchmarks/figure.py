"""One figure: how long drayman and upstream took for the same thing, how much work it was, and what we want."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


@dataclass(frozen=True, slots=True)
class Figure:
    """`drayman` and `upstream` are seconds, or MiB when that is the `unit`.

    `upstream` is None without the oracle; when it is `given_up`, upstream had no answer after that time. `work` counts
    ours, `upstream_steps` theirs. A figure without `at_most` is for information; `ratio_at_least` is a target too.
    """

    name: str
    drayman: float
    upstream: float | None = None
    given_up: bool = False
    unit: str = "s"
    work: Mapping[str, int] = field(default_factory=dict)
    upstream_steps: int | None = None
    at_most: float | None = None
    ratio_at_least: float | None = None

    @property
    def ratio(self) -> float | None:
        """How many times faster, or smaller, drayman is; at least that when upstream was given up."""
        return self.upstream / self.drayman if self.upstream is not None and self.drayman > 0 else None

    @property
    def met(self) -> bool | None:
        """Whether the target is met, as far as that can be told; None without a target."""
        if self.at_most is None:
            return None
        ratio = self.ratio
        fast = self.drayman <= self.at_most
        return fast and (self.ratio_at_least is None or ratio is None or ratio >= self.ratio_at_least)

    def cells(self) -> tuple[str, ...]:
        """Return the row of the table."""
        bound = ">" if self.given_up else ""
        return (
            self.name,
            self._amount(self.drayman),
            "-" if self.upstream is None else bound + self._amount(self.upstream),
            "-" if self.ratio is None else f"{bound}{rounded(self.ratio)}x",
            count(self.work.get("steps")),
            count(self.upstream_steps),
            count(self.work.get("selector_evaluations")),
            self._target(),
            {None: "", True: "met", False: "MISSED"}[self.met],
        )

    def json(self) -> dict[str, Any]:
        """Return all that is known, for machines."""
        return {
            "name": self.name,
            "unit": self.unit,
            "drayman": self.drayman,
            "upstream": self.upstream,
            "upstreamGivenUp": self.given_up,
            "ratio": self.ratio,
            "work": dict(self.work),
            "upstreamSteps": self.upstream_steps,
            "atMost": self.at_most,
            "ratioAtLeast": self.ratio_at_least,
            "met": self.met,
        }

    def _amount(self, value: float) -> str:
        if self.unit != "s":
            return f"{rounded(value)} {self.unit}"
        size, unit = next((step for step in UNITS if value >= step[0]), UNITS[-1])
        return f"{rounded(value / size)} {unit}"

    def _target(self) -> str:
        if self.at_most is None:
            return ""
        ratio = "" if self.ratio_at_least is None else f", {self.ratio_at_least:.0f}x"
        return f"{self._amount(self.at_most)}{ratio}"


HEADINGS = ("FIGURE", "DRAYMAN", "UPSTREAM", "RATIO", "STEPS", "OF UPSTREAM", "SELECTORS", "TARGET", "")
LEFT_ALIGNED = (0, 7, 8)


def table(rows: list[tuple[str, ...]]) -> str:
    """Return rows, the headings among them, in aligned columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column in LEFT_ALIGNED else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def rounded(value: float) -> str:
    """Return three digits that count."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def count(value: int | None) -> str:
    """Return a number with separators, or a dash where nothing is counted."""
    return "-" if value is None else f"{value:,}"
