"""Rules about Namespace, Node and Lease. Source: `pkg/apis/core/validation` and `pkg/apis/coordination/validation`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drayman.api.field import Path, invalid
from drayman.api.validation import names
from drayman.api.validation.container import resource_quantity
from drayman.api.validation.context import Context
from drayman.api.validation.metadata import metadata, metadata_update
from drayman.api.validation.pod_spec import node_taints
from drayman.api.validation.rules import Errors
from drayman.quantity import Quantity

SPEC = Path("spec")
STATUS = Path("status")


def namespace(obj: Mapping[str, Any], context: Context) -> Errors:
    """A new Namespace: its name is part of DNS names."""
    yield from metadata(obj.get("metadata") or {}, namespaced=False, name=names.dns_label)


def node(obj: Mapping[str, Any], context: Context) -> Errors:
    """A new Node."""
    yield from metadata(obj.get("metadata") or {}, namespaced=False)
    yield from _node(obj)


def node_update(new: Mapping[str, Any], old: Mapping[str, Any], context: Context) -> Errors:
    """A Node may change, by itself and by its status."""
    yield from metadata_update(new.get("metadata") or {}, old.get("metadata") or {})
    yield from _node(new)


def _node(obj: Mapping[str, Any]) -> Errors:
    yield from node_taints(Path("metadata").child("taints"), (obj.get("spec") or {}).get("taints") or ())
    for kind in ("capacity", "allocatable"):
        for name, amount in sorted(((obj.get("status") or {}).get(kind) or {}).items()):
            yield from resource_quantity(STATUS.child(kind, name), name, Quantity(amount))


def lease(obj: Mapping[str, Any], context: Context) -> Errors:
    """A new Lease."""
    yield from metadata(obj.get("metadata") or {}, namespaced=True)
    yield from _lease(obj.get("spec") or {})


def lease_update(new: Mapping[str, Any], old: Mapping[str, Any], context: Context) -> Errors:
    """A Lease is renewed or changes hands."""
    yield from metadata_update(new.get("metadata") or {}, old.get("metadata") or {})
    yield from _lease(new.get("spec") or {})


def _lease(spec: Mapping[str, Any]) -> Errors:
    duration, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if duration is not None and duration <= 0:
        yield invalid(SPEC.child("leaseDurationSeconds"), duration, "must be greater than 0")
    if transitions is not None and transitions < 0:
        yield invalid(SPEC.child("leaseTransitions"), transitions, "must be greater than or equal to 0")
