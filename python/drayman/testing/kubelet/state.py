"""What a pod's worker knows about its pod: containers, phase, addresses, and the status made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman.testing.kubelet.status import ContainerStatus, PodFacts, pod_status
from drayman.timestamps import parse_rfc3339

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator

    from drayman.kube.client import Object

KILLED = 143
"""Exit code of a container that is told to stop."""


@dataclass(slots=True)
class PodState:
    """One pod on its node. `sandbox`: its devices are prepared and its containers can start."""

    pod: Object
    host_ip: str
    pod_ip: str
    start_time: dt.datetime
    main: list[ContainerStatus]
    init: list[ContainerStatus]
    phase: str = "Pending"
    sandbox: bool = False
    initialized: bool = False

    @classmethod
    def of(cls, pod: Object, host_ip: str, pod_ip: str, now: dt.datetime) -> PodState:
        """Return the state of a pod as its status has it, which matters after a restart of the kubelet."""
        status = pod.get("status", {})
        inits = pod["spec"].get("initContainers", ())
        start_time = parse_rfc3339(status["startTime"]) if "startTime" in status else now
        state = cls(
            pod,
            host_ip,
            status.get("podIP", pod_ip),
            start_time,
            main=_statuses(pod, pod["spec"]["containers"], "containerStatuses"),
            init=_statuses(pod, inits, "initContainerStatuses"),
            phase=status.get("phase", "Pending"),
            sandbox="podIP" in status,
        )
        state.initialized = not inits or state.phase == "Running"
        return state

    @property
    def uid(self) -> str:
        """The pod's UID."""
        return str(self.pod["metadata"]["uid"])

    @property
    def name(self) -> str:
        """The pod's name."""
        return str(self.pod["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """The pod's namespace."""
        return str(self.pod["metadata"]["namespace"])

    @property
    def restart_policy(self) -> str:
        """The pod's restart policy."""
        return str(self.pod["spec"].get("restartPolicy", "Always"))

    @property
    def is_terminal(self) -> bool:
        """Whether the pod has ended for good."""
        return self.phase in ("Succeeded", "Failed")

    def containers(self) -> Iterator[tuple[dict[str, Any], ContainerStatus]]:
        """Yield spec and status of all containers, init containers first."""
        yield from zip(self.pod["spec"].get("initContainers", ()), self.init, strict=True)
        yield from zip(self.pod["spec"]["containers"], self.main, strict=True)

    def stop(self, now: dt.datetime) -> None:
        """End what runs; a sidecar whose pod is done ends well."""
        done = all(status.exit_code is not None for status in self.main)
        for status in self.init:
            if status.is_running:
                status.end(now, 0 if done else KILLED)
        for status in self.main:
            if status.is_running:
                status.end(now, KILLED)

    def finish(self) -> None:
        """Take the phase that the ends of the containers make."""
        if not self.is_terminal:
            self.phase = "Succeeded" if all(status.exit_code == 0 for status in self.main) else "Failed"

    def status(self, now: dt.datetime) -> dict[str, Any]:
        """Return the status to report."""
        facts = PodFacts(
            phase=self.phase,
            sandbox=self.sandbox,
            initialized=self.initialized,
            containers=self.main,
            init_containers=self.init,
            host_ip=self.host_ip,
            pod_ip=self.pod_ip,
            start_time=self.start_time,
        )
        return pod_status(self.pod, facts, now)


def _statuses(pod: Object, specs: Any, member: str) -> list[ContainerStatus]:
    known = {entry["name"]: entry for entry in pod.get("status", {}).get(member, ())}
    reason = "PodInitializing" if pod["spec"].get("initContainers") else "ContainerCreating"
    statuses = []
    for spec in specs:
        status = ContainerStatus(spec["name"], spec["image"], pod["metadata"]["uid"])
        status.wait(reason)
        if spec["name"] in known:
            entry = known[spec["name"]]
            status.state = entry.get("state") or status.state
            status.last_state = entry.get("lastState", {})
            status.restarts = entry.get("restartCount", 0)
            status.health = entry.get("allocatedResourcesStatus", [])
        statuses.append(status)
    return statuses
