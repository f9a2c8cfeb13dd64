"""Which nodes a pod wants, and from which ones other pods keep it away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from drayman import node_selector
from drayman.pods import label_selector
from drayman.pods.node_info import NodeInfo, PodInfo
from drayman.pods.objects import Object


def matches(pod: Object, node: Object) -> bool:
    """Tell whether `node` has what the pod's nodeSelector and required node affinity ask for."""
    labels = node["metadata"].get("labels") or {}
    wanted = pod["spec"].get("nodeSelector") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    selector = required(pod)
    return selector is None or node_selector.matches(selector, node)


def node_affinity(pod: Object) -> Mapping[str, Any]:
    """Return the pod's node affinity; empty when it has none."""
    return (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}


def required(pod: Object) -> Mapping[str, Any] | None:
    """Return the node selector of the pod's required node affinity, if it has one."""
    return node_affinity(pod).get("requiredDuringSchedulingIgnoredDuringExecution")


def kept_off(node: NodeInfo, pod: Object) -> Iterator[tuple[tuple[str, str], PodInfo]]:
    """Yield the labels of nodes from which pods on `node` keep `pod` away, each with the pod that does."""
    labels = node.node["metadata"].get("labels") or {}
    for resident in node.with_anti_affinity.values():
        for term in resident.anti_affinity:
            key = term["topologyKey"]
            if key in labels and _is_about(term, resident, pod):
                yield (key, labels[key]), resident


def _is_about(term: Mapping[str, Any], resident: PodInfo, pod: Object) -> bool:
    """Tell whether `term` of `resident` is about `pod`.

    Labels of namespaces are not watched: a selector of namespaces counts as matching all of them, which may keep a pod
    away from a node that it could use, but never lets it in where it must not be.
    """
    metadata = pod["metadata"]
    namespaces = term.get("namespaces") or ()
    if term.get("namespaceSelector") is None:
        own = resident.pod["metadata"]["namespace"]
        if metadata["namespace"] not in (namespaces or (own,)):
            return False
    return label_selector.matches(term.get("labelSelector"), metadata.get("labels") or {})
