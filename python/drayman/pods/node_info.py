"""A node with the pods on it, as filters and scores look at it."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from drayman.pods import resources
from drayman.pods.objects import Object, key_of, priority_of, uid_of


@dataclass(frozen=True, slots=True, order=True)
class HostPort:
    """A port of the node that a container takes for itself."""

    address: str
    protocol: str
    port: int

    def clashes(self, other: HostPort) -> bool:
        """Tell whether both cannot be served on one node; `0.0.0.0` stands for every address."""
        if (self.protocol, self.port) != (other.protocol, other.port):
            return False
        return self.address == other.address or _ANY_ADDRESS in (self.address, other.address)

    def clashes_with_any(self, others: Iterable[HostPort]) -> bool:
        """Tell whether it cannot be served beside all of `others`."""
        return any(self.clashes(other) for other in others)


_ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - a value to compare with; nothing listens here


@dataclass(frozen=True)
class PodInfo:
    """A pod with what filters derive from it, computed when first asked for."""

    pod: Object

    @functools.cached_property
    def key(self) -> str:
        """ "namespace/name"."""
        return key_of(self.pod)

    @functools.cached_property
    def uid(self) -> str:
        """The pod's UID."""
        return uid_of(self.pod)

    @functools.cached_property
    def priority(self) -> int:
        """The pod's priority."""
        return priority_of(self.pod)

    @functools.cached_property
    def requests(self) -> Mapping[str, int]:
        """What the pod asks for."""
        return resources.pod_requests(self.pod)

    @functools.cached_property
    def scoring_requests(self) -> Mapping[str, int]:
        """What scoring takes the pod to use."""
        return resources.scoring_requests(self.pod)

    @functools.cached_property
    def anti_affinity(self) -> Sequence[Mapping[str, Any]]:
        """The required terms of the pod's anti-affinity, which hold against pods that come later."""
        rules = (self.pod["spec"].get("affinity") or {}).get("podAntiAffinity") or {}
        return rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ()

    @functools.cached_property
    def host_ports(self) -> tuple[HostPort, ...]:
        """The ports of the node that the pod takes."""
        return tuple(_host_ports(self.pod))


@dataclass(slots=True)
class NodeInfo:
    """One node and the pods that are bound or about to be bound to it. Changed only by the scheduler's cache.

    What filters ask of every node for every pod is kept as plain fields.
    """

    node: Object
    pods: dict[str, PodInfo] = field(default_factory=dict)
    requested: dict[str, int] = field(default_factory=dict)
    scoring_requested: dict[str, int] = field(default_factory=dict)
    with_anti_affinity: dict[str, PodInfo] = field(default_factory=dict)
    name: str = field(init=False)
    allocatable: Mapping[str, int] = field(init=False)
    taints: Sequence[Mapping[str, Any]] = field(init=False)
    unschedulable: bool = field(init=False)

    def __post_init__(self) -> None:
        self.set_node(self.node)

    def set_node(self, node: Object) -> None:
        """Take over a newer version of the node."""
        spec = node.get("spec", {})
        self.node = node
        self.name = node["metadata"]["name"]
        self.allocatable = resources.amounts(node.get("status", {}).get("allocatable"))
        self.taints = spec.get("taints") or ()
        self.unschedulable = bool(spec.get("unschedulable"))

    def add_pod(self, pod: PodInfo) -> None:
        """Count `pod` as being on the node."""
        self.pods[pod.uid] = pod
        if pod.anti_affinity:
            self.with_anti_affinity[pod.uid] = pod
        self._count(pod, 1)

    def remove_pod(self, uid: str) -> None:
        """Stop counting the pod with `uid`; nothing happens when it is not here."""
        pod = self.pods.pop(uid, None)
        self.with_anti_affinity.pop(uid, None)
        if pod is not None:
            self._count(pod, -1)

    def _count(self, pod: PodInfo, sign: int) -> None:
        for name, value in pod.requests.items():
            self.requested[name] = self.requested.get(name, 0) + sign * value
        for name, value in pod.scoring_requests.items():
            self.scoring_requested[name] = self.scoring_requested.get(name, 0) + sign * value


def _host_ports(pod: Object) -> Iterator[HostPort]:
    spec = pod["spec"]
    sidecars = (each for each in spec.get("initContainers") or () if each.get("restartPolicy") == "Always")
    for container in (*sidecars, *spec.get("containers", ())):
        for port in container.get("ports") or ():
            if port.get("hostPort"):
                address = port.get("hostIP") or _ANY_ADDRESS
                yield HostPort(address, port.get("protocol") or "TCP", int(port["hostPort"]))
