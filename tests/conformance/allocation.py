"""Runs a case through the wheel: `drayman.Allocator` with what the case says, its answer in the shape of `expect`."""

from __future__ import annotations

from typing import Any

from hack.oracle.client import mask_share_ids

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
        return described(allocator.allocate(node=case["node"], claims=case["claims"]))
    except drayman.AllocationError as error:
        return failure(error)


def described(outcome: drayman.Outcome) -> dict[str, Any]:
    """Return an outcome in the shape of `expect`."""
    if isinstance(outcome, drayman.Failed):
        return failure(outcome.error)
    if isinstance(outcome, drayman.Unallocatable):
        return {"results": None}
    return {"results": [mask_share_ids(allocation) for allocation in outcome.allocations]}


def failure(error: drayman.AllocationError) -> dict[str, Any]:
    return {"error": {"message": str(error), "nodeLocal": error.node_local}}
