"""Allocating one group of claims after the other, each on nodes where the claims that it has already can be used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman import node_selector
from drayman.allocator import Allocated, Unallocatable
from drayman.testing import state

if TYPE_CHECKING:
    from drayman.cli.claims import Group, Plan
    from drayman.cluster import Cluster
    from drayman.errors import InputError

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a group gets: one allocation for each of `claims`, on `node`.

    Otherwise `refusal` says why no node could be tried, `outcome` why none fits, or `error` what ends the scheduling
    attempt. `was_there` marks allocations that the files have.
    """

    group: Group
    claims: tuple[str, ...]
    node: str | None = None
    allocations: Sequence[Object] = ()
    outcome: Unallocatable | None = None
    refusal: str | None = None
    error: InputError | None = None
    was_there: bool = False

    @property
    def fits(self) -> bool:
        """Whether the claims have devices."""
        return self.outcome is None and self.refusal is None and self.error is None


class Placer:
    """Allocates groups in their order; each sees the ones before."""

    def __init__(self, cluster: Cluster, plan: Plan, nodes: Mapping[str, Object]) -> None:
        self._cluster = cluster
        self._nodes = nodes
        self._allocations = {key: claim.allocation for key, claim in plan.claims.items() if claim.allocation}

    def waiting(self, group: Group) -> tuple[str, ...]:
        """Return the claims of the group that are not allocated yet."""
        return tuple(key for key in group.claims if key not in self._allocations)

    def place(self, group: Group, node: str | None = None) -> Answer:
        """Allocate what waits in `group`: on `node` if given, else where its pod is, else on the first node that fits.

        Raises :class:`drayman.AllocationError` and :class:`drayman.InputError` as :meth:`drayman.Cluster.allocate`.
        """
        waiting = self.waiting(group)
        candidates = self._candidates(group, node or group.node)
        if not candidates and (refusal := self._refusal(group, node)):
            return Answer(group, waiting, refusal=refusal)
        outcome = self._cluster.allocate(waiting, node=candidates[0] if len(candidates) == 1 else candidates)
        if not isinstance(outcome, Allocated):
            return Answer(group, waiting, outcome=outcome)
        self._cluster = self._cluster.with_allocation(outcome)
        self._allocations |= zip(waiting, outcome.allocations, strict=True)
        return Answer(group, waiting, outcome.node, outcome.allocations)

    def known(self, group: Group) -> Answer:
        """Return what the claims of the group have already."""
        allocated = [self._allocations[key] for key in group.claims]
        names = [node_selector.names_in_fields(one["nodeSelector"]) for one in allocated if one.get("nodeSelector")]
        node = next((name for found in names if found and len(found) == 1 for name in found), None)
        return Answer(group, group.claims, node, allocated, was_there=True)

    def _selectors(self, group: Group) -> dict[str, Object]:
        """Return where the allocated claims of the group can be used, by claim."""
        allocated = {key: self._allocations[key] for key in group.claims if key in self._allocations}
        return {key: one["nodeSelector"] for key, one in allocated.items() if one.get("nodeSelector")}

    def _candidates(self, group: Group, node: str | None) -> list[str]:
        selectors = self._selectors(group).values()
        names = {node} if node else set(self._cluster.nodes)
        if not node and not self._nodes:  # without Node objects, a node is there when anything speaks of it
            names |= {name for one in selectors for name in node_selector.names_in_fields(one) or ()}
        return sorted(name for name in names if all(node_selector.matches(one, self._node(name)) for one in selectors))

    def _node(self, name: str) -> Object:
        return self._nodes.get(name) or {"metadata": {"name": name}}

    def _refusal(self, group: Group, node: str | None) -> str | None:
        """Say what leaves no node; None when there is none anyway."""
        reasons = [
            f"claim `{key}` is allocated where {_selector_text(self._allocations[key])}"
            for key in self._selectors(group)
        ]
        if not reasons:
            return None
        if node:
            reasons.append(f"node `{node}` is asked for")
        elif group.node:
            reasons.append(f"the pod is on node `{group.node}`")
        return f"no node can be tried: {', '.join(reasons)}"


def _selector_text(allocation: Object) -> str:
    return str(state.allocation_view({"status": {"allocation": allocation}})["nodeSelector"])
