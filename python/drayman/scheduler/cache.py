"""The scheduler's picture of the nodes: what is on them, and what is about to be.

Nothing between PreFilter and Reserve waits, so the cache itself is the snapshot of an attempt; nothing is copied.
"""

from __future__ import annotations

from collections.abc import Sequence

from drayman.framework import NodeInfo, Object, PodInfo
from drayman.pods.objects import key_of, node_name_of, uid_of


class Cache:
    """Nodes, and pods that are bound to them or assumed to be. Not thread-safe.

    A pod may be bound to a node that is not known yet; it is counted when the node appears.
    """

    def __init__(self) -> None:
        self._nodes: dict[str, NodeInfo] = {}
        self._sorted: list[NodeInfo] | None = None
        self._pods: dict[str, tuple[str, PodInfo]] = {}
        self._assumed: set[str] = set()

    def nodes(self) -> Sequence[NodeInfo]:
        """Return all nodes, in byte order of their names."""
        if self._sorted is None:
            self._sorted = [self._nodes[name] for name in sorted(self._nodes)]
        return self._sorted

    def get(self, name: str) -> NodeInfo | None:
        """Return one node."""
        return self._nodes.get(name)

    def set_node(self, node: Object) -> None:
        """Take over a new or changed node."""
        name = key_of(node)
        known = self._nodes.get(name)
        if known is not None:
            known.set_node(node)
            return
        info = self._nodes[name] = NodeInfo(node)
        self._sorted = None
        for node_name, pod in self._pods.values():
            if node_name == name:
                info.add_pod(pod)

    def remove_node(self, name: str) -> None:
        """Forget a node; its pods stay known."""
        if self._nodes.pop(name, None) is not None:
            self._sorted = None

    def set_pod(self, pod: Object) -> None:
        """Take over a pod that is bound; a pod that was assumed is assumed no longer."""
        self._assumed.discard(uid_of(pod))
        self._place(PodInfo(pod), node_name_of(pod))

    def has_pod(self, uid: str) -> bool:
        """Tell whether the pod is counted, bound or assumed."""
        return uid in self._pods

    def remove_pod(self, uid: str) -> None:
        """Forget a pod, bound or assumed."""
        self._assumed.discard(uid)
        place = self._pods.pop(uid, None)
        node = self._nodes.get(place[0]) if place else None
        if node is not None:
            node.remove_pod(uid)

    def assume(self, pod: Object, node_name: str) -> None:
        """Count `pod` as being on the node, before it is bound."""
        self._assumed.add(uid_of(pod))
        self._place(PodInfo(pod), node_name)

    def forget(self, uid: str) -> None:
        """Undo :meth:`assume`; a pod that turned out to be bound stays."""
        if uid in self._assumed:
            self.remove_pod(uid)

    def is_assumed(self, uid: str) -> bool:
        """Tell whether the pod is being bound."""
        return uid in self._assumed

    def _place(self, pod: PodInfo, node_name: str) -> None:
        previous = self._pods.get(pod.uid)
        if previous is not None and (node := self._nodes.get(previous[0])) is not None:
            node.remove_pod(pod.uid)
        self._pods[pod.uid] = (node_name, pod)
        if (node := self._nodes.get(node_name)) is not None:
            node.add_pod(pod)
