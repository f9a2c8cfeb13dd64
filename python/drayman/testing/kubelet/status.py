"""The status of a pod as a kubelet reports it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from drayman.timestamps import rfc3339

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence

    from drayman.kube.client import Object


@dataclass(slots=True)
class ContainerStatus:
    """What is to be reported about one container."""

    name: str
    image: str
    pod_uid: str
    restarts: int = 0
    state: dict[str, Any] = field(default_factory=lambda: {"waiting": {"reason": "ContainerCreating"}})
    last_state: dict[str, Any] = field(default_factory=dict)
    health: list[dict[str, Any]] = field(default_factory=list)
    """`allocatedResourcesStatus`: the health of the devices of each claim."""

    @property
    def container_id(self) -> str:
        """An identifier that is new after every restart."""
        digest = hashlib.sha256(f"{self.pod_uid}/{self.name}/{self.restarts}".encode()).hexdigest()
        return f"drayman://{digest}"

    def wait(self, reason: str, message: str = "") -> None:
        """The container waits, because of `reason`."""
        self.state = {"waiting": {"reason": reason, **({"message": message} if message else {})}}

    def run(self, now: dt.datetime) -> None:
        """The container has started."""
        self.state = {"running": {"startedAt": rfc3339(now)}}

    def end(self, now: dt.datetime, exit_code: int) -> None:
        """The container has ended."""
        started = self.state.get("running", {}).get("startedAt", rfc3339(now))
        self.state = {
            "terminated": {
                "exitCode": exit_code,
                "reason": "Completed" if exit_code == 0 else "Error",
                "startedAt": started,
                "finishedAt": rfc3339(now),
                "containerID": self.container_id,
            }
        }

    def restart(self) -> None:
        """The container is going to start once more."""
        self.last_state = self.state
        self.restarts += 1

    @property
    def is_running(self) -> bool:
        """Whether it runs."""
        return "running" in self.state

    @property
    def exit_code(self) -> int | None:
        """The exit code of a container that has ended."""
        terminated = self.state.get("terminated")
        return None if terminated is None else int(terminated["exitCode"])

    def render(self, *, ready: bool) -> dict[str, Any]:
        """Return the entry of `containerStatuses`."""
        started = self.is_running or self.exit_code is not None
        rendered = {
            "name": self.name,
            "image": self.image,
            "imageID": image_id(self.image) if started else "",
            "restartCount": self.restarts,
            "ready": ready,
            "started": self.is_running,
            "state": self.state,
            "lastState": self.last_state,
        }
        if started:
            rendered["containerID"] = self.container_id
        if self.health:
            rendered["allocatedResourcesStatus"] = self.health
        return rendered


def image_id(image: str) -> str:
    """Return the identity of an image that is never pulled."""
    return f"{image.partition('@')[0]}@sha256:{hashlib.sha256(image.encode()).hexdigest()}"


@dataclass(frozen=True, slots=True)
class PodFacts:
    """What the status of a pod is made of."""

    phase: str
    sandbox: bool
    """Whether the pod has got as far as its containers: devices prepared, network there."""
    initialized: bool
    containers: Sequence[ContainerStatus]
    init_containers: Sequence[ContainerStatus]
    host_ip: str
    pod_ip: str
    start_time: dt.datetime


def pod_status(pod: Object, facts: PodFacts, now: dt.datetime) -> dict[str, Any]:
    """Return the members of the pod's status that a kubelet owns, as a strategic merge patch understands them."""
    done = facts.phase in ("Succeeded", "Failed")
    ready = facts.phase == "Running" and all(container.is_running for container in facts.containers)
    status: dict[str, Any] = {
        "phase": facts.phase,
        "conditions": _conditions(pod, facts, ready=ready, now=now),
        "hostIP": facts.host_ip,
        "hostIPs": [{"ip": facts.host_ip}],
        "startTime": rfc3339(facts.start_time),
        "containerStatuses": [
            container.render(ready=facts.phase == "Running" and container.is_running) for container in facts.containers
        ],
    }
    if facts.init_containers:
        status["initContainerStatuses"] = [
            container.render(ready=container.exit_code == 0 or (container.is_running and not done))
            for container in facts.init_containers
        ]
    if facts.sandbox:
        status |= {"podIP": facts.pod_ip, "podIPs": [{"ip": facts.pod_ip}]}
    return status


def _conditions(pod: Object, facts: PodFacts, *, ready: bool, now: dt.datetime) -> list[dict[str, Any]]:
    done = facts.phase in ("Succeeded", "Failed")
    not_ready = _not_ready(facts)
    initialized = "" if facts.initialized else "ContainersNotInitialized"
    if facts.phase == "Succeeded":
        initialized = "PodCompleted"
    wanted = {
        "PodReadyToStartContainers": (facts.sandbox and not done, ""),
        "Initialized": (facts.initialized, initialized),
        "Ready": (ready, not_ready),
        "ContainersReady": (ready, not_ready),
    }
    known = {condition["type"]: condition for condition in pod.get("status", {}).get("conditions", ())}
    conditions = []
    for type_, (holds, reason) in wanted.items():
        status = "True" if holds else "False"
        earlier = known.get(type_, {})
        since = earlier.get("lastTransitionTime") if earlier.get("status") == status else None
        shown = reason if not holds or reason == "PodCompleted" else ""
        condition = {
            "type": type_,
            "status": status,
            "lastTransitionTime": since or rfc3339(now),
            # None takes away what an earlier status said: conditions are merged by type.
            "reason": shown or None,
            "message": _message(facts, shown) or None,
        }
        conditions.append(condition)
    return conditions


def _not_ready(facts: PodFacts) -> str:
    return {"Succeeded": "PodCompleted", "Failed": "PodFailed"}.get(facts.phase, "ContainersNotReady")


def _message(facts: PodFacts, reason: str) -> str:
    if reason == "ContainersNotReady":
        names = [container.name for container in facts.containers if not container.is_running]
        return f"containers with unready status: [{' '.join(names)}]"
    if reason == "ContainersNotInitialized":
        names = [container.name for container in facts.init_containers if container.exit_code != 0]
        return f"containers with incomplete status: [{' '.join(names)}]"
    return ""
