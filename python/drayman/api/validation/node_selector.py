"""Rules about selectors of nodes: in slices, in allocations, and in the affinity of pods.

Source: `pkg/apis/core/validation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drayman.api.field import Path, forbidden, invalid, required
from drayman.api.validation import names
from drayman.api.validation.rules import Errors, each, matching


def node_selector(path: Path, selector: Mapping[str, Any]) -> Errors:
    """A selector has terms, and each is well formed."""
    terms = path.child("nodeSelectorTerms")
    if not selector.get("nodeSelectorTerms"):
        yield required(terms, "must have at least one node selector term")
    else:
        yield from each(terms, selector["nodeSelectorTerms"], node_selector_term)


def node_selector_term(path: Path, term: Mapping[str, Any]) -> Errors:
    """A term's requirements on labels and on fields."""
    yield from each(path.child("matchExpressions"), term.get("matchExpressions"), _label_requirement)
    yield from each(path.child("matchFields"), term.get("matchFields"), _field_requirement)


def preferred_term(path: Path, term: Mapping[str, Any]) -> Errors:
    """A term that is only preferred: values that no label can have are accepted."""
    yield from each(path.child("matchExpressions"), term.get("matchExpressions"), _operator_and_key)
    yield from each(path.child("matchFields"), term.get("matchFields"), _field_requirement)


def _label_requirement(path: Path, requirement: Mapping[str, Any]) -> Errors:
    yield from _operator_and_key(path, requirement)
    for index, value in enumerate(requirement.get("values") or ()):
        yield from matching(path.child("values").index(index), value, names.label_value)


def _operator_and_key(path: Path, requirement: Mapping[str, Any]) -> Errors:
    values, operator = requirement.get("values") or [], requirement.get("operator", "")
    if operator in {"In", "NotIn"}:
        if not values:
            yield required(path.child("values"), "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            yield forbidden(path.child("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    elif operator in {"Gt", "Lt"}:
        if len(values) != 1:
            yield required(path.child("values"), "must be specified single value when `operator` is 'Lt' or 'Gt'")
    else:
        yield invalid(path.child("operator"), operator, "not a valid selector operator")
    yield from matching(path.child("key"), requirement.get("key", ""), names.label_key)


def _field_requirement(path: Path, requirement: Mapping[str, Any]) -> Errors:
    values, operator = requirement.get("values") or [], requirement.get("operator", "")
    if operator not in {"In", "NotIn"}:
        yield invalid(path.child("operator"), operator, "not a valid selector operator")
    elif len(values) != 1:
        text = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield required(path.child("values"), text)
    if requirement.get("key") != "metadata.name":
        yield invalid(path.child("key"), requirement.get("key", ""), "not a valid field selector key")
        return
    for index, value in enumerate(values):
        yield from matching(path.child("values").index(index), value, names.dns_subdomain)
