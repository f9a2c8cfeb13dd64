"""Explanations: why claims cannot be allocated, as one line, as a tree and as JSON.

An explanation is made only when it is looked at, from what is known then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from drayman import _native

_NAMED_NODES = 3


class Explanation:
    """Why claims do not fit on one node, or on any of several; nodes for which the same holds are told together."""

    __slots__ = ("_groups", "_make")

    def __init__(self, make: Callable[[], Sequence[_native.Explanation]]) -> None:
        self._make = make
        self._groups: Sequence[_native.Explanation] | None = None

    def line(self) -> str:
        """Return one line of at most 300 bytes, about the nodes that lack the fewest devices."""
        groups = self._grouped()
        return min(groups, key=_missing).line() if groups else "there is no node"

    def tree(self) -> str:
        """Return a text of several lines for a terminal, with the devices that stand for each reason."""
        return "\n".join(_tree(group) for group in self._grouped()) or "there is no node"

    def json(self) -> dict[str, Any]:
        """Return the facts as JSON: `version` and `groups`, each with `nodes` and what holds for them."""
        return {"version": 1, "groups": [{"nodes": list(group.nodes), **_facts(group)} for group in self._grouped()]}

    def __repr__(self) -> str:
        return f"<Explanation: {self.line()}>"

    def _grouped(self) -> Sequence[_native.Explanation]:
        if self._groups is None:
            self._groups = self._make()
        return self._groups


def _facts(group: _native.Explanation) -> dict[str, Any]:
    return {name: value for name, value in group.json().items() if name not in {"version", "node"}}


def _missing(group: _native.Explanation) -> int:
    requests = group.json()["requests"]
    return sum(max((request["wanted"] or 1) - request["usable"], 0) for request in requests)


def _tree(group: _native.Explanation) -> str:
    tree = group.tree()
    if len(group.nodes) == 1:
        return tree
    named = ", ".join(f"`{node}`" for node in group.nodes[:_NAMED_NODES])
    more = ", …" if len(group.nodes) > _NAMED_NODES else ""
    _, _, rest = tree.partition("\n")
    return f"no allocation on {len(group.nodes)} nodes: {named}{more}\n{rest}"
