"""Defaults of `resource.k8s.io/v1`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drayman.api.defaults.access import fill, mapping, mappings
from drayman.timestamps import rfc3339

if TYPE_CHECKING:
    import datetime as dt


def claim(obj: dict[str, Any]) -> None:
    """Fill a ResourceClaim."""
    _requests(mapping(obj, "spec"))


def claim_template(obj: dict[str, Any]) -> None:
    """Fill the claim in a ResourceClaimTemplate."""
    _requests(mapping(obj, "spec", "spec"))


def _requests(spec: dict[str, Any]) -> None:
    for request in mappings(spec, "devices", "requests"):
        if isinstance(request.get("exactly"), dict):
            _request(request["exactly"])
        for alternative in mappings(request, "firstAvailable"):
            _request(alternative)


def _request(request: dict[str, Any]) -> None:
    if not request.get("allocationMode"):
        request["allocationMode"] = "ExactCount"
    if request["allocationMode"] == "ExactCount" and not request.get("count"):
        request["count"] = 1
    for toleration in mappings(request, "tolerations"):
        if not toleration.get("operator"):
            toleration["operator"] = "Equal"


def stamp_taints(obj: dict[str, Any], now: dt.datetime) -> None:
    """Set `timeAdded` of the taints of a ResourceSlice or DeviceTaintRule that have none."""
    taints = [taint for device in mappings(obj, "spec", "devices") for taint in mappings(device, "taints")]
    if obj.get("kind") == "DeviceTaintRule" and isinstance(mapping(obj, "spec").get("taint"), dict):
        taints.append(obj["spec"]["taint"])
    for taint in taints:
        fill(taint, timeAdded=rfc3339(now))
