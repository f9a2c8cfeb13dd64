"""Upstream's statuses for what the kernel found on each node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from drayman.allocator import Failed
from drayman.framework import SUCCESS, Status, failed, unresolvable

if TYPE_CHECKING:
    from drayman.plugins.dynamic_resources.inventory import Evaluation

CANNOT_ALLOCATE = "cannot allocate all claims"
INVALID_POOLS = "invalid resource pools were encountered"


def statuses_of(evaluation: Evaluation, nodes: Sequence[str]) -> list[Status]:
    """Return the status of each of `nodes`.

    An error on one node refuses that node; only where no node fits does it end the attempt, as in upstream, where it
    does so in any case.
    """
    fitting = frozenset(evaluation.fitting)
    return [SUCCESS if node in fitting else _refusal(evaluation, node, final=not fitting) for node in nodes]


def _refusal(evaluation: Evaluation, node: str, *, final: bool) -> Status:
    outcome = evaluation[node]
    if not isinstance(outcome, Failed):
        return unresolvable(CANNOT_ALLOCATE)
    if outcome.error.node_local:
        return unresolvable(INVALID_POOLS)
    return failed(str(outcome.error)) if final else unresolvable(str(outcome.error))
