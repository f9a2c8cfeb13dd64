"""Random cases are worth comparing: every kind of hard case occurs, and every feature decides some of them."""

from __future__ import annotations

import copy
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hack.oracle.client import UpstreamPanicError
from hypothesis import HealthCheck, Phase, given, seed, settings
from tests.property.strategies import FEATURES, cases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hack.oracle.client import Oracle
    from tests.property.inventories import Object

SAMPLES = 1500
SEED = 20260101
SEARCH_LIMIT = 0.2
"""Seconds after which a search counts as one without result."""

LEAST = {
    "fits": 400,
    "fits after going back": 50,
    "does not fit": 400,
    "does not fit by one device": 50,
    "mode All fails": 30,
    "pool invalid": 20,
    "limit of a claim": 3,
    "feature off": 20,
    "class missing": 5,
    "selector does not compile": 5,
    "selector fails on a device": 20,
    "configuration": 50,
    "node selector of labels": 5,
    "alternative after the first": 5,
    "share of a device": 30,
    **{f"decided by {feature}": 3 for feature in FEATURES},
}
"""How often a kind of case has to occur among the samples."""

ERRORS = {
    "asks for all devices": "mode All fails",
    "because a claim constraint would not be satisfied": "mode All fails",
    "invalid resource pools": "pool invalid",
    "exceeds the claim limit": "limit of a claim",
    "feature is disabled": "feature off",
    "could not retrieve device class": "class missing",
    "CEL compile error": "selector does not compile",
    "CEL runtime error": "selector fails on a device",
}


@pytest.mark.oracle
def test_hard_cases_occur(oracle: Oracle) -> None:
    seen: Counter[str] = Counter()
    for case in samples():
        seen.update(set(kinds(oracle, case)))
    assert {kind: seen[kind] for kind, least in LEAST.items() if seen[kind] < least} == {}


def samples() -> list[Object]:
    drawn = []

    @seed(SEED)
    @settings(
        max_examples=SAMPLES,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases())
    def draw(case: Object) -> None:
        drawn.append(case)

    draw()
    return drawn


def kinds(oracle: Oracle, case: Object) -> Iterator[str]:
    """Yield what is notable about a case and upstream's answer."""
    answer = ask(oracle, case)
    if "error" in answer:
        yield from (kind for text, kind in ERRORS.items() if text in answer["error"]["message"])
    elif answer["results"] is not None:
        yield from kinds_of_results(case, answer)
    else:
        yield "does not fit"
        if any(ask(oracle, smaller)["results"] is not None for smaller in one_device_less(case)):
            yield "does not fit by one device"
    for feature in case["features"]:
        without = ask(oracle, {**case, "features": [other for other in case["features"] if other != feature]})
        if (without["results"], without.get("error")) != (answer["results"], answer.get("error")):
            yield f"decided by {feature}"


def kinds_of_results(case: Object, answer: dict[str, Any]) -> Iterator[str]:
    yield "fits"
    requests = sum(len(claim["spec"]["devices"]["requests"]) for claim in case["claims"])
    results = [result for allocation in answer["results"] for result in allocation["devices"].get("results", ())]
    if answer["steps"] > len(results) + requests + len(case["claims"]) + 1:
        yield "fits after going back"
    if any("config" in allocation["devices"] for allocation in answer["results"]):
        yield "configuration"
    if any("matchExpressions" in term for allocation in answer["results"] for term in terms(allocation)):
        yield "node selector of labels"
    if any(result["request"].partition("/")[2] not in ("", "s0") for result in results):
        yield "alternative after the first"
    if any("shareID" in result for result in results):
        yield "share of a device"


def terms(allocation: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = allocation.get("nodeSelector", {}).get("nodeSelectorTerms", [])
    return found


def one_device_less(case: Object) -> Iterator[Object]:
    """Yield the case with one device less in one of its requests."""
    smaller = copy.deepcopy(case)
    for claim in smaller["claims"]:
        requests = claim["spec"]["devices"]["requests"]
        for index, request in enumerate(requests):
            exactly = request.get("exactly", {})
            if exactly.get("count", 0) > 1:
                exactly["count"] -= 1
                yield smaller
                exactly["count"] += 1
            elif exactly.get("count") == 1:
                claim["spec"]["devices"]["requests"] = requests[:index] + requests[index + 1 :]
                yield smaller
                claim["spec"]["devices"]["requests"] = requests


def ask(oracle: Oracle, case: Object) -> dict[str, Any]:
    """Return upstream's answer; a search that takes too long, or a panic, counts as one that does not fit."""
    try:
        return oracle.allocate({**case, "limit": SEARCH_LIMIT})
    except UpstreamPanicError:
        return {"results": None}
