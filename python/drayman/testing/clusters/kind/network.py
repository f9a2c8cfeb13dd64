"""The pod network of node images of ours: one plugin on each node, and routes to the others.

Every node has a range of addresses for its pods, given out by the controllers. `ptp` connects a pod to its node, and a
route by the other node's address does the rest: all nodes are in one network of Docker.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drayman.testing.clusters.kind.docker import Docker

Object = dict[str, Any]

_PATH = "/etc/cni/net.d/10-drayman.conflist"
_WRITE = f"mkdir -p /etc/cni/net.d && cat > {_PATH}.new && mv {_PATH}.new {_PATH}"


def lacks_range(nodes: Sequence[Mapping[str, Any]]) -> str | None:
    """Return which node has no addresses for pods yet, or None."""
    without = [node["metadata"]["name"] for node in nodes if not node["spec"].get("podCIDR")]
    return f"node `{without[0]}` has no addresses for pods" if without else None


async def connect(docker: Docker, nodes: Sequence[Mapping[str, Any]]) -> None:
    """Give every node a network plugin and the routes to the pods of the others."""
    for node in nodes:
        name = node["metadata"]["name"]
        routes = [
            f"ip route replace {other['spec']['podCIDR']} via {_address(other)}"
            for other in nodes
            if other["metadata"]["name"] != name
        ]
        script = "\n".join([_WRITE, *routes])
        await docker.execute(name, "sh", "-ec", script, stdin=json.dumps(conflist(node["spec"]["podCIDR"]), indent=1))


def conflist(subnet: str) -> Object:
    """Return the configuration of the plugin for pods with addresses of `subnet`."""
    addresses = {"type": "host-local", "ranges": [[{"subnet": subnet}]], "routes": [{"dst": "0.0.0.0/0"}]}
    return {
        "cniVersion": "1.0.0",
        "name": "drayman",
        "plugins": [
            {"type": "ptp", "ipMasq": True, "ipam": addresses},
            {"type": "portmap", "capabilities": {"portMappings": True}},
        ],
    }


def _address(node: Mapping[str, Any]) -> str:
    return str(next(one["address"] for one in node["status"]["addresses"] if one["type"] == "InternalIP"))
