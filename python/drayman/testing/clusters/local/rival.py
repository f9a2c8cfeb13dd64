"""Upstream's kube-scheduler, in place of ours: on the real control plane, and on the fake one."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

from drayman import names
from drayman.clock import RealClock
from drayman.kube import config
from drayman.testing.clusters.local import binaries
from drayman.testing.clusters.local.controlplane import gate_flags
from drayman.testing.clusters.local.folder import cluster_folder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from pathlib import Path

    from drayman.kube.config import ServerConfig
    from drayman.testing.clusters.local.processes import Processes

PROFILES = ("default-scheduler", names.SCHEDULER_NAME)
"""The schedulerNames that a cluster's scheduler serves: those of plain pods and of scenarios."""


@contextlib.asynccontextmanager
async def kube_scheduler(
    server: ServerConfig, *, feature_gates: Mapping[str, bool], logs: Path | None = None
) -> AsyncIterator[None]:
    """Run kube-scheduler against any API server that speaks JSON until the block ends."""
    programs = binaries.find(binaries.SCHEDULER)
    await binaries.check_versions(programs, binaries.SCHEDULER)
    async with cluster_folder(RealClock(), logs) as (folder, processes):
        kubeconfig = folder / "kubeconfig"
        config.write(kubeconfig, server, name="drayman")
        await start(processes, folder, programs["kube-scheduler"], kubeconfig, gate_flags(feature_gates))
        yield


async def start(processes: Processes, folder: Path, program: Path, kubeconfig: Path, gates: Sequence[str]) -> None:
    """Start kube-scheduler; without a leader, for which it would need a lease."""
    path = folder / "kube-scheduler.json"
    path.write_text(json.dumps(_configuration(kubeconfig), indent=1))
    await processes.start("kube-scheduler", [program, f"--config={path}", "--secure-port=0", *gates])


def _configuration(kubeconfig: Path) -> dict[str, Any]:
    connection = {"kubeconfig": str(kubeconfig), "qps": 5000, "burst": 5000, "contentType": "application/json"}
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {**connection, "acceptContentTypes": "application/json"},
        "leaderElection": {"leaderElect": False},
        "profiles": [{"schedulerName": name} for name in PROFILES],
    }
