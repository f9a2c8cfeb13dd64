"""How times are taken: medians over repeated calls, each on input that was prepared before."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeVar

from hack.oracle.client import Oracle

Input = TypeVar("Input")
Output = TypeVar("Output")

UPSTREAM_TIME = 10.0
"""Seconds after which upstream's answer is not asked for once more."""


class DisagreementError(Exception):
    """Drayman and upstream answered differently: their times must not be compared."""


@dataclass(frozen=True, slots=True)
class Bench:
    """How often things are repeated, and what they are compared with; `oracle` is None where there is none."""

    repeats: int
    search_limit: float
    oracle: Oracle | None

    def time(self, call: Callable[[Input], Output], prepare: Callable[[], Input]) -> tuple[float, Output]:
        """Return the median of the seconds of `call` on what `prepare` returns, and what the last call returned."""
        seconds = []
        for _ in range(self.repeats):
            argument = prepare()
            gc.disable()  # as `timeit`: a collection belongs to no particular call
            start = time.perf_counter()
            output = call(argument)
            seconds.append(time.perf_counter() - start)
            gc.enable()
        return median(seconds), output

    def upstream(self, case: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return upstream's answer for a case of the allocator, `seconds` being the median; None without the oracle."""
        if self.oracle is None:
            return None
        answers: list[dict[str, Any]] = []
        while len(answers) < self.repeats and sum(answer["seconds"] for answer in answers) < UPSTREAM_TIME:
            answers.append(self.oracle.allocate({"limit": self.search_limit, **case}))
            if answers[-1].get("interrupted"):
                break
        return {**answers[-1], "seconds": median(answer["seconds"] for answer in answers)}

    def ask(self, kind: str, question: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the oracle's answer; None without the oracle."""
        return None if self.oracle is None else self.oracle.ask(kind, question)


def agree(what: str, drayman: object, upstream: object) -> None:
    """Raise :class:`DisagreementError` when the answers differ."""
    if drayman != upstream:
        raise DisagreementError(f"`{what}`: drayman and upstream do not answer the same")
