"""The ResourceClaim that a template yields for one claim entry of its owner."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from drayman.kube.resources import CLAIMS
from drayman.names import POD_CLAIM_NAME
from drayman.testing.controllers.queue import SyncError

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_BASE_LENGTH = 57
"""What leaves room for a hyphen and five random characters in 63."""


def generate_name(owner: str, entry: str) -> str:
    """Return the `generateName` of the claim for `entry` of the object `owner`.

    When both do not fit, each is cut in proportion to its length, so that something of both is left; the hyphen at
    the end is then left out, as upstream does.
    """
    name = f"{owner}-{entry}-"
    if len(name) <= MAX_BASE_LENGTH:
        return name
    kept = [part[: len(part) * MAX_BASE_LENGTH // len(name)] for part in (owner, entry)]
    return "-".join(kept)


def claim_from_template(
    template: Mapping[str, Any], owner: Mapping[str, Any], entry: str, *, gates: frozenset[str]
) -> dict[str, Any]:
    """Return the claim for `entry` of `owner`, which has `apiVersion` and `kind`.

    Raises :class:`SyncError` when the template asks for a feature that is off.
    """
    spec = template.get("spec") or {}
    wanted = spec.get("spec") or {}
    requests = (wanted.get("devices") or {}).get("requests") or ()
    if "DRAAdminAccess" not in gates and any(request.get("exactly", {}).get("adminAccess") for request in requests):
        raise SyncError("admin access is requested, but the feature is disabled")
    if "DRAPrioritizedList" not in gates and any(request.get("firstAvailable") for request in requests):
        raise SyncError("template includes a prioritized list of subrequests, but the feature is disabled")
    metadata = spec.get("metadata") or {}
    claim_metadata = {
        "generateName": generate_name(owner["metadata"]["name"], entry),
        "namespace": owner["metadata"]["namespace"],
        "annotations": {**(metadata.get("annotations") or {}), POD_CLAIM_NAME: entry},
        "ownerReferences": [owner_reference(owner)],
    }
    if metadata.get("labels"):
        claim_metadata["labels"] = dict(metadata["labels"])
    return {
        "apiVersion": CLAIMS.api_version,
        "kind": CLAIMS.kind,
        "metadata": claim_metadata,
        "spec": copy.deepcopy(wanted),
    }


def owner_reference(owner: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reference that makes `owner` the controller of a claim."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
    }
