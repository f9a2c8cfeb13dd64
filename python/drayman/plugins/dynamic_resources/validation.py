"""What must hold for the requests of a claim before any node is looked at."""

from __future__ import annotations

from collections.abc import Container

from drayman.framework import SUCCESS, Object, Status, failed, unresolvable
from drayman.pods.objects import key_of


def check_requests(claim: Object, classes: Container[str], features: Container[str]) -> Status:
    """Refuse requests of unknown kinds and for DeviceClasses that do not exist, with upstream's texts."""
    for request in claim["spec"].get("devices", {}).get("requests") or ():
        status = _check_request(claim, request, classes, features)
        if not status.is_success:
            return status
    return SUCCESS


def _check_request(claim: Object, request: Object, classes: Container[str], features: Container[str]) -> Status:
    name = request["name"]
    if "exactly" in request:
        return _check_class(request["exactly"], name, classes)
    where = f"resource claim {key_of(claim)}, request {name}"
    if not request.get("firstAvailable"):
        return unresolvable(f"{where}: unknown request type")
    if "DRAPrioritizedList" not in features:
        return unresolvable(f"{where}: has subrequests, but the DRAPrioritizedList feature is disabled")
    for alternative in request["firstAvailable"]:
        status = _check_class(alternative, f"{name}/{alternative['name']}", classes)
        if not status.is_success:
            return status
    return SUCCESS


def _check_class(request: Object, name: str, classes: Container[str]) -> Status:
    class_name = request.get("deviceClassName")
    if not class_name:
        return failed(f"request {name}: unsupported request type")
    if class_name not in classes:
        return unresolvable(f"request {name}: device class {class_name} does not exist")
    return SUCCESS
