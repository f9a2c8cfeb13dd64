"""What the server itself changes in an object before it is stored: status kept apart, generations, first states.

These are the `PrepareForCreate` and `PrepareForUpdate` of upstream's `pkg/registry/*/strategy.go`. All functions
return new objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drayman.testing.apiserver import job_selector, qos

if TYPE_CHECKING:
    from collections.abc import Callable

    from drayman.testing.apiserver.kinds import Kind

Object = dict[str, Any]

_SYSTEM_METADATA = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation")
_STATUS_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")
_KEPT_POD_STATUS = (
    "qosClass",
    "resourceClaimStatuses",
    "extendedResourceClaimStatus",
    "nodeAllocatableResourceClaimStatuses",
)
_SPEC_PARTS = {
    "ephemeralcontainers": ("ephemeralContainers",),
    "finalize": ("finalizers",),
    "resize": ("containers", "initContainers"),
}


def for_create(kind: Kind, obj: Object) -> Object:
    """Return `obj` as a creation stores it: without a status that its author made up, in generation 1."""
    if kind.has_status and not kind.keeps_status:
        obj = {name: value for name, value in obj.items() if name != "status"}
        first = _FIRST_STATUS.get(kind.kind)
        obj["status"] = first(obj) if first else {}
    if kind.generation:
        obj = {**obj, "metadata": {**obj["metadata"], "generation": 1}}
    change = _ON_CREATE.get(kind.kind)
    return change(obj) if change else obj


def for_update(kind: Kind, new: Object, old: Object, now: str) -> Object:
    """Return `new` as an update stores it: with the old status; a changed spec counts as a new generation."""
    new = _with_system_metadata(new, old)
    if kind.has_status:
        new = {**new, "status": old.get("status") or {}}
    if kind.kind == "DeviceTaintRule":
        new = _with_time_of_effect(new, old, now)
    if kind.generation and _desired(new) != _desired(old):
        metadata = new["metadata"]
        new = {**new, "metadata": {**metadata, "generation": int(metadata.get("generation", 0)) + 1}}
    return new


def for_part_update(part: str, kind: Kind, new: Object, old: Object) -> Object:
    """Return `new` as an update of a subresource stores it: the old object with that part of the new one."""
    if part == "status":
        return for_status_update(kind, new, old)
    metadata = {**old["metadata"], "resourceVersion": new["metadata"].get("resourceVersion", "")}
    if part == "approval":
        return {**old, "metadata": metadata, "status": new.get("status") or {}}
    spec, given = dict(old.get("spec") or {}), new.get("spec") or {}
    for name in _SPEC_PARTS[part]:
        spec.pop(name, None)
        if given.get(name):
            spec[name] = given[name]
    if kind.generation and spec != old.get("spec"):
        metadata["generation"] = int(metadata.get("generation", 0)) + 1
    return {**old, "metadata": metadata, "spec": spec}


def for_status_update(kind: Kind, new: Object, old: Object) -> Object:
    """Return `new` as an update of `/status` stores it: with the old spec and what else is not its to change."""
    new = _with_system_metadata(new, old)
    kept = {name: value for name, value in old.items() if name not in ("metadata", "status")}
    metadata = dict(new["metadata"])
    protected = _STATUS_METADATA if kind.strict_status else ("ownerReferences", "finalizers")
    for name in protected:
        metadata.pop(name, None)
        if name in old["metadata"]:
            metadata[name] = old["metadata"][name]
    status = new.get("status")
    if kind.kind == "Pod":
        status = _pod_status(status or {}, old.get("status") or {})
    if kind.kind == "ResourceClaim" and status and not status.get("allocation"):
        status = {name: value for name, value in status.items() if name != "devices"}
    return {**kept, "metadata": metadata, "status": status or {}}


def _with_system_metadata(new: Object, old: Object) -> Object:
    metadata = {name: value for name, value in new["metadata"].items() if name not in _SYSTEM_METADATA}
    metadata |= {name: old["metadata"][name] for name in _SYSTEM_METADATA if name in old["metadata"]}
    # A foreign uid stays, to be refused by validation.
    return {**new, "metadata": {**metadata, "uid": new["metadata"].get("uid") or metadata["uid"]}}


def _desired(obj: Object) -> Object:
    return {name: value for name, value in obj.items() if name not in ("metadata", "status", "kind", "apiVersion")}


def _with_time_of_effect(rule: Object, old: Object, now: str) -> Object:
    """Say when the present effect was added, unless the author has said so."""
    taint, old_taint = (obj.get("spec", {}).get("taint") or {} for obj in (rule, old))
    if taint.get("effect") == old_taint.get("effect") or taint.get("timeAdded") != old_taint.get("timeAdded"):
        return rule
    return {**rule, "spec": {**rule["spec"], "taint": {**taint, "timeAdded": now}}}


def _pod_status(status: Object, old: Object) -> Object:
    """Keep what old clients drop because they do not know it."""
    kept = {name: old[name] for name in _KEPT_POD_STATUS if name in old and status.get(name) is None}
    return {**status, **kept}


def _pod_first_status(pod: Object) -> Object:
    spec = pod.get("spec") or {}
    status: Object = {"phase": "Pending", "qosClass": qos.qos_class(spec)}
    if spec.get("schedulingGates"):
        status["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "lastProbeTime": None,
                "lastTransitionTime": pod["metadata"]["creationTimestamp"],
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
            }
        ]
    return status


def _namespace(namespace: Object) -> Object:
    metadata = namespace["metadata"]
    labels = {**(metadata.get("labels") or {}), "kubernetes.io/metadata.name": metadata["name"]}
    spec = namespace.get("spec") or {}
    return {
        **namespace,
        "metadata": {**metadata, "labels": labels},
        "spec": {**spec, "finalizers": spec.get("finalizers") or ["kubernetes"]},
    }


_FIRST_STATUS: dict[str, Callable[[Object], Object]] = {
    "Pod": _pod_first_status,
    "Namespace": lambda obj: {"phase": "Active"},
    "PersistentVolume": lambda obj: {"phase": "Pending"},
    "PersistentVolumeClaim": lambda obj: {"phase": "Pending"},
    "Service": lambda obj: {"loadBalancer": {}},
    "ReplicaSet": lambda obj: {"replicas": 0},
    "ReplicationController": lambda obj: {"replicas": 0},
    "StatefulSet": lambda obj: {"replicas": 0},
}

_ON_CREATE: dict[str, Callable[[Object], Object]] = {"Job": job_selector.generated, "Namespace": _namespace}
