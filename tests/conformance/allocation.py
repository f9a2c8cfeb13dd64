"""Runs a case through the wheel: `drayman.Allocator` with what the case says, its answer in the shape of `expect`."""

from __future__ import annotations

from typing import Any

import drayman

Case = dict[str, Any]


def answer(case: Case) -> dict[str, Any]:
    """Return `results` (null: the claims do not fit) or `error`, with share IDs masked."""
    state = case.get("allocated", {})
    allocator = drayman.Allocator(
        slices=case["slices"],
        classes=case["classes"],
        features=case["features"],
        allocated=drayman.AllocatedState(
            devices=state.get("devices", []),
            shared=["{driver}/{pool}/{device}/{shareID}".format(**share) for share in state.get("shared", [])],
            consumed_capacity=state.get("consumedCapacity", {}),
        ),
    )
    try:
        outcome = allocator.allocate(node=case["node"], claims=case["claims"])
    except drayman.AllocationError as error:
        return {"error": {"message": str(error), "nodeLocal": error.node_local}}
    if isinstance(outcome, drayman.Unallocatable):
        return {"results": None}
    return {"results": [without_share_ids(allocation) for allocation in outcome.allocations]}


def without_share_ids(allocation: dict[str, Any]) -> dict[str, Any]:
    """Mask the share IDs, which upstream draws at random."""
    for result in allocation["devices"].get("results", ()):
        if "shareID" in result:
            result["shareID"] = "<share-id>"
    return allocation
