"""Upstream's kube-scheduler, in place of ours: on the real control plane, and on the fake one."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

from drayman import names
from drayman.clock import RealClock
from drayman.kube import config
from drayman.testing.clusters import programs
from drayman.testing.clusters.local.controlplane import gate_flags
from drayman.testing.clusters.local.folder import cluster_folder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from pathlib import Path

    from drayman.kube.config import ServerConfig
    from drayman.testing.clusters.local.processes import Processes

DEFAULT = "default-scheduler"
"""The schedulerName that pods have when they name none."""


def served(name: str, *, alone: bool) -> Sequence[str]:
    """Return the schedulerNames that a scheduler serves: its own `name`; those of plain pods and scenarios `alone`."""
    return (DEFAULT, names.SCHEDULER_NAME) if alone else (name,)


@contextlib.asynccontextmanager
async def kube_scheduler(
    server: ServerConfig, *, feature_gates: Mapping[str, bool], alone: bool = True, logs: Path | None = None
) -> AsyncIterator[None]:
    """Run kube-scheduler against any API server that speaks JSON until the block ends.

    It serves the pods of every scheduler there is, unless it is not `alone`.
    """
    paths = programs.find(programs.SCHEDULER)
    await programs.check_versions(paths)
    async with cluster_folder(RealClock(), logs) as (folder, processes):
        kubeconfig = folder / "kubeconfig"
        config.write(kubeconfig, server, name="drayman")
        flags = gate_flags(feature_gates)
        await start(processes, folder, paths["kube-scheduler"], kubeconfig, flags, alone=alone)
        yield


async def start(
    processes: Processes, folder: Path, program: Path, kubeconfig: Path, gates: Sequence[str], *, alone: bool
) -> None:
    """Start kube-scheduler; without a leader, for which it would need a lease."""
    path = folder / "kube-scheduler.json"
    path.write_text(json.dumps(_configuration(kubeconfig, served(DEFAULT, alone=alone)), indent=1))
    await processes.start("kube-scheduler", [program, f"--config={path}", "--secure-port=0", *gates])


def _configuration(kubeconfig: Path, profiles: Sequence[str]) -> dict[str, Any]:
    connection = {"kubeconfig": str(kubeconfig), "qps": 5000, "burst": 5000, "contentType": "application/json"}
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {**connection, "acceptContentTypes": "application/json"},
        "leaderElection": {"leaderElect": False},
        "profiles": [{"schedulerName": name} for name in profiles],
    }
