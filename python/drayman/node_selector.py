"""Node selectors: which nodes a pod, or an allocated claim, may use.

Semantics of `k8s.io/component-helpers/scheduling/corev1/nodeaffinity`: terms are alternatives, the requirements of a
term all have to hold, a term without requirements matches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def matches(selector: Mapping[str, Any], node: Mapping[str, Any]) -> bool:
    """Tell whether `node` is selected by a v1.NodeSelector."""
    return any(matches_term(term, node) for term in selector.get("nodeSelectorTerms") or ())


def matches_term(term: Mapping[str, Any], node: Mapping[str, Any]) -> bool:
    """Tell whether one term of a node selector holds for `node`."""
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    metadata = node["metadata"]
    return _all(expressions, metadata.get("labels") or {}) and _all(fields, {"metadata.name": metadata["name"]})


def names_in_fields(selector: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the only node names that `selector` can match, as far as its `matchFields` tell; None when they do not."""
    names: set[str] = set()
    for term in selector.get("nodeSelectorTerms") or ():
        in_term: set[str] | None = None
        for requirement in term.get("matchFields") or ():
            if requirement.get("key") == "metadata.name" and requirement.get("operator") == "In":
                values = set(requirement.get("values") or ())
                in_term = values if in_term is None else in_term & values
        if in_term is None:
            return None
        names |= in_term
    return frozenset(names)


def _all(requirements: Iterable[Mapping[str, Any]], values: Mapping[str, str]) -> bool:
    return all(holds(requirement, values) for requirement in requirements)


def holds(requirement: Mapping[str, Any], values: Mapping[str, str]) -> bool:
    """Tell whether one requirement (`key`, `operator`, `values`) of a node or label selector holds for labels."""
    key, wanted = requirement["key"], requirement.get("values") or ()
    match requirement["operator"]:
        case "In":
            return key in values and values[key] in wanted
        case "NotIn":
            return values.get(key) not in wanted
        case "Exists":
            return key in values
        case "DoesNotExist":
            return key not in values
        case "Gt" | "Lt" as operator:
            return key in values and _compare(operator, values[key], wanted)
        case _:
            return False  # an operator of a newer API: fails closed


def _compare(operator: str, value: str, wanted: Iterable[str]) -> bool:
    try:
        left, (right,) = int(value), (int(bound) for bound in wanted)
    except ValueError:
        return False
    return left > right if operator == "Gt" else left < right


def describe(selector: Mapping[str, Any]) -> str:
    """Return a node selector as text: requirements of a term joined by "and", terms by "or"."""
    return " or ".join(
        " and ".join(
            _requirement(one) for one in (*(term.get("matchFields") or ()), *(term.get("matchExpressions") or ()))
        )
        for term in selector.get("nodeSelectorTerms") or ()
    )


def _requirement(one: Mapping[str, Any]) -> str:
    values = ", ".join(str(value) for value in one.get("values") or ())
    key, operator = one.get("key", ""), one.get("operator", "")
    match operator:
        case "In" if len(one.get("values") or ()) == 1:
            return f"`{key}` is `{values}`"
        case "In":
            return f"`{key}` is one of {values}"
        case "Exists":
            return f"`{key}` is set"
        case "DoesNotExist":
            return f"`{key}` is not set"
        case "NotIn":
            return f"`{key}` is none of {values}"
        case "Gt" | "Lt":
            return f"`{key}` is {'greater' if operator == 'Gt' else 'less'} than {values}"
        case _:
            return f"`{key}` {operator} {values}"
