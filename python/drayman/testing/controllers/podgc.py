"""Pods of nodes that are gone, and deleted pods that no node will end (upstream: `pkg/controller/podgc`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.errors import APIStatusError
from drayman.kube.informer import key_of
from drayman.kube.resources import NODES, PODS
from drayman.testing.controllers.context import Index
from drayman.testing.controllers.pods import is_terminal
from drayman.testing.controllers.queue import WorkQueue
from drayman.timestamps import rfc3339

if TYPE_CHECKING:
    from drayman.kube.client import Object
    from drayman.testing.controllers.context import Context

QUARANTINE = 40.0
"""Seconds that a node must be gone before its pods go too."""


class PodGCController:
    """Ends and deletes pods that no kubelet can end."""

    def __init__(self, context: Context) -> None:
        self._client = context.client
        self._clock = context.clock
        self._queue = WorkQueue(context.clock, "podgc")
        pods, nodes = context.informer(PODS), context.informer(NODES)
        self._pods, self._nodes = pods.store, nodes.store
        self._nodes_synced = nodes.synced
        self._pods_by_node = Index(pods, lambda pod: filter(None, [pod["spec"].get("nodeName")]))
        pods.add_handler(self._pod_changed, lambda _, new: self._pod_changed(new))
        nodes.add_handler(on_delete=self._node_deleted)

    async def run(self) -> None:
        """Work until cancelled, from the pods that were there before their nodes were known."""
        for pod in self._pods.values():
            self._pod_changed(pod)
        await self._queue.run(self._sync)

    async def _sync(self, key: str) -> None:
        pod = self._pods.get(key)
        if pod is None:
            return
        node = pod["spec"].get("nodeName")
        if not node:
            if "deletionTimestamp" in pod["metadata"]:
                await self._end(pod, "")
        elif node not in self._nodes and not await self._node_exists(node):
            await self._end(pod, "PodGC: node no longer exists")

    async def _node_exists(self, name: str) -> bool:
        """Ask the API server: the watch may be behind."""
        try:
            await self._client.get(NODES, name)
        except APIStatusError as error:
            if error.reason != "NotFound":
                raise
            return False
        return True

    async def _end(self, pod: Object, message: str) -> None:
        """Report that the pod has failed, if it has not ended, and delete it without grace."""
        metadata = pod["metadata"]
        place = (PODS, metadata["name"], metadata["namespace"])
        status: Object = {"phase": "Failed"}
        if message:
            disruption = {
                "type": "DisruptionTarget",
                "status": "True",
                "reason": "DeletionByPodGC",
                "message": message,
                "lastTransitionTime": rfc3339(self._clock.now()),
            }
            status["conditions"] = [disruption]
        patch = {"metadata": {"uid": metadata["uid"]}, "status": status}
        try:
            if not is_terminal(pod):
                await self._client.patch(*place, patch, kind="strategic", subresource="status")
            await self._client.delete(*place, uid=metadata["uid"], grace_period_seconds=0)
        except APIStatusError as error:
            if error.reason not in ("NotFound", "Conflict"):
                raise

    def _pod_changed(self, pod: Object) -> None:
        node = pod["spec"].get("nodeName")
        if node and node not in self._nodes and self._nodes_synced.is_set():
            self._queue.add_after(key_of(pod), QUARANTINE)
        elif not node and "deletionTimestamp" in pod["metadata"]:
            self._queue.add(key_of(pod))

    def _node_deleted(self, node: Object) -> None:
        for pod in self._pods_by_node[node["metadata"]["name"]]:
            self._queue.add_after(key_of(pod), QUARANTINE)
