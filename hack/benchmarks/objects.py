"""Kubernetes objects for benchmarks: what drivers publish, in realistic sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Object = dict[str, Any]

API = "resource.k8s.io/v1"
GPU = "gpu.example.com"
FABRIC = "fabric.example.com"
GATES = ("DRAAdminAccess", "DRADeviceTaints", "DRAPartitionableDevices", "DRAPrioritizedList")
"""Gates that are on: of those that change what a search does, the ones that Kubernetes 1.37 has on."""


def gpu(node: int, index: int) -> Object:
    """Return a device with 13 attributes and a capacity, as a driver for GPUs publishes it."""
    text = {
        "type": "gpu",
        "uuid": f"GPU-{node:08x}-{index:04x}-4bd2-9fc1-6f0c2a1b7d3e",
        "model": "H100",
        "productName": "NVIDIA H100 80GB HBM3",
        "brand": "Nvidia",
        "architecture": "Hopper",
        "resource.kubernetes.io/pcieRoot": f"pci0000:{index * 16:02x}",
        "resource.kubernetes.io/pciBusID": f"0000:{index * 16 + 11:02x}:00.0",
        "addressingMode": "HMM",
    }
    versions = {"cudaComputeCapability": "9.0.0", "cudaDriverVersion": "13.0.0", "driverVersion": "580.95.5"}
    attributes: Object = {name: {"string": value} for name, value in text.items()}
    attributes |= {name: {"version": value} for name, value in versions.items()}
    attributes["numa"] = {"int": index // 4}
    return {"name": f"gpu-{index}", "attributes": attributes, "capacity": {"memory": {"value": "81559Mi"}}}


def resource_slice(name: str, driver: str, devices: Sequence[Object], **spec: Any) -> Object:
    """Return a slice that is a pool of its own, named as the slice; `spec` says which nodes reach it."""
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    return {
        "apiVersion": API,
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {"driver": driver, "pool": pool, "devices": list(devices), **spec},
    }


def node(name: str, **labels: str) -> Object:
    """Return a node."""
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def device_class(driver: str = GPU) -> Object:
    """Return the class of all devices of a driver, named as the driver."""
    selectors = [{"cel": {"expression": f'device.driver == "{driver}"'}}]
    return {"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": driver}, "spec": {"selectors": selectors}}


def request(name: str, count: int = 1, *selectors: str) -> Object:
    """Return a request for devices of the class of GPUs."""
    exactly: Object = {"deviceClassName": GPU, "allocationMode": "ExactCount", "count": count}
    if selectors:
        exactly["selectors"] = [{"cel": {"expression": expression}} for expression in selectors]
    return {"name": name, "exactly": exactly}


def claim(requests: Iterable[Object], constraints: Sequence[Object] = (), name: str = "claim") -> Object:
    """Return a claim that is not allocated."""
    devices: Object = {"requests": list(requests)}
    if constraints:
        devices["constraints"] = list(constraints)
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    return {"apiVersion": API, "kind": "ResourceClaim", "metadata": metadata, "spec": {"devices": devices}}


def allocated(one: Object, devices: Iterable[tuple[str, str, str]]) -> Object:
    """Return the claim with an allocation of devices, each given as driver, pool and name, for its first request."""
    request = one["spec"]["devices"]["requests"][0]["name"]
    results = [
        {"request": request, "driver": driver, "pool": pool, "device": device} for driver, pool, device in devices
    ]
    return {**one, "status": {"allocation": {"devices": {"results": results}}}}
