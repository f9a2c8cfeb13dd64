"""The configuration of a cluster, as kind reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from drayman.names import PREFIX

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drayman.testing.clusters.kind.docker import NodeImage
    from drayman.testing.clusters.kind.versions import Version

DEVICES_LABEL = f"{PREFIX}devices"
"""Label of the nodes that get a mock driver; its value is "mock"."""

_OLD_CDI = """\
version = 2
[plugins."io.containerd.grpc.v1.cri"]
enable_cdi = true
cdi_spec_dirs = ["/etc/cdi", "/var/run/cdi"]
"""
"""containerd 1.x looks at CDI files only when it is told to; later ones always do."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a kind cluster is to be like. `port` 0 lets kind choose one; `cgroups` is the daemon's version of them."""

    cluster: str
    image: NodeImage
    version: Version
    workers: int
    port: int
    cgroups: str
    feature_gates: Mapping[str, bool]


def text(wanted: Wanted) -> str:
    """Return the file for `kind create cluster --config`."""
    networking: dict[str, Any] = {"apiServerAddress": "127.0.0.1"}
    if wanted.port:
        networking["apiServerPort"] = wanted.port
    if wanted.image.is_ours:
        networking["disableDefaultCNI"] = True
    worker = {"role": "worker", "image": wanted.image.name, "labels": {DEVICES_LABEL: "mock"}}
    document: dict[str, Any] = {
        "kind": "Cluster",
        "apiVersion": "kind.x-k8s.io/v1alpha4",
        "name": wanted.cluster,
        "networking": networking,
        "featureGates": {**wanted.version.feature_gates, **wanted.feature_gates},
        "runtimeConfig": dict(wanted.version.runtime_config),
        "containerdConfigPatches": _containerd(wanted),
        "kubeadmConfigPatches": [yaml.safe_dump(patch, sort_keys=False) for patch in _kubeadm(wanted)],
        "nodes": [{"role": "control-plane", "image": wanted.image.name}, *([worker] * wanted.workers)],
    }
    return yaml.dump({key: value for key, value in document.items() if value}, Dumper=_Plain, sort_keys=False)


def _containerd(wanted: Wanted) -> list[str]:
    old = wanted.image.containerd.startswith("1.")
    return [*([_OLD_CDI] if old else []), *wanted.version.containerd_patches]


def _kubeadm(wanted: Wanted) -> list[dict[str, Any]]:
    kubelet: dict[str, Any] = {}
    if wanted.cgroups == "1":
        kubelet["failCgroupV1"] = False
    patches: list[dict[str, Any]] = []
    if wanted.image.is_ours:
        # A file system in a container need not tell how full it is.
        kubelet["localStorageCapacityIsolation"] = False
        # The list replaces kind's, which skips the checks that no container passes.
        patches.append({"kind": "InitConfiguration", "skipPhases": ["preflight", "addon/coredns"]})
    if kubelet:
        patches.append({"kind": "KubeletConfiguration", **kubelet})
    return patches


class _Plain(yaml.SafeDumper):
    """Writes every node in full, and texts of several lines as such."""

    def ignore_aliases(self, _: object) -> bool:
        return True


def _string(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Plain.add_representer(str, _string)
