"""Node selectors (`core/v1 NodeSelector`): does a node match?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def matches(selector: Mapping[str, Any], node: Mapping[str, Any]) -> bool:
    """Tell whether any term of `selector` matches `node`; a term without requirements matches nothing."""
    return any(_term_matches(term, node) for term in selector.get("nodeSelectorTerms", ()))


def _term_matches(term: Mapping[str, Any], node: Mapping[str, Any]) -> bool:
    labels = node["metadata"].get("labels", {})
    fields = {"metadata.name": node["metadata"]["name"]}
    expressions, by_field = term.get("matchExpressions", ()), term.get("matchFields", ())
    if not expressions and not by_field:
        return False
    return all(_holds(entry, labels) for entry in expressions) and all(_holds(entry, fields) for entry in by_field)


def _holds(requirement: Mapping[str, Any], values: Mapping[str, str]) -> bool:
    value = values.get(requirement["key"])
    wanted: Sequence[str] = requirement.get("values", ())
    match requirement["operator"]:
        case "In":
            return value in wanted
        case "NotIn":
            return value not in wanted
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt" as operator:
            try:
                left, right = int(value or ""), int(wanted[0])
            except (ValueError, IndexError):
                return False
            return left > right if operator == "Gt" else left < right
    return False
