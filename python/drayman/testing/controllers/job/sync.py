"""One pass over a Job: count its pods, decide whether it has ended, start or stop pods, write the status."""

from __future__ import annotations

import copy
import itertools
from typing import TYPE_CHECKING, Any

from drayman.errors import APIStatusError
from drayman.kube.informer import key_of
from drayman.kube.resources import PODS
from drayman.testing.controllers.job import indexes, spec
from drayman.testing.controllers.job.backoff import remaining_delay, restarts_exceed
from drayman.testing.controllers.pods import is_active, is_ready, is_terminal, phase
from drayman.timestamps import parse_rfc3339, rfc3339

if TYPE_CHECKING:
    from drayman.kube.client import Object
    from drayman.testing.controllers.job.controller import JobController

MAX_PODS_PER_SYNC = 500
"""How many pods one pass starts or stops at most."""


class JobSync:
    """The state of one pass over `job`, which has not finished."""

    def __init__(self, controller: JobController, job: Object) -> None:
        self._controller = controller
        self._client = controller.client
        self._now = controller.clock.now()
        self._job = job
        self._status: dict[str, Any] = copy.deepcopy(job.get("status", {}))
        self._conditions: list[Object] = self._status.setdefault("conditions", [])
        self._pods = controller.pods_by_owner[job["metadata"]["uid"]]
        self._tracked = [
            pod for pod in self._pods if spec.has_finalizer(pod) and pod["metadata"]["uid"] not in controller.released
        ]
        self._active = [pod for pod in self._pods if is_active(pod)]
        self._stopped = 0
        self._uncounted: dict[str, list[str]] = self._status.get("uncountedTerminatedPods", {})
        self._completed = indexes.parse(self._status.get("completedIndexes", ""))
        self._failed = self._uncounted_of("failed", [pod for pod in self._tracked if self._is_failed(pod)])
        self._succeeded = self._uncounted_of("succeeded", [p for p in self._tracked if phase(p) == "Succeeded"])

    async def run(self) -> None:
        """Do the pass. Raises what the client raises; the next pass goes on from there."""
        if "startTime" not in self._status and not spec.is_suspended(self._job):
            self._status["startTime"] = rfc3339(self._now)
        if spec.is_indexed(self._job):
            self._completed |= {index for pod in self._succeeded if (index := self._index(pod)) is not None}
        ending = self._ending()
        if ending is not None:
            await self._stop(self._active)
        elif "deletionTimestamp" not in self._job["metadata"]:
            await self._adjust_pods()
            self._note_suspension()
            ending = self._completion()
        await self._write(ending)

    def _uncounted_of(self, kind: str, pods: list[Object]) -> list[Object]:
        """Return those of `pods` whose end is not in the status yet, neither counted nor about to be."""
        known = set(self._uncounted.get(kind, ()))
        return [pod for pod in pods if pod["metadata"]["uid"] not in known]

    def _is_failed(self, pod: Object) -> bool:
        """Tell whether `pod` failed; one that is deleted before it succeeded counts, unless only failed ones do."""
        if is_terminal(pod) or self._job["spec"].get("podReplacementPolicy") == "Failed":
            return phase(pod) == "Failed"
        return "deletionTimestamp" in pod["metadata"]

    def _index(self, pod: Object) -> int | None:
        index = spec.completion_index(pod)
        return index if index is not None and index < (spec.completions(self._job) or 0) else None

    def _successes(self) -> int:
        if spec.is_indexed(self._job):
            return len(self._completed)
        return int(self._status.get("succeeded", 0)) + len(self._uncounted.get("succeeded", ())) + len(self._succeeded)

    def _failures(self) -> int:
        return int(self._status.get("failed", 0)) + len(self._uncounted.get("failed", ())) + len(self._failed)

    def _ending(self) -> Object | None:
        """Return the interim condition of a job that is to end although pods may still run."""
        for type_ in ("SuccessCriteriaMet", "FailureTarget"):
            known = spec.condition(self._job, type_)
            if known is not None:
                return known
        limit = spec.backoff_limit(self._job)
        on_failure = self._job["spec"]["template"]["spec"].get("restartPolicy") == "OnFailure"
        if self._failures() > limit or (on_failure and restarts_exceed(limit, self._pods)):
            return self._condition(
                "FailureTarget", "BackoffLimitExceeded", "Job has reached the specified backoff limit"
            )
        deadline = self._job["spec"].get("activeDeadlineSeconds")
        if deadline is not None and "startTime" in self._status and not spec.is_suspended(self._job):
            left = deadline - (self._now - parse_rfc3339(self._status["startTime"])).total_seconds()
            if left <= 0:
                return self._condition(
                    "FailureTarget", "DeadlineExceeded", "Job was active longer than specified deadline"
                )
            self._controller.queue.add_after(f"job:{key_of(self._job)}", left)
        return None

    def _completion(self) -> Object | None:
        wanted = spec.completions(self._job)
        enough = self._successes() > 0 if wanted is None else self._successes() >= wanted
        if not enough or self._active:
            return None
        return self._condition("SuccessCriteriaMet", "CompletionsReached", "Reached expected number of succeeded pods")

    def _condition(self, type_: str, reason: str, message: str, status: str = "True") -> Object:
        moment = rfc3339(self._now)
        return {
            "type": type_,
            "status": status,
            "lastProbeTime": moment,
            "lastTransitionTime": moment,
            "reason": reason,
            "message": message,
        }

    async def _adjust_pods(self) -> None:
        surplus = len(self._active) - self._wanted()
        if surplus > 0:
            # Pods that are furthest from finishing go first.
            by_progress = sorted(self._active, key=lambda pod: (is_ready(pod), bool(pod["spec"].get("nodeName"))))
            await self._stop(by_progress[:surplus])
            return
        missing = -surplus
        if self._job["spec"].get("podReplacementPolicy") == "Failed":
            missing -= self._terminating()
        if missing <= 0:
            return
        failed = [pod for pod in self._pods if self._is_failed(pod)]
        delay = remaining_delay(failed, self._pods, self._now)
        if delay > 0:
            self._controller.queue.add_after(f"job:{key_of(self._job)}", delay)
            return
        await self._start(min(missing, MAX_PODS_PER_SYNC))

    def _wanted(self) -> int:
        """Return how many pods should be active."""
        if spec.is_suspended(self._job):
            return 0
        wanted = spec.completions(self._job)
        if wanted is None:
            return len(self._active) if self._successes() > 0 else spec.parallelism(self._job)
        return max(0, min(spec.parallelism(self._job), wanted - self._successes()))

    def _terminating(self) -> int:
        """Return how many pods are being deleted, those that this pass stopped included."""
        leaving = sum("deletionTimestamp" in pod["metadata"] and not is_terminal(pod) for pod in self._pods)
        return leaving + self._stopped

    async def _start(self, count: int) -> None:
        wanted: list[int | None] = [None] * count
        if spec.is_indexed(self._job):
            taken = self._completed | {index for pod in self._active if (index := self._index(pod)) is not None}
            free = (index for index in range(spec.completions(self._job) or 0) if index not in taken)
            wanted = list(itertools.islice(free, count))
        for index in wanted:
            try:
                created = await self._client.create(PODS, spec.new_pod(self._job, index))
            except APIStatusError as error:
                await self._controller.recorder.event(
                    self._job, "Warning", "FailedCreate", f"Error creating: {error}", action="CreatePod"
                )
                raise
            self._controller.pods_by_owner.remember(created)
            self._active.append(created)
            await self._controller.recorder.event(
                self._job, "Normal", "SuccessfulCreate", f"Created pod: {created['metadata']['name']}"
            )

    async def _stop(self, pods: list[Object]) -> None:
        for pod in pods:
            name = pod["metadata"]["name"]
            try:
                await self._client.delete(PODS, name, pod["metadata"]["namespace"], uid=pod["metadata"]["uid"])
            except APIStatusError as error:
                if error.reason not in ("NotFound", "Conflict"):
                    raise
            else:
                await self._controller.recorder.event(self._job, "Normal", "SuccessfulDelete", f"Deleted pod: {name}")
        stopped = {pod["metadata"]["uid"] for pod in pods}
        self._stopped += len(stopped)
        self._active = [pod for pod in self._active if pod["metadata"]["uid"] not in stopped]

    def _note_suspension(self) -> None:
        known = next((entry for entry in self._conditions if entry["type"] == "Suspended"), None)
        if spec.is_suspended(self._job):
            if known is None or known["status"] == "False":
                self._replace(self._condition("Suspended", "JobSuspended", "Job suspended"))
        elif known is not None and known["status"] == "True":
            self._replace(self._condition("Suspended", "JobResumed", "Job resumed", status="False"))
            self._status["startTime"] = rfc3339(self._now)

    async def _write(self, ending: Object | None) -> None:
        """Write what was counted in the order that survives a crash: note the ends, release the pods, add them up."""
        if ending is not None and spec.condition(self._job, ending["type"]) is None:
            self._replace(ending)
        failing = ending is not None and ending["type"] == "FailureTarget"
        ended = [pod for pod in self._tracked if is_terminal(pod) or self._is_failed(pod) or failing]
        failed = self._failed
        if failing:  # whatever still runs counts as failed
            failed = self._uncounted_of("failed", [pod for pod in ended if phase(pod) != "Succeeded"])
        self._note_ends(failed)
        job = await self._flush(self._job)
        for pod in ended:
            await self._controller.release(pod)
        self._add_up()
        if ending is not None:
            await self._finish(job, ending)
        else:
            await self._flush(job)

    def _note_ends(self, failed: list[Object]) -> None:
        tracked = {pod["metadata"]["uid"] for pod in self._tracked}
        for kind, counted in (("succeeded", self._succeeded), ("failed", failed)):
            earlier = [uid for uid in self._uncounted.get(kind, ()) if uid not in tracked]
            self._status[kind] = int(self._status.get(kind, 0)) + len(earlier)
            waiting = [uid for uid in self._uncounted.get(kind, ()) if uid in tracked]
            new = [] if kind == "succeeded" and spec.is_indexed(self._job) else counted
            self._uncounted[kind] = waiting + [pod["metadata"]["uid"] for pod in new]
        self._status |= {
            "active": len(self._active),
            "ready": sum(is_ready(pod) for pod in self._active),
            "terminating": self._terminating(),
        }
        if spec.is_indexed(self._job):
            self._status["completedIndexes"] = indexes.render(self._completed)
            self._status["succeeded"] = len(self._completed)
        self._status["uncountedTerminatedPods"] = {kind: uids for kind, uids in self._uncounted.items() if uids}

    def _add_up(self) -> None:
        for kind, uids in self._uncounted.items():
            self._status[kind] = int(self._status.get(kind, 0)) + len(uids)
        self._uncounted = {}
        self._status["uncountedTerminatedPods"] = {}

    async def _flush(self, job: Object) -> Object:
        """Write the status if it differs from what `job` has."""
        counts = ("active", "succeeded", "failed")  # left out when zero, as the API's serialization does
        status = {
            name: value
            for name, value in self._status.items()
            if value not in ([], None) and not (name in counts and value == 0)
        }
        if job.get("status", {}) == status:
            return job
        return await self._controller.update_status({**job, "status": status})

    async def _finish(self, job: Object, ending: Object) -> None:
        if self._terminating() > 0:
            await self._flush(job)
            return
        type_ = "Failed" if ending["type"] == "FailureTarget" else "Complete"
        self._replace(self._condition(type_, ending["reason"], ending["message"]))
        if type_ == "Complete":
            self._status["completionTime"] = rfc3339(self._now)
        await self._flush(job)
        if type_ == "Complete":
            await self._controller.recorder.event(self._job, "Normal", "Completed", "Job completed")
        else:
            await self._controller.recorder.event(self._job, "Warning", ending["reason"], ending["message"])

    def _replace(self, condition: Object) -> None:
        self._conditions[:] = [entry for entry in self._conditions if entry["type"] != condition["type"]]
        self._conditions.append(condition)
