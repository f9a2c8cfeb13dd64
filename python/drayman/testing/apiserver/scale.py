"""The `scale` subresource: the number of replicas of a workload, whatever its kind."""

from __future__ import annotations

from typing import Any

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


def scaled(obj: Object, scale: Object) -> Object:
    """Return the workload with the replicas that `scale` asks for, of the version that it names."""
    version = at(scale, "metadata.resourceVersion") or obj["metadata"]["resourceVersion"]
    replicas = at(scale, "spec.replicas", 0)
    return {
        **obj,
        "metadata": {**obj["metadata"], "resourceVersion": version},
        "spec": {**obj["spec"], "replicas": replicas},
    }
