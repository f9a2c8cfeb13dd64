"""Random claims on random inventories get what upstream gives: the same devices in order, or the same error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hack.oracle.client import UpstreamPanicError, expectation
from hypothesis import assume, given, reject
from tests.conformance.allocation import Case, answer
from tests.property.strategies import cases
from tests.property.support import agree, comparison

if TYPE_CHECKING:
    from hack.oracle.client import Oracle

SEARCH_LIMIT = 1.0
"""Seconds after which a case is passed over: upstream's search is exponential."""


@comparison()
@given(case=cases())
def test_claims_get_what_upstream_gives(oracle: Oracle, case: Case) -> None:
    drayman, upstream = answer(case), upstreams(oracle, case)
    if drayman == upstream:
        return
    # Which of several capacities upstream complains about is decided by the random order of a map.
    assume(drayman not in [upstreams(oracle, case) for _ in range(8)])
    agree("allocator", case, drayman, upstream)


def upstreams(oracle: Oracle, case: Case) -> dict[str, Any]:
    try:
        reply = oracle.allocate({**case, "limit": SEARCH_LIMIT})
    except UpstreamPanicError:
        reject()
    assume(not reply.get("interrupted"))
    return expectation(reply)
