"""Which change makes work for which Job, and the care for pods whose Job is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman import resourceclaim
from drayman.errors import APIStatusError
from drayman.kube.informer import key_of
from drayman.kube.resources import JOBS, PODS
from drayman.testing.controllers.context import Index
from drayman.testing.controllers.job.spec import TRACKING_FINALIZER, finished_condition, has_finalizer
from drayman.testing.controllers.job.sync import JobSync
from drayman.testing.controllers.pods import owner_uids
from drayman.testing.controllers.queue import WorkQueue
from drayman.timestamps import parse_rfc3339

if TYPE_CHECKING:
    from drayman.kube.client import Object
    from drayman.testing.controllers.context import Context


class JobController:
    """Runs the pods of batch/v1 Jobs and counts their ends.

    A pod keeps a finalizer until its end is in the Job's status, so that no end is lost or counted twice, whatever is
    deleted or restarted in between.
    """

    def __init__(self, context: Context) -> None:
        self.client = context.client
        self.clock = context.clock
        self.recorder = context.recorder("job-controller")
        self.queue = WorkQueue(context.clock, "job")
        self.released: set[str] = set()
        """Pods whose finalizer was removed, until the watch shows that."""
        pods, jobs = context.informer(PODS), context.informer(JOBS)
        self._pods, self._jobs = pods.store, jobs.store
        self.pods_by_owner = Index(pods, owner_uids)
        self._job_versions: dict[str, int] = {}
        pods.add_handler(self._pod_changed, lambda _, new: self._pod_changed(new), self._pod_deleted)
        jobs.add_handler(self._job_changed, lambda _, new: self._job_changed(new), self._job_deleted)

    async def run(self) -> None:
        """Work until cancelled."""
        await self.queue.run(self._sync)

    async def update_status(self, job: Object) -> Object:
        """Write the status of `job`, and hold back its next sync until the watch has shown the write."""
        updated = await self.client.update(JOBS, job, subresource="status")
        self._job_versions[key_of(job)] = int(updated["metadata"]["resourceVersion"])
        return updated

    async def release(self, pod: Object) -> None:
        """Remove the tracking finalizer of `pod`, whose end is counted."""
        metadata = pod["metadata"]
        finalizers = [name for name in metadata["finalizers"] if name != TRACKING_FINALIZER]
        patch = {"metadata": {"uid": metadata["uid"], "finalizers": finalizers or None}}
        self.released.add(metadata["uid"])
        try:
            await self.client.patch(PODS, metadata["name"], metadata["namespace"], patch)
        except APIStatusError as error:
            if error.reason != "NotFound":
                self.released.discard(metadata["uid"])
                raise

    async def _sync(self, item: str) -> None:
        kind, _, key = item.partition(":")
        if kind == "orphan":
            pod = self._pods.get(key)
            if pod is not None and has_finalizer(pod) and not self._has_job(pod):
                await self.release(pod)
            return
        job = self._jobs.get(key)
        if job is None or int(job["metadata"]["resourceVersion"]) < self._job_versions.get(key, 0):
            return
        finished = finished_condition(job)
        if finished is None:
            await JobSync(self, job).run()
        else:
            await self._expire(job, finished)

    async def _expire(self, job: Object, finished: Object) -> None:
        """Delete a finished job when its `ttlSecondsAfterFinished` is over."""
        ttl = job["spec"].get("ttlSecondsAfterFinished")
        if ttl is None or "deletionTimestamp" in job["metadata"]:
            return
        age = (self.clock.now() - parse_rfc3339(finished["lastTransitionTime"])).total_seconds()
        if age < ttl:
            self.queue.add_after(f"job:{key_of(job)}", ttl - age)
            return
        metadata = job["metadata"]
        await self.client.delete(
            JOBS, metadata["name"], metadata["namespace"], uid=metadata["uid"], propagation_policy="Background"
        )

    def _job_changed(self, job: Object) -> None:
        self.queue.add(f"job:{key_of(job)}")

    def _job_deleted(self, job: Object) -> None:
        self._job_versions.pop(key_of(job), None)
        for pod in self.pods_by_owner[job["metadata"]["uid"]]:
            self.queue.add(f"orphan:{key_of(pod)}")

    def _pod_changed(self, pod: Object) -> None:
        owner = resourceclaim.controller_of(pod)
        if owner is None or owner["kind"] != "Job":
            return
        if not has_finalizer(pod):
            self.released.discard(pod["metadata"]["uid"])
        if self._has_job(pod):
            self.queue.add(f"job:{pod['metadata']['namespace']}/{owner['name']}")
        elif has_finalizer(pod):
            self.queue.add(f"orphan:{key_of(pod)}")

    def _pod_deleted(self, pod: Object) -> None:
        self.released.discard(pod["metadata"]["uid"])
        owner = resourceclaim.controller_of(pod)
        if owner is not None and owner["kind"] == "Job":
            self.queue.add(f"job:{pod['metadata']['namespace']}/{owner['name']}")

    def _has_job(self, pod: Object) -> bool:
        owner = resourceclaim.controller_of(pod)
        if owner is None:
            return False
        job = self._jobs.get(f"{pod['metadata']['namespace']}/{owner['name']}")
        return job is not None and job["metadata"]["uid"] == owner["uid"]
