"""Kubernetes objects as the framework sees them: decoded JSON that is shared and therefore only read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Object = Mapping[str, Any]
"""A Kubernetes object. Never change one: informers, caches and plugins hold the same dict."""


def key_of(obj: Object) -> str:
    """Return "namespace/name", or "name" for an object without a namespace."""
    metadata = obj["metadata"]
    namespace = metadata.get("namespace")
    return f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"])


def uid_of(obj: Object) -> str:
    """Return the object's UID; empty when it has none."""
    return str(obj["metadata"].get("uid", ""))


def node_name_of(pod: Object) -> str:
    """Return the node that `pod` is bound to; empty when it is not."""
    return str(pod.get("spec", {}).get("nodeName") or "")


def is_terminal(pod: Object) -> bool:
    """Tell whether all containers of `pod` have ended for good, so that it holds nothing on its node any more."""
    return pod.get("status", {}).get("phase") in ("Succeeded", "Failed")


def is_being_deleted(obj: Object) -> bool:
    """Tell whether deletion has begun."""
    return obj["metadata"].get("deletionTimestamp") is not None


def priority_of(pod: Object) -> int:
    """Return the pod's priority; 0 when none is set."""
    return int(pod.get("spec", {}).get("priority") or 0)


def condition_of(obj: Object, type_: str) -> Object | None:
    """Return the status condition of `type_`."""
    conditions: Sequence[Object] = obj.get("status", {}).get("conditions") or ()
    return next((condition for condition in conditions if condition.get("type") == type_), None)
