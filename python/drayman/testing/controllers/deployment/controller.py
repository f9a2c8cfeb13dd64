"""Keeps the ReplicaSets of Deployments."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from drayman.errors import APIStatusError
from drayman.kube.informer import key_of
from drayman.kube.resources import DEPLOYMENTS, REPLICASETS
from drayman.resourceclaim import controller_of
from drayman.testing.controllers.context import Index
from drayman.testing.controllers.deployment.rollout import HASH_LABEL, Limits, scale, template_hash
from drayman.testing.controllers.pods import owned_by, owner_uids
from drayman.testing.controllers.queue import WorkQueue
from drayman.timestamps import rfc3339

if TYPE_CHECKING:
    from drayman.kube.client import Object
    from drayman.testing.controllers.context import Context

REVISION = "deployment.kubernetes.io/revision"


class DeploymentController:
    """Creates a ReplicaSet for every version of a Deployment's template and moves pods from old to new."""

    def __init__(self, context: Context) -> None:
        self._client = context.client
        self._clock = context.clock
        self._recorder = context.recorder("deployment-controller")
        self._queue = WorkQueue(context.clock, "deployment")
        deployments, sets = context.informer(DEPLOYMENTS), context.informer(REPLICASETS)
        self._deployments = deployments.store
        self._sets_by_owner = Index(sets, owner_uids)
        deployments.add_handler(self._deployment_changed, lambda _, new: self._deployment_changed(new))
        sets.add_handler(self._set_changed, lambda _, new: self._set_changed(new), self._set_changed)

    async def run(self) -> None:
        """Work until cancelled."""
        await self._queue.run(self._sync)

    async def _sync(self, key: str) -> None:
        deployment = self._deployments.get(key)
        if deployment is None or "deletionTimestamp" in deployment["metadata"]:
            return
        sets = sorted(self._sets_by_owner[deployment["metadata"]["uid"]], key=_revision)
        new = next((one for one in reversed(sets) if _has_template(one, deployment["spec"]["template"])), None)
        if new is None:
            new = await self._create(deployment, _revision(sets[-1]) + 1 if sets else 1)
            sets.append(new)
        old = [one for one in sets if one is not new]
        if not deployment["spec"].get("paused"):
            await self._roll_out(deployment, new, old)
        await self._forget_old(deployment, old)
        await self._update_status(deployment, new, sets)

    async def _create(self, deployment: Object, revision: int) -> Object:
        metadata, spec = deployment["metadata"], deployment["spec"]
        digest = template_hash(spec["template"])
        template = copy.deepcopy(spec["template"])
        template.setdefault("metadata", {}).setdefault("labels", {})[HASH_LABEL] = digest
        selector = copy.deepcopy(spec["selector"])
        selector.setdefault("matchLabels", {})[HASH_LABEL] = digest
        wanted = {
            "apiVersion": REPLICASETS.api_version,
            "kind": REPLICASETS.kind,
            "metadata": {
                "name": f"{metadata['name']}-{digest}",
                "namespace": metadata["namespace"],
                "labels": template["metadata"]["labels"],
                "annotations": {REVISION: str(revision)},
                "ownerReferences": [owned_by(deployment)],
            },
            "spec": {"replicas": 0, "selector": selector, "template": template},
        }
        created = await self._client.create(REPLICASETS, wanted)
        self._sets_by_owner.remember(created)
        return created

    async def _roll_out(self, deployment: Object, new: Object, old: list[Object]) -> None:
        replicas = int(deployment["spec"].get("replicas", 1))
        recreate = deployment["spec"].get("strategy", {}).get("type") == "Recreate"
        wanted = scale(replicas, Limits.of(deployment), new, old, recreate=recreate)
        for one in (new, *old):
            name, current = one["metadata"]["name"], int(one["spec"].get("replicas", 1))
            if wanted[name] == current:
                continue
            await self._client.update(REPLICASETS, {**one, "spec": {**one["spec"], "replicas": wanted[name]}})
            direction = "up" if wanted[name] > current else "down"
            note = f"Scaled {direction} replica set {name} from {current} to {wanted[name]}"
            await self._recorder.event(deployment, "Normal", "ScalingReplicaSet", note)

    async def _forget_old(self, deployment: Object, old: list[Object]) -> None:
        """Delete ReplicaSets without pods beyond the history limit, oldest first."""
        limit = deployment["spec"].get("revisionHistoryLimit", 10)
        empty = [one for one in old if not one["spec"].get("replicas") and not one.get("status", {}).get("replicas")]
        for one in empty[: max(0, len(empty) - limit)]:
            metadata = one["metadata"]
            try:
                await self._client.delete(REPLICASETS, metadata["name"], metadata["namespace"], uid=metadata["uid"])
            except APIStatusError as error:
                if error.reason != "NotFound":
                    raise

    async def _update_status(self, deployment: Object, new: Object, sets: list[Object]) -> None:
        replicas = int(deployment["spec"].get("replicas", 1))
        available = _total(sets, "availableReplicas")
        counts = {
            "replicas": _total(sets, "replicas"),
            "updatedReplicas": _total([new], "replicas"),
            "readyReplicas": _total(sets, "readyReplicas"),
            "availableReplicas": available,
            "unavailableReplicas": max(0, replicas - available),
        }
        status: dict[str, Any] = {name: count for name, count in counts.items() if count}
        status["observedGeneration"] = deployment["metadata"]["generation"]
        enough = available >= replicas - Limits.of(deployment).unavailable
        complete = counts["updatedReplicas"] == counts["replicas"] == replicas == available
        status["conditions"] = self._conditions(deployment, new["metadata"]["name"], enough=enough, complete=complete)
        if deployment.get("status", {}) != status:
            await self._client.update(DEPLOYMENTS, {**deployment, "status": status}, subresource="status")

    def _conditions(self, deployment: Object, new: str, *, enough: bool, complete: bool) -> list[Object]:
        known = {entry["type"]: entry for entry in deployment.get("status", {}).get("conditions", ())}
        available = ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
        if not enough:
            available = ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
        progressing = ("True", "NewReplicaSetAvailable", f'ReplicaSet "{new}" has successfully progressed.')
        if not complete:
            progressing = ("True", "ReplicaSetUpdated", f'ReplicaSet "{new}" is progressing.')
        conditions = []
        for type_, (status, reason, message) in (("Available", available), ("Progressing", progressing)):
            wanted = {"type": type_, "status": status, "reason": reason, "message": message}
            earlier = known.get(type_, {})
            if all(earlier.get(name) == value for name, value in wanted.items()):
                conditions.append(earlier)
                continue
            now = rfc3339(self._clock.now())
            since = earlier["lastTransitionTime"] if earlier.get("status") == status else now
            conditions.append({**wanted, "lastUpdateTime": now, "lastTransitionTime": since})
        return conditions

    def _deployment_changed(self, deployment: Object) -> None:
        self._queue.add(key_of(deployment))

    def _set_changed(self, replica_set: Object) -> None:
        owner = controller_of(replica_set)
        if owner is not None and owner["kind"] == "Deployment":
            self._queue.add(f"{replica_set['metadata']['namespace']}/{owner['name']}")


def _revision(replica_set: Object) -> int:
    text = replica_set["metadata"].get("annotations", {}).get(REVISION, "0")
    return int(text) if text.isdecimal() else 0


def _has_template(replica_set: Object, template: Object) -> bool:
    """Tell whether `replica_set` was made for `template`: they agree but for the hash label."""
    digest = template_hash(template)
    labels = replica_set["spec"]["template"].get("metadata", {}).get("labels", {})
    return bool(labels.get(HASH_LABEL) == digest)


def _total(sets: list[Object], member: str) -> int:
    return sum(int(one.get("status", {}).get(member, 0)) for one in sets)
