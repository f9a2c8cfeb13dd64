"""Allocating claims on nodes to see what comes of it: where they fit, where not, and where it ends with an error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drayman.allocator import Allocated, Failed
from drayman.errors import AllocationError
from drayman.reasons import claims
from drayman.reasons.answer import Group
from drayman.reasons.facts import Fact

if TYPE_CHECKING:
    from drayman.explain import Explanation
    from drayman.inventory import Evaluation
    from drayman.reasons.claims import Entry
    from drayman.reasons.state import Object, State

_DETAILED = 8
"""For how many of the nodes on which claims fit their devices are told."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What allocating claims gives on some nodes; `error` ends the whole attempt."""

    evaluation: Evaluation
    error: AllocationError | None = None

    @property
    def fitting(self) -> Sequence[str]:
        """The nodes on which all claims fit."""
        return self.evaluation.fitting

    @property
    def failures(self) -> Iterator[tuple[str, AllocationError]]:
        """The nodes on which the allocation ends with an error."""
        fitting = frozenset(self.fitting)
        for name in self.evaluation:
            outcome = None if name in fitting else self.evaluation[name]
            if isinstance(outcome, Failed):
                yield name, outcome.error

    @property
    def explanation(self) -> Explanation | None:
        """Why the claims do not fit where they do not; None where that is nowhere."""
        return self.evaluation.explanation() if len(self.fitting) < len(self.evaluation) else None


def evaluate(state: State, objects: Sequence[Object], names: Sequence[str]) -> Tried:
    """Allocate claims on each of the nodes, as a scheduler does: an error that is not of one node ends the attempt."""
    tried = Tried(state.inventory.evaluate(objects, list(names), raises=False))
    errors = (error for _, error in tried.failures if not error.node_local)
    return Tried(tried.evaluation, next(errors, None))


def failure_groups(tried: Tried) -> Iterator[Group]:
    """Yield the nodes on which the allocation ends with an error of theirs alone, by error."""
    found: dict[str, list[str]] = {}
    for name, error in tried.failures:
        if error.node_local:
            found.setdefault(str(error), []).append(name)
    for message, failed in found.items():
        yield Group(tuple(failed), "failed", (Fact("allocation-failed", message),))


def fitting_groups(tried: Tried, entries: Sequence[Entry]) -> Iterator[Group]:
    """Yield each of the first nodes that fit with the devices there, and the others together."""
    for name in tried.fitting[:_DETAILED]:
        outcome = tried.evaluation[name]
        if isinstance(outcome, Allocated):
            got = dict(zip(outcome.claims, map(claims.devices_of, outcome.allocations), strict=True))
            yield Group((name,), "fits", devices={one.name: got[one.key] for one in entries if one.key in got})
    rest = tuple(tried.fitting[_DETAILED:])
    if rest:
        yield Group(rest, "fits")


def failure(error: AllocationError) -> Fact:
    """Return the error that ends the whole attempt as a fact."""
    return Fact("allocation-failed", f"the scheduling attempt ends with an error: {error}", {}, error.hint)
