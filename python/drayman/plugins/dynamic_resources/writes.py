"""Writing claims: in upstream's order, with its texts, and never over an allocation that is there."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from drayman.errors import APIStatusError, DraymanError
from drayman.framework import Handle, Object
from drayman.names import FINALIZER
from drayman.plugins.dynamic_resources.binding_conditions import GATES
from drayman.plugins.dynamic_resources.claims import allocation_of, is_reserved_for_others, reserved_for
from drayman.pods.objects import is_being_deleted, key_of, node_name_of, uid_of
from drayman.resourceclaim import is_reserved_for
from drayman.timestamps import rfc3339

if TYPE_CHECKING:
    from drayman.plugins.dynamic_resources.tracker import ClaimTracker

T = TypeVar("T")

KIND = "ResourceClaim"
_TRIES = 5
_PAUSE = 0.01


class ClaimWriteError(DraymanError):
    """A claim could not be written; `str()` is upstream's text."""


class ClaimConflictError(ClaimWriteError):
    """A claim was changed by somebody else since it was read."""


class ClaimWriter:
    """The writes to claims that a scheduler does."""

    def __init__(self, handle: Handle, tracker: ClaimTracker) -> None:
        self._api = handle.api
        self._clock = handle.clock
        self._tracker = tracker
        self._timestamps = handle.settings.features >= GATES
        self._fixed = handle.settings.fixed

    async def bind(self, claim: Object, pod: Object, allocation: Mapping[str, Any] | None) -> Object:
        """Store `allocation` in `claim`, if given, reserve the claim for `pod`, and return what the server has then.

        First the finalizer, by an update of the claim, then allocation and reservation in one update of its status.
        After a conflict the claim is read anew and everything is checked again, five times in all; a claim that was
        allocated when the node was chosen has to have the same devices still. Raises
        :class:`ClaimWriteError`.
        """

        async def attempt(current: Object) -> Object:
            if allocation is None and _devices_of(current) != _devices_of(claim):
                # The node was chosen for devices that the claim had then; those that it has now may be elsewhere.
                raise ClaimWriteError(f"claim {key_of(claim)} got deallocated elsewhere in the meantime")
            return await self._bind_once(current, pod, allocation)

        return await self._with_retries(claim, attempt)

    async def deallocate(self, claim: Object, pod: Object) -> Object | None:
        """Take the allocation from `claim` unless somebody relies on it; None when somebody does.

        That is anybody but `pod` who has it reserved, and `pod` itself once another scheduler has bound it. Raises
        :class:`ClaimWriteError`.
        """

        async def attempt(current: Object) -> Object | None:
            if allocation_of(current) is None:
                return current
            if is_reserved_for_others(current, pod) or await self._is_bound(pod):
                return None
            status = {
                field: value
                for field, value in current["status"].items()
                if field not in ("allocation", "reservedFor", "devices")
            }
            return await self._write(current, status, f"deallocate claim {key_of(current)}")

        return await self._with_retries(claim, attempt)

    async def unreserve(self, claim: Object, pod: Object) -> None:
        """Take the reservation for `pod` from `claim`; the allocation stays. A claim that is gone is no error.

        A pod that another scheduler has bound meanwhile keeps its reservation. Raises :class:`ClaimWriteError`.
        """
        if await self._is_bound(pod):
            return
        metadata = claim["metadata"]
        patch = {
            "metadata": {"uid": metadata["uid"]},
            "status": {"reservedFor": [{"$patch": "delete", "uid": pod["metadata"]["uid"]}]},
        }
        with _explained(f"remove reservation from claim {key_of(claim)}"):
            try:
                written = await self._api.patch(
                    KIND, metadata["name"], metadata["namespace"], patch, type_="strategic", subresource="status"
                )
            except APIStatusError as error:
                if error.reason != "NotFound":
                    raise
            else:
                self._tracker.wrote(written)

    async def _is_bound(self, pod: Object) -> bool:
        """Ask the server: a replica may have bound the pod, and then its claims must stay as they are."""
        metadata = pod["metadata"]
        with _explained(f"get pod {key_of(pod)}"):
            try:
                newest = await self._api.get("Pod", metadata["name"], metadata["namespace"])
            except APIStatusError as error:
                if error.reason != "NotFound":
                    raise
                return False
        return uid_of(newest) == uid_of(pod) and bool(node_name_of(newest))

    async def _bind_once(self, claim: Object, pod: Object, allocation: Mapping[str, Any] | None) -> Object:
        key = key_of(claim)
        if is_being_deleted(claim):
            raise ClaimWriteError(f"claim {key} got deleted in the meantime")
        if allocation is not None:
            if allocation_of(claim) is not None:
                raise ClaimWriteError(f"claim {key} got allocated elsewhere in the meantime")
            claim = await self._add_finalizer(claim)
        elif is_reserved_for(pod, claim):
            return claim
        stored = allocation if allocation is not None else allocation_of(claim)
        if stored is None:
            raise ClaimWriteError(f"claim {key} got deallocated elsewhere in the meantime")
        status = {
            **claim.get("status", {}),
            "allocation": self._stamped(stored, is_new=allocation is not None),
            "reservedFor": [*reserved_for(claim), _consumer(pod)],
        }
        if allocation is None:
            return await self._write(claim, status, f"add reservation to claim {key}")
        written = await self._write(claim, status, f"add allocation and reservation to claim {key}")
        self._tracker.allocated(written)
        return written

    def _stamped(self, allocation: Mapping[str, Any], *, is_new: bool) -> Mapping[str, Any]:
        """Return `allocation` with its time.

        Upstream 1.37.2 also stamps allocations of others that have none, which the API server refuses as a change of
        the allocation: such a claim can never be shared again.
        """
        if not self._timestamps or allocation.get("allocationTimestamp") or (self._fixed and not is_new):
            return allocation
        return {**allocation, "allocationTimestamp": rfc3339(self._clock.now())}

    async def _add_finalizer(self, claim: Object) -> Object:
        """Protect the claim before it is allocated; it may be protected already, by an attempt that was interrupted."""
        finalizers = claim["metadata"].get("finalizers") or []
        if FINALIZER in finalizers:
            return claim
        protected = {**claim, "metadata": {**claim["metadata"], "finalizers": [*finalizers, FINALIZER]}}
        with _explained(f"add finalizer to claim {key_of(claim)}"):
            written = await self._api.update(KIND, protected)
        self._tracker.wrote(written)
        return written

    async def _write(self, claim: Object, status: Mapping[str, Any], what: str) -> Object:
        with _explained(what):
            written = await self._api.update(KIND, {**claim, "status": status}, subresource="status")
        self._tracker.wrote(written)
        return written

    async def _with_retries(self, claim: Object, attempt: Callable[[Object], Awaitable[T]]) -> T:
        for tries_left in reversed(range(_TRIES)):
            try:
                return await attempt(claim)
            except ClaimConflictError:
                if not tries_left:
                    raise
            await self._clock.sleep(_PAUSE)
            metadata = claim["metadata"]
            with _explained(f"get updated claim {key_of(claim)} after conflict"):
                claim = await self._api.get(KIND, metadata["name"], metadata["namespace"])
        raise AssertionError("the last try returns or raises")


@contextlib.contextmanager
def _explained(what: str) -> Iterator[None]:
    """Turn what the API raises into a :class:`ClaimWriteError` that says what was being done."""
    try:
        yield
    except APIStatusError as error:
        kind = ClaimConflictError if error.reason == "Conflict" else ClaimWriteError
        raise kind(f"{what}: {error}") from error
    except ConnectionError as error:
        raise ClaimWriteError(f"{what}: {error}") from error


def _consumer(pod: Object) -> Mapping[str, Any]:
    metadata = pod["metadata"]
    return {"resource": "pods", "name": metadata["name"], "uid": metadata["uid"]}


def _devices_of(claim: Object) -> Any:
    """Return the devices that the claim has."""
    return (allocation_of(claim) or {}).get("devices")
