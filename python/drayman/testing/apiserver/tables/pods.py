"""The columns of pods: `printPod` of upstream's `pkg/printers/internalversion`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman.testing.apiserver.tables.column import AGE, NAME, Column, Object, at, since, text

if TYPE_CHECKING:
    import datetime as dt

_TERMINAL = ("Succeeded", "Failed")


@dataclass(slots=True)
class _Summary:
    """What the columns Ready, Status and Restarts say."""

    reason: str
    total: int
    ready: int = 0
    restarts: int = 0
    last_restart: str = ""
    initializing: bool = False

    def restarted(self, container: Object) -> None:
        """Count the restarts of a container."""
        self.restarts += int(container.get("restartCount", 0))
        finished = at(container, "lastState.terminated.finishedAt", "")
        self.last_restart = max(self.last_restart, finished)


def _summarize(pod: Object) -> _Summary:
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    conditions = status.get("conditions") or []
    sidecars = [
        container["name"]
        for container in spec.get("initContainers") or ()
        if container.get("restartPolicy") == "Always"
    ]
    reason = status.get("reason") or status.get("phase") or ""
    if any(at(c, "type") == "PodScheduled" and at(c, "reason") == "SchedulingGated" for c in conditions):
        reason = "SchedulingGated"
    summary = _Summary(reason, len(spec.get("containers") or ()) + len(sidecars))
    sidecar_restarts = _Summary("", 0)
    _add_init_containers(summary, sidecar_restarts, spec, status, sidecars)
    if not summary.initializing or _is_true(conditions, "Initialized"):
        summary.restarts, summary.last_restart = sidecar_restarts.restarts, sidecar_restarts.last_restart
        _add_containers(summary, status, conditions)
    if pod["metadata"].get("deletionTimestamp"):
        if status.get("reason") == "NodeLost":
            summary.reason = "Unknown"
        elif status.get("phase") not in _TERMINAL:
            summary.reason = "Terminating"
    return summary


def _add_init_containers(
    summary: _Summary, sidecar_restarts: _Summary, spec: Object, status: Object, sidecars: list[str]
) -> None:
    """Count init containers up to the first one that is not done, which then gives the status."""
    for position, container in enumerate(status.get("initContainerStatuses") or ()):
        summary.restarted(container)
        sidecar = container.get("name") in sidecars
        if sidecar:
            sidecar_restarts.restarted(container)
        terminated, waiting = at(container, "state.terminated"), at(container, "state.waiting.reason", "")
        if terminated is not None and not terminated.get("exitCode"):
            continue
        if sidecar and container.get("started"):
            summary.ready += bool(container.get("ready"))
            continue
        if terminated is not None:
            summary.reason = f"Init:{_termination(terminated)}"
        elif waiting and waiting != "PodInitializing":
            summary.reason = f"Init:{waiting}"
        else:
            summary.reason = f"Init:{position}/{len(spec.get('initContainers') or ())}"
        summary.initializing = True
        return


def _add_containers(summary: _Summary, status: Object, conditions: list[Object]) -> None:
    running, error = False, ""
    for container in reversed(status.get("containerStatuses") or ()):
        summary.restarted(container)
        state = container.get("state") or {}
        if at(state, "waiting.reason"):
            summary.reason = state["waiting"]["reason"]
        elif state.get("terminated") is not None:
            summary.reason = _termination(state["terminated"])
            if state["terminated"].get("exitCode"):
                error = summary.reason
        elif container.get("ready") and state.get("running") is not None:
            running = True
            summary.ready += 1
    if summary.reason == "Completed":
        if running and _is_true(conditions, "Ready"):
            summary.reason = "Running"
        elif error:
            summary.reason = error
        elif running:
            summary.reason = "NotReady"


def _termination(terminated: Object) -> str:
    if terminated.get("reason"):
        return str(terminated["reason"])
    if terminated.get("signal"):
        return f"Signal:{terminated['signal']}"
    return f"ExitCode:{terminated.get('exitCode', 0)}"


def _is_true(conditions: list[Object], kind: str) -> bool:
    return any(condition.get("type") == kind and condition.get("status") == "True" for condition in conditions)


def _ready(pod: Object, now: dt.datetime) -> str:
    summary = _summarize(pod)
    return f"{summary.ready}/{summary.total}"


def _status(pod: Object, now: dt.datetime) -> str:
    return _summarize(pod).reason


def _restarts(pod: Object, now: dt.datetime) -> str:
    summary = _summarize(pod)
    if not summary.restarts or not summary.last_restart:
        return str(summary.restarts)
    return f"{summary.restarts} ({since(summary.last_restart, now)} ago)"


def _ip(pod: Object, now: dt.datetime) -> str:
    addresses: list[Any] = at(pod, "status.podIPs", [])
    return str(at(addresses[0], "ip", "<none>")) if addresses else "<none>"


def _readiness_gates(pod: Object, now: dt.datetime) -> str:
    gates = [gate.get("conditionType") for gate in at(pod, "spec.readinessGates", ())]
    conditions = at(pod, "status.conditions", [])
    passed = sum(_is_true(conditions, gate) for gate in gates)
    return f"{passed}/{len(gates)}" if gates else "<none>"


PODS = (
    NAME,
    Column("Ready", _ready),
    Column("Status", _status),
    Column("Restarts", _restarts),
    AGE,
    Column("IP", _ip, wide=True),
    Column("Node", text("spec.nodeName", "<none>"), wide=True),
    Column("Nominated Node", text("status.nominatedNodeName", "<none>"), wide=True),
    Column("Readiness Gates", _readiness_gates, wide=True),
)
