"""Scheduler and driver of a running cluster as they were installed: as pods, or as processes; and how each restarts."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import pytest
from e2e.releases import Release
from e2e.workloads import one_shot

from drayman.kube.resources import DEPLOYMENTS, LEASES, NODES, PODS, Resource
from drayman.testing.clusters import registry
from drayman.testing.clusters.kind.install import DRIVER, NAMESPACE, SCHEDULER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from e2e.started import Started

    from drayman.testing.clusters.live import Live

    Object = dict[str, Any]

DAEMON_SETS = Resource("apps", "v1", "DaemonSet", "daemonsets")
SECONDS = 120.0

_A_TASK = "is a task of the process that runs the cluster"
_DEPLOYMENT = ("updatedReplicas", "availableReplicas", "replicas")
_DAEMON_SET = ("updatedNumberScheduled", "numberAvailable", "currentNumberScheduled")
_SHORT_LEASE = {
    f"config.leaderElection.{name}": seconds
    for name, seconds in (("leaseDuration", "6s"), ("renewDeadline", "4s"), ("retryPeriod", "1s"))
}
_RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"
_CONTROL_PLANE = "node-role.kubernetes.io/control-plane"


class Installed(Protocol):
    """What tests do to scheduler and driver. Both are back when a method returns.

    `fixed` says of which it cannot be done, and why.
    """

    fixed: Mapping[str, str]

    async def kill_scheduler(self) -> None:
        """End the scheduler that works, without a word."""

    async def leader(self) -> str | None:
        """Return which scheduler works, where several stand for that."""

    def replicated(self, count: int) -> AbstractAsyncContextManager[None]:
        """Have so many schedulers, of which one works, for the time of a block."""

    async def restart_driver(self) -> None:
        """Restart the driver of every node, as an update of it would."""

    async def cdi_files(self) -> Mapping[str, frozenset[str]]:
        """Return the names of the CDI files, by node."""


class AsPods:
    """A Deployment and a DaemonSet: the Deployment's pod is deleted, the DaemonSet is rolled out anew."""

    fixed: ClassVar[Mapping[str, str]] = {}

    def __init__(self, live: Live, release: Release) -> None:
        self._live = live
        self._client = live.client
        self._release = release
        self._looks = 0

    async def kill_scheduler(self) -> None:
        name = await self.leader() or (await self.pods(DEPLOYMENTS, SCHEDULER))[0]
        await self._client.delete(PODS, name, NAMESPACE, grace_period_seconds=0)

        async def replaced() -> str | None:
            return f"pod {name} is still there" if name in await self.pods(DEPLOYMENTS, SCHEDULER) else None

        await self._live.wait(replaced, SECONDS)
        await self.rolled_out(DEPLOYMENTS, SCHEDULER)

    @contextlib.asynccontextmanager
    async def replicated(self, count: int) -> AsyncIterator[None]:
        async with self._release.changed(replicaCount=count, **_SHORT_LEASE):
            await self.rolled_out(DEPLOYMENTS, SCHEDULER)

            async def led() -> str | None:
                return None if await self.leader() else "no scheduler leads"

            await self._live.wait(led, SECONDS)
            yield
        await self.rolled_out(DEPLOYMENTS, SCHEDULER)

    async def leader(self) -> str | None:
        leases, _ = await self._client.list(LEASES, NAMESPACE)
        holders = [one["spec"].get("holderIdentity") or "" for one in leases if one["metadata"]["name"] == SCHEDULER]
        names = [holder.partition("_")[0] for holder in holders]
        # A lease outlives those who cared for it.
        return next((name for name in await self.pods(DEPLOYMENTS, SCHEDULER) if name in names), None)

    async def restart_driver(self) -> None:
        before = set(await self.pods(DAEMON_SETS, DRIVER))
        moment = (await self._client.get(DAEMON_SETS, DRIVER, NAMESPACE))["metadata"]["resourceVersion"]
        patch = {"spec": {"template": {"metadata": {"annotations": {_RESTARTED_AT: moment}}}}}
        await self._client.patch(DAEMON_SETS, DRIVER, NAMESPACE, patch)
        await self.rolled_out(DAEMON_SETS, DRIVER)
        assert not before & set(await self.pods(DAEMON_SETS, DRIVER))

    async def rolled_out(self, resource: Resource, name: str) -> None:
        """Wait until the workload is as its spec says, with every pod available."""

        async def status() -> str | None:
            return unfinished(await self._client.get(resource, name, NAMESPACE))

        await self._live.wait(status, SECONDS)

    async def pods(self, resource: Resource, name: str) -> Sequence[str]:
        """Return the names of the workload's pods."""
        workload = await self._client.get(resource, name, NAMESPACE)
        labels = ",".join(f"{key}={value}" for key, value in workload["spec"]["selector"]["matchLabels"].items())
        found, _ = await self._client.list(PODS, NAMESPACE, label_selector=labels)
        return [pod["metadata"]["name"] for pod in found]

    async def cdi_files(self) -> Mapping[str, frozenset[str]]:
        """List the folder in a pod on each node: nothing but the API is needed for that."""
        directory = await self._cdi_directory()
        self._looks += 1
        nodes, _ = await self._client.list(NODES)
        workers = [node["metadata"]["name"] for node in nodes if not is_control_plane(node)]
        pods = {node: f"{NAMESPACE}/cdi-{self._looks}-{index}" for index, node in enumerate(workers)}
        await self._live.apply([one_shot(name, node, f"ls {directory}", directory) for node, name in pods.items()])

        async def listed() -> str | None:
            phases = {name: (await self._live.get("Pod", name))["status"]["phase"] for name in pods.values()}
            waiting = [name for name, phase in phases.items() if phase != "Succeeded"]
            return f"{', '.join(waiting)} have not ended" if waiting else None

        await self._live.wait(listed, SECONDS)
        files = {node: frozenset((await self._live.logs(name)).split()) for node, name in pods.items()}
        for name in pods.values():
            await self._live.delete("Pod", name)
        return files

    async def _cdi_directory(self) -> str:
        """Return the folder of the host that the driver's pods have for CDI files."""
        spec = (await self._client.get(DAEMON_SETS, DRIVER, NAMESPACE))["spec"]["template"]["spec"]
        (path,) = {volume["hostPath"]["path"] for volume in spec["volumes"] if volume["name"] == "cdi"}
        return str(path)


