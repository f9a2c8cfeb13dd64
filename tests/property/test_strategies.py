"""Random cases are worth comparing: every kind of hard case occurs, and every feature decides some of them."""

from __future__ import annotations

import copy
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hack.oracle.client import UpstreamPanicError
from hypothesis import HealthCheck, Phase, given, seed, settings
from tests.property.strategies import FEATURES, cases, devices_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hack.oracle.client import Oracle
    from tests.property.inventories import Object

SAMPLES = 2500
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
    "several claims fit": 30,
    "mode All fits": 10,
    "admin access to a device in use": 3,
    "binding conditions": 5,
    "partitions fit": 30,
    "partition gives counters": 20,
    "pool incomplete": 30,
    "decided by a constraint": 30,
    "decided by what is allocated": 30,
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
    if any(is_incomplete(pool) for pool in pools_of(case["slices"])):
        yield "pool incomplete"
    for what, other in variants(case):
        without = ask(oracle, other)
        if (without["results"], without.get("error")) != (answer["results"], answer.get("error")):
            yield f"decided by {what}"


def variants(case: Object) -> Iterator[tuple[str, Object]]:
    """Yield what may decide a case, with the case as it is without."""
    for feature in case["features"]:
        yield feature, {**case, "features": [other for other in case["features"] if other != feature]}
    yield "what is allocated", {**case, "allocated": {}}
    free = copy.deepcopy(case)
    for claim in free["claims"]:
        claim["spec"]["devices"].pop("constraints", None)
    yield "a constraint", free


def pools_of(slices: list[Object]) -> list[list[Object]]:
    """Return the pools of the slices, of each those of its newest generation."""
    pools: dict[tuple[str, str], list[Object]] = {}
    for slice_ in slices:
        pools.setdefault((slice_["spec"]["driver"], slice_["spec"]["pool"]["name"]), []).append(slice_["spec"]["pool"])
    newest = [max(pool["generation"] for pool in pools_) for pools_ in pools.values()]
    return [
        [pool for pool in pools_ if pool["generation"] == generation]
        for pools_, generation in zip(pools.values(), newest, strict=True)
    ]


def is_incomplete(pool: list[Object]) -> bool:
    return any(part["resourceSliceCount"] != len(pool) for part in pool)


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
    if len([allocation for allocation in answer["results"] if allocation["devices"].get("results")]) > 1:
        yield "several claims fit"
    if results and any('"allocationMode": "All"' in json.dumps(claim) for claim in case["claims"]):
        yield "mode All fits"
    if any("bindingConditions" in result for result in results):
        yield "binding conditions"
    names = ["{driver}/{pool}/{device}".format(**result) for result in results if result.get("adminAccess")]
    if set(names) & set(case["allocated"].get("devices", ())):
        yield "admin access to a device in use"
    partitions = {name for name, device in devices_of(case["slices"]) if device.get("consumesCounters")}
    if any("{driver}/{pool}/{device}".format(**result) in partitions for result in results):
        yield "partitions fit"
        if '"-1"' in json.dumps(case["slices"]):
            yield "partition gives counters"


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
