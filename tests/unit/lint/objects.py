"""Objects for tests of rules, and what lint finds in them."""

from __future__ import annotations

from typing import Any

import yaml

from drayman import manifest
from drayman.lint import Options, lint

API = "resource.k8s.io/v1"


def node(name: str = "w", **status: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}


def slice_(*devices: dict[str, Any], driver: str = "gpu.example.com", name: str = "w", **spec: Any) -> dict[str, Any]:
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    given = {"driver": driver, "nodeName": name, "pool": pool, "devices": list(devices), **spec}
    return {"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": f"{name}-{driver}"}, "spec": given}


def device_class(name: str = "gpu", expression: str = "device.driver == 'gpu.example.com'") -> dict[str, Any]:
    selectors = [{"cel": {"expression": expression}}]
    return {"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": name}, "spec": {"selectors": selectors}}


def claim(*requests: dict[str, Any], kind: str = "ResourceClaim", name: str = "c", **devices: Any) -> dict[str, Any]:
    spec: dict[str, Any] = {"devices": {"requests": list(requests), **devices}}
    spec = {"spec": spec} if kind == "ResourceClaimTemplate" else spec
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name}, "spec": spec}


def exactly(name: str = "gpu", device_class: str = "gpu", **more: Any) -> dict[str, Any]:
    return {"name": name, "exactly": {"deviceClassName": device_class, **more}}


def pod(name: str = "p", used: bool = True, **entry: Any) -> dict[str, Any]:
    container: dict[str, Any] = {"name": "main", "image": "registry.example.com/app:1"}
    if used:
        container["resources"] = {"claims": [{"name": "gpu"}]}
    spec = {"containers": [container], "resourceClaims": [{"name": "gpu", **entry}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def found(*objects: dict[str, Any], beside: tuple[dict[str, Any], ...] = (), **options: Any) -> list[tuple[str, str]]:
    """Return rule and path of what lint finds in `objects`."""
    context = manifest.parse(yaml.safe_dump_all(beside)) if beside else []
    diagnostics = lint([("f.yaml", yaml.safe_dump_all(objects))], Options(context=context, **options))
    return [(one.rule, one.path) for one in diagnostics]


def workload(kind: str, user: dict[str, Any], **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": user["spec"]}
    given = {"selector": {"matchLabels": {"a": "b"}}, "template": template, **spec}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "w"}, "spec": given}
