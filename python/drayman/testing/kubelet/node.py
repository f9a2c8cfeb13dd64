"""The Node object of a fake kubelet, and the addresses that it gives."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

from drayman.errors import APIStatusError
from drayman.kube.resources import NODES
from drayman.timestamps import rfc3339

if TYPE_CHECKING:
    from drayman.clock import Clock
    from drayman.kube.client import Client, Object

RESOURCES = {"cpu": "16", "memory": "64Gi", "pods": "110"}
_HEALTHY = {
    "MemoryPressure": ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    "DiskPressure": ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    "PIDPressure": ("KubeletHasSufficientPID", "kubelet has sufficient PID available"),
}


class Addresses:
    """Addresses of a node and its pods, made of the node's name; nothing listens on them.

    With the `port` of a server for the output of containers, the node's address is the one that this listens on.
    """

    def __init__(self, node_name: str, port: int = 0) -> None:
        digest = zlib.crc32(node_name.encode())
        self.port = port
        self.host_ip = "127.0.0.1" if port else f"172.18.{digest >> 8 & 0xFF}.{digest % 254 + 1}"
        self._subnet = f"10.{digest >> 8 & 0xFF}.{digest & 0xFF}"
        self._given = 0

    def next_pod_ip(self) -> str:
        """Return the next pod's address."""
        self._given += 1
        return f"{self._subnet}.{(self._given - 1) % 254 + 1}"


async def register(client: Client, clock: Clock, name: str, addresses: Addresses) -> None:
    """Create the node, or take over one of that name; report it as ready, with default resources where it has none."""
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    wanted = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
    try:
        node = await client.create(NODES, wanted)
    except APIStatusError as error:
        if error.reason != "AlreadyExists":
            raise
        node = await client.get(NODES, name)
    await client.patch(NODES, name, None, {"status": _status(node, clock, name, addresses)}, subresource="status")


def _status(node: Object, clock: Clock, name: str, addresses: Addresses) -> dict[str, Any]:
    known = node.get("status", {})
    capacity = known.get("capacity") or known.get("allocatable") or RESOURCES
    version = "v1.37.0-drayman"
    endpoints = {"daemonEndpoints": {"kubeletEndpoint": {"Port": addresses.port}}} if addresses.port else {}
    return {
        **endpoints,
        "capacity": capacity,
        "allocatable": known.get("allocatable") or capacity,
        "conditions": _conditions(rfc3339(clock.now())),
        "addresses": [{"type": "InternalIP", "address": addresses.host_ip}, {"type": "Hostname", "address": name}],
        "nodeInfo": {
            "architecture": "amd64",
            "bootID": "",
            "containerRuntimeVersion": "drayman://1",
            "kernelVersion": "",
            "kubeProxyVersion": "",
            "kubeletVersion": version,
            "machineID": "",
            "operatingSystem": "linux",
            "osImage": "none",
            "systemUUID": "",
        },
    }


def _conditions(now: str) -> list[dict[str, str]]:
    states = {type_: ("False", *texts) for type_, texts in _HEALTHY.items()}
    states["Ready"] = ("True", "KubeletReady", "kubelet is posting ready status")
    return [
        {
            "type": type_,
            "status": status,
            "reason": reason,
            "message": message,
            "lastHeartbeatTime": now,
            "lastTransitionTime": now,
        }
        for type_, (status, reason, message) in states.items()
    ]
