"""Deleting objects: preconditions, grace periods, finalizers, and what becomes of dependents."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman.api import field, status
from drayman.testing.apiserver.refusal import Refusal
from drayman.testing.apiserver.store import Stored
from drayman.timestamps import parse_rfc3339, rfc3339

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drayman.clock import Clock
    from drayman.testing.apiserver.garbage import GarbageCollector
    from drayman.testing.apiserver.kinds import Kind
    from drayman.testing.apiserver.writes import Writes

Object = dict[str, Any]

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"
_IMMORTAL = ("default", "kube-system", "kube-public")
_POLICIES = ("Background", "Foreground", "Orphan")
_SHOWN_POLICIES = ("Foreground", "Background", "Orphan", "nil")


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """`metav1.DeleteOptions`, as far as it matters here."""

    grace_period_seconds: int | None = None
    propagation_policy: str = ""
    uid: str = ""
    resource_version: str = ""
    dry_run: bool = False


def options(body: Mapping[str, Any], query: Mapping[str, str]) -> DeleteOptions:
    """Read options from the body or, where it has none, from the query. Raises :class:`Refusal` (400, 422)."""
    grace = body.get("gracePeriodSeconds", query.get("gracePeriodSeconds"))
    policy = body.get("propagationPolicy") or query.get("propagationPolicy") or ""
    orphan = body.get("orphanDependents", query.get("orphanDependents"))
    if not policy and orphan is not None:
        policy = "Orphan" if orphan in (True, "true") else "Background"
    if policy and policy not in _POLICIES:
        error = field.not_supported(field.Path("propagationPolicy"), policy, _SHOWN_POLICIES)
        raise Refusal(status.invalid("meta.k8s.io", "DeleteOptions", "", [error]))
    preconditions = body.get("preconditions") or {}
    if not isinstance(preconditions, dict):
        raise Refusal(status.bad_request("preconditions of a deletion must be an object"))
    dry_run = body.get("dryRun") or query.get("dryRun")
    try:
        period = None if grace is None else int(grace)
    except (TypeError, ValueError):
        raise Refusal(status.bad_request(f"invalid grace period {grace!r}")) from None
    return DeleteOptions(
        period, policy, preconditions.get("uid") or "", preconditions.get("resourceVersion") or "", bool(dry_run)
    )


class Deletion:
    """Deletes objects by the API's rules."""

    def __init__(self, writes: Writes, clock: Clock, garbage: GarbageCollector) -> None:
        self._writes = writes
        self._clock = clock
        self._garbage = garbage

    def delete(self, kind: Kind, namespace: str, name: str, options: DeleteOptions) -> tuple[Stored, bool]:
        """Delete an object, or mark it as being deleted while a grace period, a finalizer or a dependent keeps it.

        Returns its last state and whether it is gone. Raises :class:`Refusal`: 404, or 409 when a precondition does
        not hold.
        """
        current = self._writes.get(kind, namespace, name)
        if kind.kind == "Namespace" and name in _IMMORTAL:
            raise Refusal(status.forbidden("", "namespaces", name, "this namespace may not be deleted"))
        _check_preconditions(kind, current.obj["metadata"], name, options)
        grace = _grace(kind, current.obj, options)
        if options.dry_run:
            return current, True
        policy = options.propagation_policy or ("Orphan" if kind.orphans else "Background")
        current = self._release_dependents(kind, current, policy)
        kept = bool(current.obj["metadata"].get("finalizers")) or grace > 0 or kind.kind == "Namespace"
        if not kept:
            gone = self._writes.remove(kind, current)
            # Pods are graceful in principle, and marked even for an end at once.
            return (Stored(self._marked(gone.obj, 0), gone.revision) if kind.kind == "Pod" else gone), True
        marked = self._mark(kind, current, grace, explicit=options.grace_period_seconds is not None)
        if kind.kind == "Namespace":
            self._garbage.empty_namespace(name)
        elif policy == "Foreground":
            self._garbage.delete_dependents(current.obj["metadata"]["uid"])
        # What had to go first may be gone already, and the object with it.
        left = self._garbage.present(kind, current.obj["metadata"]["uid"])
        return (left, False) if left else (marked, True)

    def _release_dependents(self, kind: Kind, current: Stored, policy: str) -> Stored:
        uid = current.obj["metadata"]["uid"]
        if policy == "Orphan":
            self._garbage.orphan_dependents(uid)
        elif policy == "Foreground" and self._garbage.blocking(uid):
            finalizers = current.obj["metadata"].get("finalizers") or []
            if FOREGROUND not in finalizers:
                metadata = {**current.obj["metadata"], "finalizers": [*finalizers, FOREGROUND]}
                return self._mark(kind, current, 0, explicit=False, metadata=metadata)
        return current

    def _mark(
        self, kind: Kind, current: Stored, grace: int, *, explicit: bool, metadata: Object | None = None
    ) -> Stored:
        """Set the deletion timestamp; a second deletion can only bring it forward."""
        metadata = dict(metadata or current.obj["metadata"])
        if "deletionTimestamp" in metadata:
            previous = int(metadata.get("deletionGracePeriodSeconds") or 0)
            if not explicit or grace >= previous:
                return self._writes.commit(kind, {**current.obj, "metadata": metadata}, current)
        marked = self._marked({**current.obj, "metadata": metadata}, grace)
        if kind.kind == "Namespace":
            marked["status"] = {**(current.obj.get("status") or {}), "phase": "Terminating"}
        return self._writes.commit(kind, marked, current)

    def _marked(self, obj: Object, grace: int) -> Object:
        metadata = dict(obj["metadata"])
        if "deletionTimestamp" in metadata:
            previous = int(metadata.get("deletionGracePeriodSeconds") or 0)
            end = parse_rfc3339(metadata["deletionTimestamp"]) - dt.timedelta(seconds=previous - grace)
        else:
            end = self._clock.now() + dt.timedelta(seconds=grace)
            if "generation" in metadata:
                metadata["generation"] += 1
        metadata |= {"deletionTimestamp": rfc3339(end), "deletionGracePeriodSeconds": grace}
        return {**obj, "metadata": metadata}


def _check_preconditions(kind: Kind, metadata: Object, name: str, options: DeleteOptions) -> None:
    if options.uid and options.uid != metadata["uid"]:
        reason = (
            f"the UID in the precondition ({options.uid}) does not match the UID in record ({metadata['uid']}). "
            "The object might have been deleted and then recreated"
        )
        raise Refusal(status.conflict(kind.group, kind.kind, name, reason))
    if options.resource_version and options.resource_version != metadata["resourceVersion"]:
        reason = (
            f"the ResourceVersion in the precondition ({options.resource_version}) does not match the ResourceVersion "
            f"in record ({metadata['resourceVersion']}). The object might have been modified"
        )
        raise Refusal(status.conflict(kind.group, kind.kind, name, reason))


def _grace(kind: Kind, obj: Object, options: DeleteOptions) -> int:
    """Return how long the object stays after its deletion: only pods that a node may still run do."""
    if kind.kind != "Pod":
        return 0
    spec, phase = obj.get("spec") or {}, (obj.get("status") or {}).get("phase")
    if not spec.get("nodeName") or phase in ("Succeeded", "Failed"):
        return 0
    period = options.grace_period_seconds
    if period is None:
        period = int(spec.get("terminationGracePeriodSeconds") or 0)
    return 1 if period < 0 else period
