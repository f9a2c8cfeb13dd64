"""Builders of small clusters: what is not named is the plainest thing that works."""

from __future__ import annotations

from typing import Any

import pytest

Object = dict[str, Any]


class Objects:
    """Makes objects of `resource.k8s.io/v1`."""

    def slice(self, node: str, devices: int = 2, *, driver: str = "gpu.example.com", **spec: Any) -> Object:
        """Return a slice that is the whole pool `node`, with devices gpu-0, gpu-1, … that know their index."""
        return {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": f"{node}-{driver}"},
            "spec": {
                "driver": driver,
                "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
                "nodeName": node,
                "devices": [{"name": f"gpu-{i}", "attributes": {"index": {"int": i}}} for i in range(devices)],
                **spec,
            },
        }

    def device_class(self, name: str = "gpu", expression: str = 'device.driver == "gpu.example.com"') -> Object:
        """Return a class with one selector."""
        return {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": name},
            "spec": {"selectors": [{"cel": {"expression": expression}}]},
        }

    def claim(self, name: str, namespace: str = "default", **exactly: Any) -> Object:
        """Return a claim with one request `devices` of class `gpu`."""
        return {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"devices": {"requests": [{"name": "devices", "exactly": {"deviceClassName": "gpu", **exactly}}]}},
        }

    def node(self, name: str, **labels: str) -> Object:
        """Return a node."""
        return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


@pytest.fixture
def objects() -> Objects:
    return Objects()
