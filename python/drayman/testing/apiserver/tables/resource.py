"""The columns of `resource.k8s.io` and of the workload kinds that go with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.testing.apiserver.tables.column import AGE, NAME, Column, Object, at, flag, number, since, text

if TYPE_CHECKING:
    import datetime as dt


def claim_state(claim: Object) -> str:
    """Return the STATE of a ResourceClaim, such as `pending` or `allocated,reserved`; `deleted` comes first."""
    deleted = "deletionTimestamp" in claim["metadata"]
    states = ["deleted"] if deleted else []
    if at(claim, "status.allocation") is None:
        states += [] if deleted else ["pending"]
    else:
        states.append("allocated")
        if at(claim, "status.reservedFor"):
            states.append("reserved")
    return ",".join(states)


CLAIMS = (NAME, Column("State", lambda claim, now: claim_state(claim)), AGE)
SLICES = (
    NAME,
    Column("Node", text("spec.nodeName")),
    Column("Driver", text("spec.driver")),
    Column("Pool", text("spec.pool.name")),
    AGE,
)


def _time_added(rule: Object, now: dt.datetime) -> str:
    added = at(rule, "spec.taint.timeAdded")
    return since(added, now) if added else ""


TAINT_RULES = (
    NAME,
    Column("Key", text("spec.taint.key")),
    Column("Value", text("spec.taint.value")),
    Column("Effect", text("spec.taint.effect")),
    Column("TimeAdded", _time_added),
    AGE,
)


def _group_policy(group: Object, now: dt.datetime) -> str:
    return "Basic" if at(group, "spec.schedulingPolicy.gang") is None else "Gang"


def _group_status(group: Object, now: dt.datetime) -> str:
    conditions = {condition.get("type"): condition for condition in at(group, "status.conditions", ())}
    if "DisruptionTarget" in conditions:
        return str(conditions["DisruptionTarget"].get("reason", ""))
    scheduled = conditions.get("PodGroupInitiallyScheduled")
    if scheduled is None:
        return "Pending"
    return "Scheduled" if scheduled.get("status") == "True" else "Unschedulable"


POD_GROUPS = (
    NAME,
    Column("Policy", _group_policy),
    Column("Workload", text("spec.workloadRef.workloadName", "<none>")),
    Column("Status", _group_status),
    AGE,
)

PRIORITY_CLASSES = (
    NAME,
    Column("Value", number("value"), "integer"),
    Column("Global-Default", flag("globalDefault"), "boolean"),
    AGE,
    Column("PreemptionPolicy", text("preemptionPolicy")),
)
