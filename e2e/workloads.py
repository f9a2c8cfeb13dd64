"""Pods, Jobs and claims that tests apply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drayman.testing.clusters.local.images import TESTBOX as IMAGE

if TYPE_CHECKING:
    from collections.abc import Mapping

    Object = dict[str, Any]

CLASS = "gpu.example.com"
FOREVER = "env; sleep 3600"

_API = "resource.k8s.io/v1"


def template(name: str, count: int, device_class: str = CLASS) -> Object:
    """Return a template of claims for `count` devices."""
    return {
        "apiVersion": _API,
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name},
        "spec": _claim(name, count, device_class),
    }


def claim(name: str, count: int, device_class: str = CLASS) -> Object:
    """Return a claim for `count` devices."""
    spec = _claim(name, count, device_class)["spec"]
    return {"apiVersion": _API, "kind": "ResourceClaim", "metadata": {"name": name}, "spec": spec}


def device_class(name: str, expression: str) -> Object:
    """Return a class of the devices for which the CEL `expression` is true."""
    spec = {"selectors": [{"cel": {"expression": expression}}]}
    return {"apiVersion": _API, "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def pod(
    name: str, scheduler: str, *, command: str = FOREVER, templates: tuple[str, ...] = (), claims: tuple[str, ...] = ()
) -> Object:
    """Return a pod with claims, made from `templates` or those of the names `claims`."""
    spec = _pod(scheduler, command, templates, claims)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def job(
    name: str,
    scheduler: str,
    *,
    completions: int,
    parallelism: int,
    templates: tuple[str, ...] = (),
    claims: tuple[str, ...] = (),
) -> Object:
    """Return a Job whose pods take a second, and of which none may fail."""
    spec = {
        "completions": completions,
        "parallelism": parallelism,
        "backoffLimit": 0,
        "template": {"spec": {"restartPolicy": "Never", **_pod(scheduler, "env; sleep 1", templates, claims)}},
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": spec}


def one_shot(name: str, node: str, command: str, directory: str) -> Object:
    """Return a pod, "namespace/name", that runs `command` on `node`, whose `directory` it sees."""
    namespace, _, plain = name.rpartition("/")
    container = {**_container(command), "volumeMounts": [{"name": "seen", "mountPath": directory, "readOnly": True}]}
    spec = {
        "nodeName": node,
        "restartPolicy": "Never",
        "containers": [container],
        "volumes": [{"name": "seen", "hostPath": {"path": directory}}],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": namespace, "name": plain}, "spec": spec}


def _claim(request: str, count: int, device_class: str) -> Object:
    exactly: Mapping[str, Any] = {"deviceClassName": device_class, "count": count}
    return {"spec": {"devices": {"requests": [{"name": request, "exactly": exactly}]}}}


def _pod(scheduler: str, command: str, templates: tuple[str, ...], claims: tuple[str, ...]) -> Object:
    entries = [{"name": name, "resourceClaimTemplateName": name} for name in templates]
    entries += [{"name": name, "resourceClaimName": name} for name in claims]
    resources = {"resources": {"claims": [{"name": entry["name"]} for entry in entries]}} if entries else {}
    return {
        "schedulerName": scheduler,
        "containers": [{**_container(command), **resources}],
        **({"resourceClaims": entries} if entries else {}),
    }


def _container(command: str) -> Object:
    return {"name": "main", "image": IMAGE, "command": ["sh", "-c", command]}
