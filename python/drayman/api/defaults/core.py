"""Defaults of the core kinds other than pods."""

from __future__ import annotations

from typing import Any

from drayman.api.defaults.access import fill, fill_empty, mapping, mappings, nested


def namespace(obj: dict[str, Any]) -> None:
    """Fill a Namespace: its name as a label, its phase."""
    metadata = mapping(obj, "metadata")
    if metadata.get("name"):
        nested(metadata, "labels")["kubernetes.io/metadata.name"] = metadata["name"]
    fill_empty(nested(obj, "status"), phase="Active")


def node(obj: dict[str, Any]) -> None:
    """Fill a Node: all of its capacity is allocatable unless it says otherwise."""
    status = mapping(obj, "status")
    if status.get("capacity") is not None:
        fill(status, allocatable=dict(mapping(status, "capacity")))


def secret(obj: dict[str, Any]) -> None:
    """Fill a Secret."""
    fill_empty(obj, type="Opaque")


def persistent_volume_claim(obj: dict[str, Any]) -> None:
    """Fill a PersistentVolumeClaim."""
    fill_empty(nested(obj, "status"), phase="Pending")
    fill(nested(obj, "spec"), volumeMode="Filesystem")


def service(obj: dict[str, Any]) -> None:
    """Fill a Service."""
    spec = nested(obj, "spec")
    fill_empty(spec, sessionAffinity="None", type="ClusterIP")
    for port in mappings(spec, "ports"):
        fill_empty(port, protocol="TCP")
        fill_empty(port, targetPort=port.get("port"))
    if spec["type"] in {"NodePort", "LoadBalancer"}:
        fill_empty(spec, externalTrafficPolicy="Cluster")
    if spec["type"] in {"ClusterIP", "NodePort", "LoadBalancer"}:
        fill(spec, internalTrafficPolicy="Cluster")
    if spec["type"] == "LoadBalancer":
        fill(spec, allocateLoadBalancerNodePorts=True)
