"""What a Job asks for, with the API's defaults, and the pods that it wants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drayman.testing.controllers.pods import from_template

if TYPE_CHECKING:
    from drayman.kube.client import Object

TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking"
COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"


def parallelism(job: Object) -> int:
    """Return how many pods may run at a time."""
    return int(job["spec"].get("parallelism", 1))


def completions(job: Object) -> int | None:
    """Return how many pods must succeed; None: the first success ends the job (a work queue)."""
    spec = job["spec"]
    if spec.get("completions") is not None:
        return int(spec["completions"])
    return None if "parallelism" in spec else 1


def backoff_limit(job: Object) -> int:
    """Return how many failures are put up with."""
    return int(job["spec"].get("backoffLimit", 6))


def is_indexed(job: Object) -> bool:
    """Tell whether every completion has an index of its own."""
    return bool(job["spec"].get("completionMode") == "Indexed")


def is_suspended(job: Object) -> bool:
    """Tell whether the job is told to rest."""
    return bool(job["spec"].get("suspend"))


def condition(job: Object, type_: str) -> Object | None:
    """Return the condition `type_` of the job if it is true."""
    for entry in job.get("status", {}).get("conditions", ()):
        if entry["type"] == type_ and entry["status"] == "True":
            return dict(entry)
    return None


def finished_condition(job: Object) -> Object | None:
    """Return the condition that ended the job for good."""
    return condition(job, "Complete") or condition(job, "Failed")


def completion_index(pod: Object) -> int | None:
    """Return the index that `pod` works on."""
    text = str(pod["metadata"].get("annotations", {}).get(COMPLETION_INDEX, ""))
    return int(text) if text.isdecimal() else None


def has_finalizer(pod: Object) -> bool:
    """Tell whether the end of `pod` is still to be counted."""
    return TRACKING_FINALIZER in pod["metadata"].get("finalizers", ())


def new_pod(job: Object, index: int | None) -> Object:
    """Return a pod of `job`, for completion `index` where completions have one."""
    uid, name = job["metadata"]["uid"], job["metadata"]["name"]
    pod = from_template(job, job["spec"]["template"], f"{name}-" if index is None else f"{name}-{index}-")
    metadata, spec = pod["metadata"], pod["spec"]
    metadata["finalizers"] = [*metadata.get("finalizers", ()), TRACKING_FINALIZER]
    metadata["labels"] = {
        **metadata.get("labels", {}),
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name,
        "controller-uid": uid,
        "job-name": name,
    }
    if index is not None:
        metadata["labels"][COMPLETION_INDEX] = str(index)
        metadata["annotations"] = {**metadata.get("annotations", {}), COMPLETION_INDEX: str(index)}
        spec["hostname"] = f"{name}-{index}"
        for container in [*spec.get("initContainers", ()), *spec["containers"]]:
            _add_index_variable(container)
    return pod


def _add_index_variable(container: dict[str, Any]) -> None:
    variables = container.setdefault("env", [])
    if all(variable["name"] != "JOB_COMPLETION_INDEX" for variable in variables):
        path = f"metadata.labels['{COMPLETION_INDEX}']"
        variables.append({"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": {"fieldPath": path}}})
