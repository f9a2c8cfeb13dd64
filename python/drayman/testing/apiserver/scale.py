"""The `scale` subresource: the number of replicas of a workload, whatever its kind."""

from __future__ import annotations

from typing import Any

from drayman.api import status
from drayman.testing.apiserver.refusal import Refusal
from drayman.testing.apiserver.tables.column import at, format_labels, format_selector

Object = dict[str, Any]

_COPIED = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def of(obj: Object) -> Object:
    """Return the `autoscaling/v1` Scale of a workload."""
    selector = at(obj, "spec.selector", {})
    plain = obj["kind"] == "ReplicationController"
    text = format_labels(selector) if plain else format_selector(selector)
    shown: Object = {"replicas": at(obj, "status.replicas", 0)}
    if text != "<none>":
        shown["selector"] = text
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: obj["metadata"][name] for name in _COPIED if name in obj["metadata"]},
        "spec": {"replicas": at(obj, "spec.replicas", 0)},
        "status": shown,
    }


def scaled(obj: Object, scale: Any) -> Object:
    """Return the workload with the replicas that `scale` asks for. Raises :class:`Refusal` (400, 422)."""
    if not isinstance(scale, dict) or scale.get("kind", "Scale") != "Scale":
        raise Refusal(status.bad_request(f"expected input object type to be Scale, but {type(scale).__name__}"))
    replicas = at(scale, "spec.replicas", 0)
    if not isinstance(replicas, int) or isinstance(replicas, bool):
        raise Refusal(status.bad_request("spec.replicas must be a number"))
    metadata = dict(obj["metadata"])
    given = scale.get("metadata") or {}
    metadata["resourceVersion"] = given.get("resourceVersion") or metadata["resourceVersion"]
    return {**obj, "metadata": metadata, "spec": {**obj["spec"], "replicas": replicas}}
