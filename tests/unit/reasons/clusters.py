"""Clusters from small manifests, and what is said about their objects."""

from __future__ import annotations

from typing import Any

from tests.unit.cli.manifests import device_class, files, slice_, template

from drayman import Cluster, manifest

OWN = "{name: own, resourceClaimTemplateName: one-gpu}"
SHARED = "{name: shared, resourceClaimName: shared}"
PENDING = "phase: Pending"

DEVICES = files(slice_("n1"), device_class(), template())
"""A node's worth of devices, their class, and a template for one of them."""


def cluster(*documents: str, **options: Any) -> Cluster:
    return Cluster.from_objects((one.object for one in manifest.parse(files(*documents))), **options)


def node(name: str, *, spec: str = "", allocatable: str = "cpu: 4, memory: 8Gi, pods: 10", **labels: str) -> str:
    labelled = ", ".join(f"{key}: {value}" for key, value in labels.items())
    return f"""\
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{{labelled}}}}}
spec: {{{spec}}}
status: {{allocatable: {{{allocatable}}}}}
"""


def on_node(name: str) -> str:
    return f"{{nodeSelectorTerms: [{{matchFields: [{{key: metadata.name, operator: In, values: [{name}]}}]}}]}}"


def allocation(node_name: str, *, device: str = "gpu-0") -> str:
    result = f"{{request: gpu, driver: gpu.example.com, pool: {node_name}, device: {device}}}"
    return f"allocation: {{devices: {{results: [{result}]}}, nodeSelector: {on_node(node_name)}}}"