class AsProcesses:
    """Children of the process that runs the cluster, which starts them again when they are killed."""

    def __init__(self, live: Live, cluster: registry.Entry, fixed: Mapping[str, str]) -> None:
        self.fixed = fixed
        self._live = live
        self._owner = cluster.pid

    async def kill_scheduler(self) -> None:
        await self._kill("scheduler")

    async def leader(self) -> str | None:
        return None

    def replicated(self, count: int) -> AbstractAsyncContextManager[None]:
        pytest.skip("there is one scheduler process")

    async def restart_driver(self) -> None:
        await self._kill("driver")

    async def cdi_files(self) -> Mapping[str, frozenset[str]]:
        _, command = self._process("driver")
        directory = Path(command[command.index("--cdi-root") + 1])
        node = command[command.index("--node-name") + 1]
        return {node: frozenset(path.name for path in await asyncio.to_thread(_listed, directory))}

    async def _kill(self, verb: str) -> None:
        killed, _ = self._process(verb)
        os.kill(killed, signal.SIGKILL)

        async def revived() -> str | None:
            return None if any(pid != killed for pid, _ in self._processes(verb)) else f"no new {verb} is there"

        await self._live.wait(revived, SECONDS)

    def _process(self, verb: str) -> tuple[int, list[str]]:
        (found,) = self._processes(verb)
        return found

    def _processes(self, verb: str) -> list[tuple[int, list[str]]]:
        """Return id and command of the children of the cluster that run `drayman VERB`."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal() and _parent(entry) == self._owner:
                command = _read(entry / "cmdline").split("\0")
                if command[1:4] == ["-m", "drayman", verb]:
                    found.append((int(entry.name), command))
        return found


def of(live: Live, started: Started) -> Installed:
    """Return scheduler and driver of the cluster."""
    if started.chosen.is_deployed:
        return AsPods(live, Release(SCHEDULER, started.name))
    fixed = {} if started.chosen.is_real else {DRIVER: _A_TASK}
    if started.chosen.backend == "fake":
        fixed[SCHEDULER] = _A_TASK
    return AsProcesses(live, registry.existing(started.name), fixed)


def unfinished(workload: Object) -> str | None:
    """Return what a Deployment or DaemonSet still lacks to be as its spec says, or None."""
    metadata, spec, status = workload["metadata"], workload["spec"], workload.get("status") or {}
    name = f"{workload['kind']} {metadata['name']}"
    if status.get("observedGeneration", 0) < metadata["generation"]:
        return f"{name} has changed, and its controller has not seen it"
    fields = _DAEMON_SET if workload["kind"] == "DaemonSet" else _DEPLOYMENT
    updated, available, total = (status.get(field, 0) for field in fields)
    wanted = spec["replicas"] if "replicas" in spec else status.get("desiredNumberScheduled", 0)
    if wanted == updated == available == total:
        return None
    return f"{name}: of {wanted} pods {updated} are updated, {available} available, {total} there"


def is_control_plane(node: Object) -> bool:
    """Tell whether a node is there for the control plane."""
    return _CONTROL_PLANE in (node["metadata"].get("labels") or {})


def _listed(directory: Path) -> list[Path]:
    return list(directory.iterdir())


def _parent(entry: Path) -> int | None:
    stat = _read(entry / "stat").rpartition(")")[2].split()
    return int(stat[1]) if stat else None


def _read(path: Path) -> str:
    """Return what a file of `/proc` says; nothing for a process that has ended."""
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
