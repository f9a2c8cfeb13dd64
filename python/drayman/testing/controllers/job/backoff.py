"""How long a job waits after failures before it starts another pod."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.testing.controllers.pods import phase
from drayman.timestamps import parse_rfc3339

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence

    from drayman.kube.client import Object

FIRST_DELAY = 10.0
LONGEST_DELAY = 600.0
"""Seconds; the delay doubles with every failure since the last success."""


def finish_time(pod: Object) -> dt.datetime:
    """Return when `pod` ended: its last container, its deletion, or, when neither is known, its creation."""
    ends = [
        status["state"]["terminated"]["finishedAt"]
        for status in pod.get("status", {}).get("containerStatuses", ())
        if status.get("state", {}).get("terminated", {}).get("finishedAt")
    ]
    metadata = pod["metadata"]
    text = max(ends, default=None) or metadata.get("deletionTimestamp") or metadata["creationTimestamp"]
    return parse_rfc3339(text)


def remaining_delay(failed: Sequence[Object], pods: Sequence[Object], now: dt.datetime) -> float:
    """Return the seconds still to wait, given the job's `failed` pods among all its `pods`."""
    successes = [finish_time(pod) for pod in pods if phase(pod) == "Succeeded"]
    failures = [finish_time(pod) for pod in failed]
    if successes:
        failures = [moment for moment in failures if moment > max(successes)]
    if not failures:
        return 0.0
    delay: float = min(FIRST_DELAY * 2 ** min(len(failures) - 1, 10), LONGEST_DELAY)
    return max(0.0, delay - (now - max(failures)).total_seconds())


def restarts_exceed(limit: int, pods: Sequence[Object]) -> bool:
    """Tell whether containers restarted in place (restartPolicy OnFailure) use up the backoff limit."""
    restarts = sum(
        int(status.get("restartCount", 0))
        for pod in pods
        if phase(pod) in ("Running", "Pending")
        for kind in ("initContainerStatuses", "containerStatuses")
        for status in pod.get("status", {}).get(kind, ())
    )
    return restarts > 0 if limit == 0 else restarts >= limit
