"""ReplicaSets: as many pods as asked for (upstream: `pkg/controller/replicaset`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.errors import APIStatusError
from drayman.kube.informer import key_of
from drayman.kube.resources import PODS, REPLICASETS
from drayman.resourceclaim import controller_of
from drayman.testing.controllers.context import Index
from drayman.testing.controllers.pods import from_template, is_active, is_ready, owner_uids, phase
from drayman.testing.controllers.queue import WorkQueue

if TYPE_CHECKING:
    from drayman.kube.client import Object
    from drayman.testing.controllers.context import Context

MAX_PODS_PER_SYNC = 500
"""How many pods one pass starts or stops at most."""


class ReplicaSetController:
    """Starts and stops pods of ReplicaSets."""

    def __init__(self, context: Context) -> None:
        self._client = context.client
        self._recorder = context.recorder("replicaset-controller")
        self._queue = WorkQueue(context.clock, "replicaset")
        pods, sets = context.informer(PODS), context.informer(REPLICASETS)
        self._sets = sets.store
        self._pods_by_owner = Index(pods, owner_uids)
        sets.add_handler(self._set_changed, lambda _, new: self._set_changed(new))
        pods.add_handler(self._pod_changed, lambda _, new: self._pod_changed(new), self._pod_changed)

    async def run(self) -> None:
        """Work until cancelled."""
        await self._queue.run(self._sync)

    async def _sync(self, key: str) -> None:
        replica_set = self._sets.get(key)
        if replica_set is None:
            return
        pods = self._pods_by_owner[replica_set["metadata"]["uid"]]
        active = [pod for pod in pods if is_active(pod)]
        missing = replica_set["spec"].get("replicas", 1) - len(active)
        if "deletionTimestamp" not in replica_set["metadata"]:
            if missing > 0:
                active += await self._start(replica_set, min(missing, MAX_PODS_PER_SYNC))
            elif missing < 0:
                stopped = await self._stop(replica_set, sorted(active, key=_worth)[:-missing])
                active = [pod for pod in active if pod["metadata"]["uid"] not in stopped]
        await self._update_status(replica_set, active)

    async def _start(self, replica_set: Object, count: int) -> list[Object]:
        template, name = replica_set["spec"]["template"], replica_set["metadata"]["name"]
        created = []
        for _ in range(count):
            try:
                pod = await self._client.create(PODS, from_template(replica_set, template, f"{name}-"))
            except APIStatusError as error:
                await self._recorder.event(replica_set, "Warning", "FailedCreate", f"Error creating: {error}")
                raise
            self._pods_by_owner.remember(pod)
            created.append(pod)
            note = f"Created pod: {pod['metadata']['name']}"
            await self._recorder.event(replica_set, "Normal", "SuccessfulCreate", note)
        return created

    async def _stop(self, replica_set: Object, pods: list[Object]) -> set[str]:
        for pod in pods:
            metadata = pod["metadata"]
            try:
                await self._client.delete(PODS, metadata["name"], metadata["namespace"], uid=metadata["uid"])
            except APIStatusError as error:
                if error.reason not in ("NotFound", "Conflict"):
                    raise
            else:
                note = f"Deleted pod: {metadata['name']}"
                await self._recorder.event(replica_set, "Normal", "SuccessfulDelete", note)
        return {pod["metadata"]["uid"] for pod in pods}

    async def _update_status(self, replica_set: Object, active: list[Object]) -> None:
        ready = sum(is_ready(pod) for pod in active)
        counts = {
            "replicas": len(active),
            "fullyLabeledReplicas": len(active),
            "readyReplicas": ready,
            "availableReplicas": ready,
        }
        status = {name: count for name, count in counts.items() if count or name == "replicas"}
        status["observedGeneration"] = replica_set["metadata"]["generation"]
        if replica_set.get("status", {}) != status:
            await self._client.update(REPLICASETS, {**replica_set, "status": status}, subresource="status")

    def _set_changed(self, replica_set: Object) -> None:
        self._queue.add(key_of(replica_set))

    def _pod_changed(self, pod: Object) -> None:
        owner = controller_of(pod)
        if owner is not None and owner["kind"] == "ReplicaSet":
            self._queue.add(f"{pod['metadata']['namespace']}/{owner['name']}")


def _worth(pod: Object) -> tuple[bool, bool, bool]:
    """Order pods so that those come first that are missed least: not bound, not running, not ready."""
    return (bool(pod["spec"].get("nodeName")), phase(pod) == "Running", is_ready(pod))
