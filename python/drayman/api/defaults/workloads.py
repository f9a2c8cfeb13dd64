"""Defaults of the kinds that make pods: Job, CronJob, Deployment, ReplicaSet, StatefulSet, DaemonSet."""

from __future__ import annotations

from typing import Any

from drayman.api.defaults.access import fill, fill_empty, mapping, nested
from drayman.api.defaults.pods import pod_template

_MAX_INT32 = 2**31 - 1


def job(obj: dict[str, Any]) -> None:
    """Fill a Job."""
    spec = nested(obj, "spec")
    labels = mapping(spec, "template", "metadata").get("labels")
    if isinstance(labels, dict) and not mapping(obj, "metadata").get("labels"):
        nested(obj, "metadata")["labels"] = dict(labels)
    _job_spec(spec)
    pod_template(spec)


def _job_spec(spec: dict[str, Any]) -> None:
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    fill(
        spec,
        parallelism=1,
        backoffLimit=6 if spec.get("backoffLimitPerIndex") is None else _MAX_INT32,
        completionMode="NonIndexed",
        suspend=False,
        podReplacementPolicy="TerminatingOrFailed" if spec.get("podFailurePolicy") is None else "Failed",
        manualSelector=False,
    )


def cron_job(obj: dict[str, Any]) -> None:
    """Fill a CronJob and the pod template in its Job template."""
    spec = nested(obj, "spec")
    fill_empty(spec, concurrencyPolicy="Allow")
    fill(spec, suspend=False, successfulJobsHistoryLimit=3, failedJobsHistoryLimit=1)
    pod_template(nested(nested(spec, "jobTemplate"), "spec"))


def deployment(obj: dict[str, Any]) -> None:
    """Fill a Deployment."""
    spec = nested(obj, "spec")
    fill(spec, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600)
    strategy = nested(spec, "strategy")
    fill_empty(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        fill(nested(strategy, "rollingUpdate"), maxUnavailable="25%", maxSurge="25%")
    pod_template(spec)


def replica_set(obj: dict[str, Any]) -> None:
    """Fill a ReplicaSet."""
    spec = nested(obj, "spec")
    fill(spec, replicas=1)
    pod_template(spec)


def stateful_set(obj: dict[str, Any]) -> None:
    """Fill a StatefulSet."""
    spec = nested(obj, "spec")
    fill_empty(spec, podManagementPolicy="OrderedReady")
    fill(spec, replicas=1, revisionHistoryLimit=10)
    strategy = nested(spec, "updateStrategy")
    if not strategy.get("type"):
        fill(strategy, rollingUpdate={})
        strategy["type"] = "RollingUpdate"
    if strategy["type"] == "RollingUpdate" and isinstance(strategy.get("rollingUpdate"), dict):
        fill(strategy["rollingUpdate"], partition=0)
    fill_empty(nested(spec, "persistentVolumeClaimRetentionPolicy"), whenDeleted="Retain", whenScaled="Retain")
    pod_template(spec)


def daemon_set(obj: dict[str, Any]) -> None:
    """Fill a DaemonSet."""
    spec = nested(obj, "spec")
    fill(spec, revisionHistoryLimit=10)
    strategy = nested(spec, "updateStrategy")
    fill_empty(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        fill(nested(strategy, "rollingUpdate"), maxUnavailable=1, maxSurge=0)
    pod_template(spec)
