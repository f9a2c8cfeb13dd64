"""Which rules hold for which kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from drayman.api.field import FieldError, Path, forbidden, invalid, required
from drayman.api.validation import (
    claim,
    claim_status,
    cluster,
    device_class,
    event,
    names,
    pod,
    resource_slice,
    taint_rule,
    workloads,
)
from drayman.api.validation.context import Context
from drayman.api.validation.metadata import METADATA, descriptive_metadata, metadata_update, owner_references
from drayman.api.validation.rules import Errors, in_order, matching

Object: TypeAlias = Mapping[str, Any]
Create: TypeAlias = Callable[[Object, Context], Errors]
Update: TypeAlias = Callable[[Object, Object, Context], Errors]


def _any_object(obj: Object, context: Context) -> Errors:
    value = obj.get("metadata") or {}
    if not value.get("name"):
        yield required(METADATA.child("name"), "name or generateName is required")
    elif obj.get("kind") in _NAMED_AS_DOMAINS:
        yield from matching(METADATA.child("name"), value["name"], names.dns_subdomain)
    yield from descriptive_metadata(METADATA, value)
    yield from owner_references(METADATA.child("ownerReferences"), value.get("ownerReferences") or ())
    for index, finalizer in enumerate(value.get("finalizers") or ()):
        if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
            path = METADATA.child("finalizers").index(index)
            yield invalid(path, finalizer, "name is neither a standard finalizer name nor is it fully qualified")


def _settings_update(new: Object, old: Object, context: Context) -> Errors:
    """A ConfigMap or Secret that says that it is immutable keeps its data."""
    yield from _metadata_only(new, old, context)
    if not old.get("immutable"):
        return
    if not new.get("immutable"):
        yield forbidden(Path("immutable"), _IMMUTABLE)
    for name in ("data", "stringData", "binaryData"):
        if (new.get(name) or {}) != (old.get(name) or {}):
            yield forbidden(Path(name), _IMMUTABLE)


def _metadata_only(new: Object, old: Object, context: Context) -> Errors:
    yield from metadata_update(new.get("metadata") or {}, old.get("metadata") or {})


_NAMED_AS_DOMAINS = frozenset({"ConfigMap", "Secret", "ServiceAccount", "Event", "Endpoints", "LimitRange"})
_STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")
_IMMUTABLE = "field is immutable when `immutable` is set"


@dataclass(frozen=True, slots=True)
class _Rules:
    create: Create = _any_object
    update: Update = _metadata_only
    status: Update = _metadata_only


_RULES: dict[tuple[str, str], _Rules] = {
    ("", "Event"): _Rules(event.event),
    ("", "ConfigMap"): _Rules(update=_settings_update),
    ("", "Namespace"): _Rules(cluster.namespace),
    ("", "Node"): _Rules(cluster.node, cluster.node_update, cluster.node_update),
    ("", "Secret"): _Rules(update=_settings_update),
    ("", "Pod"): _Rules(pod.pod, pod.pod_update, pod.pod_status_update),
    ("apps", "Deployment"): _Rules(workloads.deployment, workloads.deployment_update),
    ("apps", "ReplicaSet"): _Rules(workloads.deployment, workloads.deployment_update),
    ("apps", "StatefulSet"): _Rules(workloads.deployment, workloads.deployment_update),
    ("batch", "Job"): _Rules(workloads.job, workloads.job_update),
    ("coordination.k8s.io", "Lease"): _Rules(cluster.lease, cluster.lease_update),
    ("resource.k8s.io", "DeviceClass"): _Rules(device_class.device_class, device_class.device_class_update),
    ("resource.k8s.io", "DeviceTaintRule"): _Rules(
        taint_rule.taint_rule, taint_rule.taint_rule_update, taint_rule.taint_rule_status_update
    ),
    ("resource.k8s.io", "ResourceClaim"): _Rules(claim.claim, claim.claim_update, claim_status.claim_status_update),
    ("resource.k8s.io", "ResourceClaimTemplate"): _Rules(claim.claim_template, claim.claim_template_update),
    ("resource.k8s.io", "ResourceSlice"): _Rules(resource_slice.resource_slice, resource_slice.resource_slice_update),
}


def _rules(obj: Object) -> _Rules:
    group = str(obj.get("apiVersion", "")).rpartition("/")[0]
    return _RULES.get((group, str(obj.get("kind", ""))), _Rules())


def create(obj: Object, context: Context | None = None) -> list[FieldError]:
    """Return why the new object `obj` is refused, or nothing."""
    return in_order(_rules(obj).create(obj, context or Context()))


def update(
    new: Object, old: Object, context: Context | None = None, subresource: str | None = None
) -> list[FieldError]:
    """Return why `old` may not become `new`, by a write to the object or to its subresource `status`."""
    rules = _rules(new)
    rule = rules.status if subresource == "status" else rules.update
    return in_order(rule(new, old, context or Context()))


def warnings(obj: Object) -> list[str]:
    """Return what the API server warns of in an object that it accepts."""
    return resource_slice.warnings(obj) if obj.get("kind") == "ResourceSlice" else []
