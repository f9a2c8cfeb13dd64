"""DynamicResources: allocates the ResourceClaims of pods, and reserves them before the pod is bound.

Follows upstream's plugin of the same name (`pkg/scheduler/framework/plugins/dynamicresources`) in what it does at which
extension point, in the order of its writes and in its texts. What it adds: one call of the kernel for all nodes, the
confirmation of allocations (:mod:`~drayman.plugins.dynamic_resources.tracker`), and an explanation of refusals.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from drayman import node_selector
from drayman.errors import AllocationError
from drayman.framework import (
    SKIP,
    SUCCESS,
    CycleState,
    Handle,
    NodeInfo,
    Notice,
    Object,
    PreFilterResult,
    Registration,
    Status,
    failed,
    unresolvable,
    unschedulable,
)
from drayman.plugins.dynamic_resources import hints, scoring
from drayman.plugins.dynamic_resources.arguments import Arguments
from drayman.plugins.dynamic_resources.binding_conditions import BindingConditions, DeviceBindingError
from drayman.plugins.dynamic_resources.claims import (
    RESERVED_FOR_LIMIT,
    allocation_of,
    has_alternatives,
    is_reserved_for_others,
    reserved_for,
    usable_on,
)
from drayman.plugins.dynamic_resources.manager import ClaimMissingError, shared_manager
from drayman.plugins.dynamic_resources.outcomes import statuses_of
from drayman.plugins.dynamic_resources.state import STATE, ClaimState
from drayman.plugins.dynamic_resources.validation import check_requests
from drayman.plugins.dynamic_resources.writes import ClaimWriteError, ClaimWriter
from drayman.plugins.scores import normalized
from drayman.pods.objects import key_of, uid_of
from drayman.resourceclaim import ClaimNotCreatedError, ClaimReferenceError, is_reserved_for

if TYPE_CHECKING:
    from drayman.plugins.dynamic_resources.inventory import Inventory
    from drayman.plugins.dynamic_resources.tracker import Clash, InFlight

log = logging.getLogger(__name__)

UNAVAILABLE = "resourceclaim not available on the node"
NOT_FOUND_REASON = "ResourceClaimNotFound"
"""Reason of the condition of a pod whose claim is missing; not `Unschedulable`, on which autoscalers act."""

NAMED_DELAY = 1.0
"""Seconds for which a claim that a pod names may be missing: the watch of claims may lag behind that of pods."""

TEMPLATE_DELAY = 10.0
"""Seconds that the claim of a template may take to appear before it counts as missing."""

CONFIRM_SECONDS = 60.0
"""How long a written allocation may take to come back on the watch of claims."""


class DynamicResources:
    """One for each profile; what they share is in the manager."""

    name = "DynamicResources"

    def __init__(self, arguments: Mapping[str, Any], handle: Handle) -> None:
        self._handle = handle
        self._settings = handle.settings
        self._manager = shared_manager(handle, self.make_inventory)
        self._tracker = self._manager.tracker
        self._writer = ClaimWriter(handle, self._tracker)
        self._conditions = BindingConditions(handle, self._tracker, Arguments.of(arguments).binding_timeout)

    def make_inventory(self) -> Inventory:
        """Return the inventory of a new scheduler."""
        from drayman.inventory import Inventory

        return Inventory(features=self._settings.features, compatibility=self._settings.compatibility)

    def pre_enqueue(self, pod: Object) -> Status:
        """Hold the pod back until all its claims exist."""
        try:
            self._manager.claims_of(pod)
        except ClaimReferenceError as error:
            return unresolvable(str(error), notice=self._notice(error))
        return SUCCESS

    def events_to_register(self) -> Sequence[Registration]:
        """Wait for claims, devices, classes and nodes."""
        return hints.registrations(self._manager)

    def pre_filter(self, state: CycleState, pod: Object) -> tuple[Status, PreFilterResult | None]:
        """Check the claims themselves: found, not being allocated, of kinds and classes that exist."""
        try:
            claims = self._manager.claims_of(pod)
        except ClaimReferenceError as error:
            return unresolvable(str(error)), None
        if not claims:
            return SKIP, None
        state.write(STATE, ClaimState.of(claims))
        for claim in claims:
            status = self._check_claim(claim, pod)
            if not status.is_success:
                return status, None
        return SUCCESS, None

    def filter_nodes(self, state: CycleState, _pod: Object, nodes: Sequence[NodeInfo]) -> Sequence[Status]:
        """Allocate what has no allocation, on all nodes at once; refuse nodes out of reach of what has one."""
        current = _state(state)
        statuses = [SUCCESS] * len(nodes)
        if current.to_allocate:
            claims = [current.claims[index] for index in current.to_allocate]
            names = [node.name for node in nodes]
            try:
                current.evaluation = self._manager.inventory.evaluate(claims, names)
            except AllocationError as error:
                return [failed(str(error))] * len(nodes)
            statuses = statuses_of(current.evaluation, names)
        if len(current.to_allocate) == len(current.claims):
            return statuses
        return [self._check_reach(current, node, status) for node, status in zip(nodes, statuses, strict=True)]

    async def post_filter(self, state: CycleState, pod: Object, _statuses: Mapping[str, Status]) -> Status:
        """Free one claim whose allocation cannot be used, if nobody but `pod` has it reserved."""
        current = state.read(STATE)
        blocking = [] if current is None else [current.claims[index] for index in sorted(current.unavailable)]
        if self._handle.random is not None:
            self._handle.random.shuffle(blocking)
        for claim in blocking:
            if is_reserved_for_others(claim, pod):
                continue
            try:
                if await self._writer.deallocate(claim, pod) is not None:
                    return unschedulable("deallocation of ResourceClaim completed")
            except ClaimWriteError as error:
                return failed(str(error))
        return unschedulable()

    def pre_score(self, state: CycleState, _pod: Object, _nodes: Sequence[NodeInfo]) -> Status:
        """Leave Score out when no claim has alternatives: all nodes would score nothing."""
        current = state.read(STATE)
        return SUCCESS if current and any(map(has_alternatives, current.claims)) else SKIP

    def score(self, state: CycleState, _pod: Object, node: NodeInfo) -> int:
        """Prefer nodes where earlier alternatives were taken."""
        current = state.read(STATE)
        if current is None:
            return 0
        allocations = dict(zip(current.to_allocate, _allocations(current, node.name), strict=True))
        known = ((claim, allocations.get(index) or allocation_of(claim)) for index, claim in enumerate(current.claims))
        return scoring.score((claim, allocation) for claim, allocation in known if allocation is not None)

    def normalize_score(self, _state: CycleState, _pod: Object, scores: Sequence[int]) -> Sequence[int]:
        """Let more be better."""
        return normalized(scores)

    def reserve(self, state: CycleState, pod: Object, node_name: str) -> Status:
        """Count the allocations of the chosen node as held."""
        current = state.read(STATE)
        if current is None or not current.to_allocate:
            return SUCCESS
        current.chosen = dict(zip(current.to_allocate, _allocations(current, node_name), strict=True))
        for index, allocation in current.chosen.items():
            self._tracker.start(current.claims[index], allocation, pod)
        return SUCCESS

    async def unreserve(self, state: CycleState, pod: Object, _node_name: str) -> None:
        """Give up what this attempt reserved, in memory and on the server; allocations that are written stay."""
        current = state.read(STATE)
        if current is None:
            return
        for index in current.chosen:
            self._tracker.abandon(current.claims[index])
        for index in sorted(current.reserved):
            claim = current.claims[index]
            newest = self._tracker.get(key_of(claim))
            if newest is None or uid_of(newest) != uid_of(claim) or not is_reserved_for(pod, newest):
                continue
            try:
                await self._writer.unreserve(newest, pod)
            except ClaimWriteError as error:
                log.warning("claim %s stays reserved for pod %s: %s", key_of(claim), key_of(pod), error)

    async def pre_bind(self, state: CycleState, pod: Object, node_name: str) -> Status:
        """Write the claims one after the other, then wait until they are confirmed and their devices are ready."""
        current = state.read(STATE)
        if current is None:
            return SUCCESS
        entries = [self._tracker.in_flight(claim) for claim in current.claims]
        try:
            for index, claim in enumerate(current.claims):
                if not is_reserved_for(pod, claim):
                    if index not in current.chosen:
                        await self._check_order(claim, pod)
                    current.claims[index] = await self._writer.bind(claim, pod, current.chosen.get(index))
                    current.reserved.add(index)
            for claim, entry in zip(current.claims, entries, strict=True):
                await self._confirm(claim, pod, entry)
            await self._conditions.wait(current.claims, pod, node_name)
        except (ClaimWriteError, DeviceBindingError) as error:
            return failed(str(error))
        return SUCCESS

    def explain(self, state: CycleState, _pod: Object) -> str:
        """Say why the claims do not fit on the nodes that are nearest to it."""
        current = state.read(STATE)
        if not self._settings.explains or current is None:
            return ""
        if current.unavailable:  # noted where all else fits: nothing is nearer to fitting
            return self._unavailable_line(current.claims[min(current.unavailable)])
        return current.evaluation.explanation().line() if current.evaluation is not None else ""

    def _unavailable_line(self, claim: Object) -> str:
        if self._conditions.block(claim):
            return f"the devices of claim `{key_of(claim)}` did not become ready"
        selector = (allocation_of(claim) or {}).get("nodeSelector") or {}
        return f"claim `{key_of(claim)}` is allocated already, for nodes where {node_selector.describe(selector)}"

    def _notice(self, error: ClaimReferenceError) -> Notice | None:
        """Return what to tell about a claim that is missing; nothing under `1.37`, as upstream."""
        if not self._settings.fixed:
            return None
        if isinstance(error, ClaimNotCreatedError):
            return Notice(NOT_FOUND_REASON, TEMPLATE_DELAY)
        return Notice(NOT_FOUND_REASON, NAMED_DELAY) if isinstance(error, ClaimMissingError) else None

    def _check_claim(self, claim: Object, pod: Object) -> Status:
        entry = self._tracker.in_flight(claim)
        if entry is not None and entry.pod_uid != uid_of(pod):
            return unresolvable(f"resource claim {key_of(claim)} is in the process of being allocated")
        if allocation_of(claim) is None:
            return check_requests(claim, self._manager.classes, self._settings.features)
        full = len(reserved_for(claim)) >= RESERVED_FOR_LIMIT and not is_reserved_for(pod, claim)
        if full and self._settings.fixed:
            # Upstream finds out only when the API server refuses the write, and then tries for ever.
            limit = f"at most {RESERVED_FOR_LIMIT} pods can share a claim"
            return unresolvable(f"resource claim {key_of(claim)} is in use: {limit}")
        return SUCCESS

    def _check_reach(self, current: ClaimState, node: NodeInfo, status: Status) -> Status:
        """Refuse `node` for allocated claims that cannot be used there; they are noted only where all others fit."""
        if not status.is_success:
            return status
        unusable = [index for index, claim in enumerate(current.claims) if not self._is_usable(claim, node)]
        current.unavailable.update(unusable)
        return unresolvable(UNAVAILABLE) if unusable else SUCCESS

    def _is_usable(self, claim: Object, node: NodeInfo) -> bool:
        allocation = allocation_of(claim)
        return allocation is None or (usable_on(allocation, node.node) and not self._conditions.block(claim))

    async def _confirm(self, claim: Object, pod: Object, entry: InFlight | None) -> None:
        """Return when `claim` may be used: nobody got one of its devices before it.

        Otherwise the allocation is taken back, unless other pods rely on it: then people are told. Raises
        :class:`ClaimWriteError`.
        """
        if self._tracker.is_confirmed(claim):
            return
        clashes = self._tracker.clashes(claim) if entry is None else await self._seen(claim, entry)
        if not clashes:
            self._tracker.confirm(claim)
            return
        if await self._writer.deallocate(claim, pod) is not None:
            raise ClaimWriteError(f"claim {key_of(claim)} is given up: {'; '.join(map(str, clashes))}")
        self._tracker.report(claim, clashes)
        self._tracker.confirm(claim)

    async def _check_order(self, claim: Object, pod: Object) -> None:
        """Refuse an allocation of somebody else that came after another one of the same device.

        Who made it takes it back, unless somebody relies on it: so nobody may join before. Raises
        :class:`ClaimWriteError`.
        """
        late = () if self._tracker.is_confirmed(claim) else self._tracker.came_late(claim)
        if late:
            is_free = await self._writer.deallocate(claim, pod) is not None
            what = "is given up" if is_free else "cannot be shared"
            raise ClaimWriteError(f"claim {key_of(claim)} {what}: {'; '.join(map(str, late))}")

    async def _seen(self, claim: Object, entry: InFlight) -> Sequence[Clash]:
        try:
            async with self._handle.clock.timeout(CONFIRM_SECONDS):
                clashes = await asyncio.shield(entry.seen)
        except TimeoutError as error:
            waited = f"{CONFIRM_SECONDS:g} seconds"
            raise ClaimWriteError(f"claim {key_of(claim)} did not come back on the watch within {waited}") from error
        if clashes is None:
            raise ClaimWriteError(f"claim {key_of(claim)} got deleted in the meantime")
        return clashes


def _state(state: CycleState) -> ClaimState:
    current = state.read(STATE)
    assert current is not None, "PreFilter writes the state or skips Filter"
    return current


def _allocations(current: ClaimState, node_name: str) -> Sequence[Mapping[str, Any]]:
    if current.evaluation is None:
        return ()
    return current.evaluation[node_name].unwrap()
