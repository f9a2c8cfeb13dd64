"""What the plugin keeps during one attempt at one pod."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from drayman.framework import Object, StateKey
from drayman.plugins.dynamic_resources.claims import allocation_of

if TYPE_CHECKING:
    from drayman.plugins.dynamic_resources.inventory import Evaluation


@dataclass(slots=True)
class ClaimState:
    """`claims` are the pod's, in order, and are replaced by newer versions as they are written.

    `to_allocate` are the positions of those that had no allocation; `evaluation` what allocating them gives on each
    node; `unavailable` the positions of those whose allocation cannot be used on some node; `chosen` what Reserve took
    for each position; `reserved` the positions that this attempt has reserved on the server.
    """

    claims: list[Object]
    to_allocate: tuple[int, ...] = ()
    evaluation: Evaluation | None = None
    unavailable: set[int] = field(default_factory=set)
    chosen: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    reserved: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, claims: list[Object]) -> ClaimState:
        """Return the state at the start of an attempt."""
        return cls(claims, tuple(index for index, claim in enumerate(claims) if allocation_of(claim) is None))


STATE: StateKey[ClaimState] = StateKey("DynamicResources")
