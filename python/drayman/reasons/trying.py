"""Allocating claims on nodes to see what comes of it: where they fit, where not, and where it ends with an error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drayman.allocator import Allocated, Failed, Outcome
from drayman.errors import AllocationError
from drayman.reasons import claims
from drayman.reasons.answer import FAILED, Group
from drayman.reasons.facts import Fact

if TYPE_CHECKING:
    from drayman.explain import Explanation
    from drayman.inventory import Evaluation
    from drayman.reasons.claims import Entry
    from drayman.reasons.state import Object, State

_DETAILED = 7
"""For how many of the nodes on which claims fit their devices are told."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What allocating claims gives on some nodes; on those that are `free` there is nothing to allocate."""

    evaluations: tuple[Evaluation, ...]
    free: tuple[str, ...] = ()

    @property
    def fitting(self) -> list[str]:
        """The nodes on which all claims fit, in byte order."""
        return sorted([*self.free, *(name for each in self.evaluations for name in each.fitting)])

    @property
    def failures(self) -> Iterator[tuple[str, AllocationError]]:
        """The nodes on which the allocation ends with an error."""
        for each in self.evaluations:
            fitting = frozenset(each.fitting)
            for name in each:
                outcome = None if name in fitting else each[name]
                if isinstance(outcome, Failed):
                    yield name, outcome.error

    @property
    def error(self) -> AllocationError | None:
        """What ends a scheduling attempt as a whole: an error that is not of one node."""
        return next((error for _, error in self.failures if not error.node_local), None)

    @property
    def explanations(self) -> tuple[Explanation, ...]:
        """Why the claims do not fit where they do not."""
        return tuple(each.explanation() for each in self.evaluations if len(each.fitting) < len(each))

    def on(self, node: str) -> Outcome | None:
        """Return the outcome on one node; None where there is nothing to allocate."""
        return next((each[node] for each in self.evaluations if node in each), None)


def evaluate(state: State, demands: Iterable[tuple[Sequence[Object], Sequence[str]]]) -> Tried:
    """Allocate claims on each of the nodes that are given with them."""
    evaluations: list[Evaluation] = []
    free: list[str] = []
    for objects, names in demands:
        if objects:
            evaluations.append(state.inventory.evaluate(objects, list(names), raises=False))
        else:
            free += names
    return Tried(tuple(evaluations), tuple(free))


def fitting_groups(tried: Tried, entries: Sequence[Entry]) -> Iterator[Group]:
    """Yield each of the first nodes that fit with the devices there, and the others together."""
    rest = []
    for number, name in enumerate(tried.fitting):
        outcome = tried.on(name) if number < _DETAILED else None
        if isinstance(outcome, Allocated):
            got = dict(zip(outcome.claims, map(claims.devices_of, outcome.allocations), strict=True))
            yield Group((name,), "fits", devices={one.name: got[one.key] for one in entries if one.key in got})
        else:
            rest.append(name)
    if rest:
        yield Group(tuple(rest), "fits")


def failure(error: AllocationError) -> Fact:
    """Return the error that ends the whole attempt as a fact."""
    return Fact(FAILED, f"the scheduling attempt ends with an error: {error}", {}, error.hint)
