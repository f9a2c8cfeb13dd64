"""The columns of what makes pods: Deployments, ReplicaSets, Jobs and their like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.testing.apiserver.tables.column import (
    AGE,
    NAME,
    Column,
    Object,
    at,
    count,
    duration,
    label_selector,
    labels,
    number,
    since,
    text,
)
from drayman.timestamps import parse_rfc3339

if TYPE_CHECKING:
    import datetime as dt

_JOB_STATES = ("Suspended", "FailureTarget", "SuccessCriteriaMet")


def _containers(template: str = "spec.template") -> tuple[Column, Column]:
    """Return the wide columns with names and images of the containers of the pod template at `template`."""

    def joined(obj: Object, name: str) -> str:
        return ",".join(str(container.get(name, "")) for container in at(obj, f"{template}.spec.containers", ()))

    return (
        Column("Containers", lambda obj, now: joined(obj, "name"), wide=True),
        Column("Images", lambda obj, now: joined(obj, "image"), wide=True),
    )


def _ready(obj: Object, now: dt.datetime) -> str:
    return f"{at(obj, 'status.readyReplicas', 0)}/{at(obj, 'spec.replicas', 0)}"


_SELECTOR = Column("Selector", label_selector("spec.selector"), wide=True)
_REPLICAS = (
    NAME,
    Column("Desired", number("spec.replicas"), "integer"),
    Column("Current", number("status.replicas"), "integer"),
    Column("Ready", number("status.readyReplicas"), "integer"),
    AGE,
    *_containers(),
)

DEPLOYMENTS = (
    NAME,
    Column("Ready", _ready),
    Column("Up-to-date", number("status.updatedReplicas")),
    Column("Available", number("status.availableReplicas")),
    AGE,
    *_containers(),
    _SELECTOR,
)
REPLICA_SETS = (*_REPLICAS, _SELECTOR)
REPLICATION_CONTROLLERS = (*_REPLICAS, Column("Selector", labels("spec.selector"), wide=True))
STATEFUL_SETS = (NAME, Column("Ready", _ready), AGE, *_containers())
DAEMON_SETS = (
    NAME,
    Column("Desired", number("status.desiredNumberScheduled"), "integer"),
    Column("Current", number("status.currentNumberScheduled"), "integer"),
    Column("Ready", number("status.numberReady"), "integer"),
    Column("Up-to-date", number("status.updatedNumberScheduled"), "integer"),
    Column("Available", number("status.numberAvailable"), "integer"),
    Column("Node Selector", labels("spec.template.spec.nodeSelector")),
    AGE,
    *_containers(),
    _SELECTOR,
)


def _job_status(job: Object, now: dt.datetime) -> str:
    true = [c.get("type") for c in at(job, "status.conditions", ()) if c.get("status") == "True"]
    if "Complete" in true:
        return "Complete"
    if "Failed" in true:
        return "Failed"
    if job["metadata"].get("deletionTimestamp"):
        return "Terminating"
    return next((state for state in _JOB_STATES if state in true), "Running")


def _completions(job: Object, now: dt.datetime) -> str:
    succeeded, completions = at(job, "status.succeeded", 0), at(job, "spec.completions")
    if completions is not None:
        return f"{succeeded}/{completions}"
    parallelism = at(job, "spec.parallelism", 0)
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _job_duration(job: Object, now: dt.datetime) -> str:
    start, end = at(job, "status.startTime"), at(job, "status.completionTime")
    if start is None:
        return ""
    return duration((parse_rfc3339(end) if end else now) - parse_rfc3339(start))


JOBS = (
    NAME,
    Column("Status", _job_status),
    Column("Completions", _completions),
    Column("Duration", _job_duration),
    AGE,
    *_containers(),
    _SELECTOR,
)


def _suspend(cron_job: Object, now: dt.datetime) -> str:
    value = at(cron_job, "spec.suspend")
    return "<unset>" if value is None else str(value)


def _last_schedule(cron_job: Object, now: dt.datetime) -> str:
    last = at(cron_job, "status.lastScheduleTime")
    return since(last, now) if last else "<none>"


CRON_JOBS = (
    NAME,
    Column("Schedule", text("spec.schedule")),
    Column("Timezone", text("spec.timeZone", "<none>")),
    Column("Suspend", _suspend, "boolean"),
    Column("Active", count("status.active"), "integer"),
    Column("Last Schedule", _last_schedule),
    AGE,
    *_containers("spec.jobTemplate.spec.template"),
    Column("Selector", label_selector("spec.jobTemplate.spec.selector"), wide=True),
)

POD_DISRUPTION_BUDGETS = (
    NAME,
    Column("Min Available", text("spec.minAvailable", "N/A")),
    Column("Max Unavailable", text("spec.maxUnavailable", "N/A")),
    Column("Allowed Disruptions", number("status.disruptionsAllowed"), "integer"),
    AGE,
)
