"""Upstream's statuses for what the kernel found on each node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from drayman.allocator import Failed
from drayman.framework import SUCCESS, Status, failed, unresolvable

if TYPE_CHECKING:
    from drayman.plugins.dynamic_resources.inventory import Evaluation

CANNOT_ALLOCATE = "cannot allocate all claims"


def statuses_of(evaluation: Evaluation, nodes: Sequence[str]) -> list[Status]:
    """Return the status of each of `nodes`.

    An error that is not of one node alone ends the attempt, wherever it arises, as in upstream: a selector that fails
    on some device asks for something that nobody can answer.
    """
    fitting = frozenset(evaluation.fitting)
    statuses = []
    for node in nodes:
        if node in fitting:
            statuses.append(SUCCESS)
            continue
        outcome = evaluation[node]
        if isinstance(outcome, Failed) and not outcome.error.node_local:
            return [failed(str(outcome.error))] * len(nodes)
        statuses.append(unresolvable(str(outcome.error) if isinstance(outcome, Failed) else CANNOT_ALLOCATE))
    return statuses
