"""Prioritized lists: a node where an earlier alternative was taken is better."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from drayman.framework import Object
from drayman.plugins.dynamic_resources.claims import alternative_index, results_of

FIRST_AVAILABLE_LIMIT = 8
"""How many alternatives a request can have (`FirstAvailableDeviceRequestMaxSize`)."""


def score(claims: Iterable[tuple[Object, Mapping[str, Any]]]) -> int:
    """Return the sum, over the requests with alternatives, of 8 for the first, 7 for the second, and so on.

    `claims` are claims with their allocations. A request counts once, however many devices it got.
    """
    total = 0
    for claim, allocation in claims:
        requests = {result["request"] for result in results_of(allocation)}
        for request in sorted(requests):
            position = alternative_index(claim, request)
            if position is not None:
                total += FIRST_AVAILABLE_LIMIT - position
    return total
