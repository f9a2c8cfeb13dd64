"""One real node: containerd with our images, a kubelet, and the mock driver beside it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from drayman.kube.resources import NODES
from drayman.testing.clusters.local import images, record
from drayman.testing.clusters.local.controlplane import HOST, free_port
from drayman.testing.clusters.local.room import Room

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from drayman.kube.client import Client
    from drayman.testing.clusters.local.controlplane import ControlPlane
    from drayman.testing.clusters.local.processes import Processes

_READY_SECONDS = 120.0

_CONTAINERD = """version = 3
root = "{folder}/root"
state = "/run/containerd"

[grpc]
  address = "{socket}"

[ttrpc]
  address = "{socket}.ttrpc"

[plugins.'io.containerd.cri.v1.images']
  snapshotter = "native"
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = "{pause}"

[plugins.'io.containerd.cri.v1.runtime']
  cdi_spec_dirs = ["{cdi}"]
  # Where the rights for it are missing, as inside containers, lowering the score would fail.
  restrict_oom_score_adj = true
  disable_apparmor = true
  netns_mounts_under_state_dir = true
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ["{folder}/cni"]
    conf_dir = "{folder}/cni"
    use_internal_loopback = true
  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = "runc"
  [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
      BinaryName = "{runc}"
      SystemdCgroup = false
"""

_NETWORK = """#!/bin/sh
# A network plugin that gives pods an address and no network: nothing of the host is touched.
case "$CNI_COMMAND" in
VERSION) echo '{"cniVersion": "1.0.0", "supportedVersions": ["0.4.0", "1.0.0"]}' ;;
ADD)
    hexadecimal=$(printf %.4s "$CNI_CONTAINERID")
    number=$((0x$hexadecimal % 65024 + 256))
    echo '{"cniVersion": "1.0.0", "interfaces": [{"name": "eth0", "sandbox": "'"$CNI_NETNS"'"}],'
    echo '"ips": [{"interface": 0, "address": "10.77.'$((number / 256)).$((number % 254 + 1))'/16"}]}'
    ;;
esac
"""


class Node:
    """Starts the processes of one node, all but the driver in its own view of the machine."""

    def __init__(self, name: str, control_plane: ControlPlane, logs: Path) -> None:
        self._name = name
        self._control_plane = control_plane
        self._room = Room(control_plane.layout.folder)
        self._logs = logs
        self._folder = control_plane.layout.folder
        self._socket = self._folder / "containerd.sock"
        self._cdi = self._folder / "cdi"
        self._kubelet = self._folder / "kubelet"

    @property
    def prefix(self) -> Sequence[str]:
        """What starts a command where the node's name leads to it."""
        return self._room.prefix

    async def start_containerd(self, processes: Processes) -> None:
        """Make the node's view of the machine, start containerd in it, and give it the images."""
        await self._room.open(processes, self._name)
        binaries = self._control_plane.layout.binaries
        folder = self._folder / "containerd"
        (folder / "cni").mkdir(parents=True)
        self._cdi.mkdir()
        plugin = folder / "cni" / "address-only"
        plugin.write_text(_NETWORK)
        plugin.chmod(0o755)
        network = {"cniVersion": "1.0.0", "name": "pods", "plugins": [{"type": "address-only"}]}
        (folder / "cni" / "pods.conflist").write_text(json.dumps(network))
        config = folder / "config.toml"
        config.write_text(
            _CONTAINERD.format(
                folder=folder, socket=self._socket, pause=images.PAUSE, cdi=self._cdi, runc=binaries["runc"]
            )
        )
        archive = folder / "images.tar"
        images.write(archive, binaries["busybox"])
        shims = binaries["containerd-shim-runc-v2"].parent
        environment = {**os.environ, "PATH": f"{shims}:{os.environ.get('PATH', os.defpath)}"}
        await processes.start(
            "containerd",
            [binaries["containerd"], "--config", config],
            environment=environment,
            prefix=self._room.prefix,
        )

        async def listening() -> bool:
            return self._socket.exists()

        await processes.until("containerd did not start", listening, _READY_SECONDS)
        imported: list[str | Path] = [
            binaries["ctr"],
            "--address",
            self._socket,
            "--namespace",
            "k8s.io",
            "images",
            "import",
        ]
        await processes.run("ctr", [*imported, "--no-unpack", archive], prefix=self._room.prefix)

    async def start_kubelet(self, processes: Processes, feature_gates: Mapping[str, bool]) -> None:
        """Start the kubelet; it is not ready yet."""
        await asyncio.to_thread(record.make_cgroups, self._folder.name)
        config = self._folder / "kubelet.json"
        config.write_text(json.dumps(self._configuration(feature_gates), indent=1))
        await processes.start(
            "kubelet",
            [
                self._control_plane.layout.binaries["kubelet"],
                f"--config={config}",
                f"--root-dir={self._kubelet}",
                f"--kubeconfig={self._control_plane.kubeconfig(user(self._name))}",
                f"--hostname-override={self._name}",
            ],
            prefix=self._room.prefix,
        )

    async def start_driver(self, processes: Processes, kubeconfig: Path, driver: str, devices: int) -> None:
        """Start the mock driver; it registers with the kubelet over the plugin sockets."""
        command: list[str | Path] = [
            *(sys.executable, "-m", "drayman", "driver"),
            *("--kubeconfig", kubeconfig),
            *("--node-name", self._name, "--driver-name", driver, "--devices", str(devices)),
            *("--kubelet-registrar-directory-path", self._kubelet / "plugins_registry"),
            *("--kubelet-plugins-directory-path", self._kubelet / "plugins"),
            *("--cdi-root", self._cdi),
        ]
        await processes.start("drayman-driver", command, revived=True)

    async def wait_until_ready(self, processes: Processes, client: Client) -> None:
        """Wait until the node is there and ready."""

        async def ready() -> bool:
            nodes, _ = await client.list(NODES)
            conditions = [one for node in nodes for one in node.get("status", {}).get("conditions", ())]
            return any((one["type"], one["status"]) == ("Ready", "True") for one in conditions)

        await processes.until(f"node {self._name} did not become ready", ready, _READY_SECONDS)

    def _configuration(self, feature_gates: Mapping[str, bool]) -> dict[str, Any]:
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "address": HOST,
            "port": free_port(),
            "healthzPort": 0,
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": True},
                "x509": {"clientCAFile": str(self._control_plane.authority.path)},
            },
            "authorization": {"mode": "Webhook"},
            "containerRuntimeEndpoint": f"unix://{self._socket}",
            "podCIDR": "10.77.0.0/16",
            "podLogsDir": str(self._logs / "pods"),
            "volumePluginDir": str(self._kubelet / "volume-plugins"),
            "resolvConf": "",
            # The node shares the machine: its pods are in control groups of the cluster.
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": f"/{self._folder.name}",
            "enforceNodeAllocatable": ["none"],
            "failCgroupV1": False,
            "failSwapOn": False,
            "localStorageCapacityIsolation": False,
            "makeIPTablesUtilChains": False,
            "protectKernelDefaults": False,
            "evictionHard": {"memory.available": "50Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
            "syncFrequency": "10s",
            "featureGates": dict(feature_gates),
        }


def user(node_name: str) -> str:
    """Return the user that the kubelet of a node is."""
    return f"system:node:{node_name}"
