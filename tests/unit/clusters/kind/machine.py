"""A machine with stand-ins for `docker`, `kind` and `helm`: they write down how they are called, and do as a test says.

Each is the same shell script. For `docker image …` it runs the test's script `docker-image`, if there is one.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drayman.clock import RealClock
from drayman.kube import config, connect
from drayman.kube.config import ServerConfig
from drayman.kube.resources import NODES, SLICES, Resource
from drayman.testing.apiserver import APIServer
from drayman.testing.apiserver.certificates import self_signed
from drayman.testing.apiserver.sockets import serve

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import pytest

CLOCK = RealClock()
DEPLOYMENTS = Resource("apps", "v1", "Deployment", "deployments")
DAEMONSETS = Resource("apps", "v1", "DaemonSet", "daemonsets")
NAMESPACE = Resource("", "v1", "Namespace", "namespaces", namespaced=False)

_PROGRAM = """\
#!/bin/sh
name=${0##*/}
echo "$name $*" >> "$FAKE/calls"
[ ! -e "$FAKE/$name-$1" ] || . "$FAKE/$name-$1"
"""

_ANSWERS = {
    "docker-info": """echo '{"CgroupVersion": "2"}'""",
    "docker-run": "printf 'v1.37.2\\ncontainerd github.com/containerd/containerd/v2 v2.4.2 abc\\n'",
    "docker-image": 'case "$*" in *Labels*) echo "$OURS";; esac',
    "docker-ps": 'cat "$FAKE/containers" 2>/dev/null || true',
    "docker-rm": 'rm -f "$FAKE/containers"',
    "docker-exec": 'case "$*" in *--interactive*) cat > "$FAKE/stdin-$3";; esac',
    "kind---version": "echo kind version 0.33.0",
    "kind-create": """
        printf 'drayman-test-control-plane\\ndrayman-test-worker\\ndrayman-test-worker2\\n' > "$FAKE/containers"
        while [ $# -gt 0 ]; do
            case "$1" in
                --kubeconfig) cp "$FAKE/kubeconfig" "$2";;
                --config) cp "$2" "$FAKE/config";;
            esac
            shift
        done""",
    "helm-version": "echo v3.19.0",
    "helm-upgrade": """
        release=$3
        while [ $# -gt 0 ]; do
            case "$1" in --values) cp "$2" "$FAKE/values-$release";; esac
            shift
        done""",
}


class Machine:
    """The stand-ins: `say` replaces what one of them does."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
        self.folder = folder
        programs = folder / "bin"
        programs.mkdir(parents=True)
        for name in ("docker", "kind", "helm"):
            (programs / name).write_text(_PROGRAM)
            (programs / name).chmod(0o755)
        for call, script in _ANSWERS.items():
            self.say(call, script)
        self.programs = programs
        monkeypatch.setenv("PATH", f"{programs}:{path}")
        monkeypatch.setenv("FAKE", str(folder))
        monkeypatch.setenv("OURS", "")
        monkeypatch.setenv("DRAYMAN_CACHE", str(folder / "cache"))
        monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
        monkeypatch.setattr(tempfile, "tempdir", str(folder))
        monkeypatch.setenv("TMPDIR", str(folder))  # of processes that a test starts
        for name in ("DRAYMAN_KIND_IMAGE", "DRAYMAN_CONTROLPLANE", "KUBEBUILDER_ASSETS", "DOCKER_HOST"):
            monkeypatch.delenv(name, raising=False)

    def hide_others(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Leave on the PATH only the stand-ins, and what they use."""
        for name in ("sh", "cat", "cp", "rm"):
            found = shutil.which(name)
            assert found is not None
            (self.programs / name).symlink_to(found)
        monkeypatch.setenv("PATH", str(self.programs))

    def say(self, call: str, script: str) -> None:
        """Let a program do this when it is called so: `docker-image` for `docker image …`."""
        (self.folder / call).write_text(script)

    def calls(self, start: str = "") -> list[str]:
        """Return the command lines that begin so, in their order."""
        path = self.folder / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        return [line for line in lines if line.startswith(start)]

    def text(self, name: str) -> str:
        """Return what a program wrote into a file."""
        return (self.folder / name).read_text()

    @property
    def containers(self) -> bool:
        """Whether kind's containers are there."""
        return (self.folder / "containers").exists()

    def left(self) -> list[str]:
        """Return what is left of clusters: notes, folders, locks, logs."""
        found = (*self.folder.glob("state/drayman/clusters/*"), *self.folder.glob("drayman-logs-*"))
        return sorted(path.name for path in found)


@contextlib.asynccontextmanager
async def control_plane(machine: Machine, *, workers: int = 2, ready: bool = True) -> AsyncIterator[ServerConfig]:
    """Serve the API of a cluster in which everything has come up; kind writes the kubeconfig for it."""
    server = APIServer(clock=CLOCK, kubernetes_version="1.37", seed=1)
    certificate = self_signed("127.0.0.1", CLOCK.now())
    async with serve(server, port=0, token="secret", certificate=certificate) as url:
        reached = ServerConfig(url=url, token="secret", ca_data=certificate.certificate)
        await asyncio.to_thread(config.write, machine.folder / "kubeconfig", reached, name="kind-drayman-test")
        async with connect.connection(reached, user_agent="test") as client:
            names = ["drayman-test-control-plane", "drayman-test-worker", "drayman-test-worker2"][: workers + 1]
            await client.create(NAMESPACE, {"metadata": {"name": "drayman-system"}})
            for number, name in enumerate(names):
                labels = {"drayman.internal/devices": "mock"} if number else {}
                node = await client.create(NODES, _node(name, number, labels))
                condition = {"type": "Ready", "status": "True"}
                if not ready:
                    condition |= {"status": "False", "message": "cni plugin not initialized"}
                address = {"type": "InternalIP", "address": f"172.18.0.{number + 2}"}
                status = {"conditions": [condition], "addresses": [address]}
                await client.update(NODES, {**node, "status": status}, subresource="status")
                if number:
                    await client.create(SLICES, _slice(name))
            deployment = await client.create(DEPLOYMENTS, _workload("drayman-scheduler"))
            available = {"replicas": 1, "availableReplicas": 1}
            await client.update(DEPLOYMENTS, {**deployment, "status": available}, subresource="status")
            daemonset = await client.create(DAEMONSETS, _workload("drayman-driver"))
            numbers = dict.fromkeys(("currentNumberScheduled", "desiredNumberScheduled", "numberReady"), workers)
            counted = {**numbers, "numberMisscheduled": 0}
            await client.update(DAEMONSETS, {**daemonset, "status": counted}, subresource="status")
        yield reached


def _node(name: str, number: int, labels: dict[str, str]) -> dict[str, Any]:
    subnet = f"10.244.{number}.0/24"
    return {"metadata": {"name": name, "labels": labels}, "spec": {"podCIDR": subnet, "podCIDRs": [subnet]}}


def _slice(node: str) -> dict[str, Any]:
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": "gpu-0"}]
    spec = {"driver": "gpu.example.com", "nodeName": node, "pool": pool, "devices": devices}
    return {"metadata": {"name": f"{node}-gpu"}, "spec": spec}


def _workload(name: str) -> dict[str, Any]:
    labels = {"app": name}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "i"}]}}
    return {
        "metadata": {"name": name, "namespace": "drayman-system"},
        "spec": {"selector": {"matchLabels": labels}, "template": pod},
    }
