"""Node selectors."""

from __future__ import annotations

from typing import Any

import pytest

from drayman import node_selector

NODE = {"metadata": {"name": "n1", "labels": {"zone": "a", "size": "8"}}}


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (expression("zone", "In", "a", "b"), True),
        (expression("zone", "In", "b"), False),
        (expression("zone", "NotIn", "b"), True),
        (expression("missing", "NotIn", "b"), True),
        (expression("zone", "Exists"), True),
        (expression("zone", "DoesNotExist"), False),
        (expression("size", "Gt", "7"), True),
        (expression("size", "Lt", "8"), False),
        (expression("zone", "Gt", "1"), False),
        (expression("zone", "Resembles", "a"), False),
        ({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}, True),
        ({}, False),
    ],
)
def test_term(term: dict[str, Any], expected: bool) -> None:
    assert node_selector.matches_term(term, NODE) is expected


def test_terms_are_alternatives() -> None:
    assert node_selector.matches(
        {"nodeSelectorTerms": [expression("zone", "In", "b"), expression("size", "Exists")]}, NODE
    )
    assert not node_selector.matches({"nodeSelectorTerms": []}, NODE)


def test_names_are_known_only_when_every_term_names_nodes() -> None:
    named = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1", "n2"]}]}
    assert node_selector.names_in_fields({"nodeSelectorTerms": [named]}) == {"n1", "n2"}
    assert node_selector.names_in_fields({"nodeSelectorTerms": [named, expression("zone", "Exists")]}) is None


def test_selector_is_described_in_words() -> None:
    terms = [
        {
            "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}],
            "matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}],
        },
        {"matchExpressions": [{"key": "gpu", "operator": "Exists"}, {"key": "old", "operator": "DoesNotExist"}]},
        {"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["c"]}]},
        {"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["4"]}]},
    ]
    assert node_selector.describe({"nodeSelectorTerms": terms}) == (
        "`metadata.name` is `n1` and `zone` is one of a, b or `gpu` is set and `old` is not set or "
        "`zone` is none of c or `cores` is greater than 4"
    )
