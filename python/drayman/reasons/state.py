"""The objects that explanations look at."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from drayman.pods.node_info import NodeInfo, PodInfo
from drayman.pods.objects import is_terminal, key_of
from drayman.reasons.complete import complete

if TYPE_CHECKING:
    from drayman.inventory import Inventory

Object = Mapping[str, Any]

KINDS: Mapping[str, str] = {
    "Namespace": "",
    "Node": "",
    "Pod": "",
    "DaemonSet": "apps",
    "Deployment": "apps",
    "ReplicaSet": "apps",
    "StatefulSet": "apps",
    "Job": "batch",
    "DeviceClass": "resource.k8s.io",
    "ResourceClaim": "resource.k8s.io",
    "ResourceClaimTemplate": "resource.k8s.io",
}
"""The kinds that an explanation may need, and their API groups."""


@dataclass(frozen=True)
class State:
    """A cluster at one moment. `objects` are complete objects by kind and "namespace/name" or "name".

    `nodes` are the names of the nodes that count: those of the Node objects or, without any, those that slices name.
    """

    inventory: Inventory
    nodes: tuple[str, ...]
    objects: Mapping[str, Mapping[str, Object]]
    features: frozenset[str]
    kubernetes: str
    compatibility: str

    @property
    def fixed(self) -> bool:
        """Whether known defects of upstream are left out."""
        return self.compatibility == "fixed"

    @functools.cached_property
    def node_infos(self) -> Mapping[str, NodeInfo]:
        """The nodes with the pods that are on them; one without an object has nothing but its name."""
        nodes = self.of_kind("Node")
        found = {name: NodeInfo(nodes.get(name) or {"metadata": {"name": name}}) for name in self.nodes}
        for pod in self.of_kind("Pod").values():
            place = pod["spec"].get("nodeName")
            if place in found and not is_terminal(pod):
                # A pod that no server has seen has no UID.
                found[place].add_pod(PodInfo({**pod, "metadata": {"uid": key_of(pod), **pod["metadata"]}}))
        return found

    def of_kind(self, kind: str) -> Mapping[str, Object]:
        """Return the objects of a kind by key."""
        return self.objects.get(kind) or {}

    def get(self, kind: str, key: str) -> Object | None:
        """Return one object."""
        return self.of_kind(kind).get(key)

    def with_placed(self, pod: Object, node: str, claims: Iterable[Object]) -> State:
        """Return the state in which `pod` is bound to `node`, and `claims` stand as they are given: allocated."""
        inventory = self.inventory.copy()
        known = dict(self.of_kind("ResourceClaim"))
        for claim in claims:
            inventory.apply(claim)
            known[key_of(claim)] = claim
        bound = {**pod, "spec": {**pod["spec"], "nodeName": node}}
        pods = {**self.of_kind("Pod"), key_of(pod): bound}
        return replace(self, inventory=inventory, objects={**self.objects, "ResourceClaim": known, "Pod": pods})


def is_known_to_a_server(obj: Object) -> bool:
    """Tell whether the object comes from a cluster: what is only a manifest has no status."""
    return bool((obj.get("status") or {}).get("phase"))


def kind_of(obj: Object) -> str | None:
    """Return the kind of an object that explanations need; None for all others."""
    kind = str(obj.get("kind", ""))
    group, slash, _ = str(obj.get("apiVersion", "")).rpartition("/")
    return kind if KINDS.get(kind) == (group if slash else "") else None


def indexed(objects: Iterable[Object]) -> dict[str, dict[str, Object]]:
    """Return the objects that explanations need, complete, by kind and key; of two with one key the later counts.

    Raises :class:`InputError` for one that is not of its kind.
    """
    found: dict[str, dict[str, Object]] = {}
    for obj in objects:
        kind = kind_of(obj)
        if kind is not None:
            whole = complete(obj)
            found.setdefault(kind, {})[key_of(whole)] = whole
    return found
