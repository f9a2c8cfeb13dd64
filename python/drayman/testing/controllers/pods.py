"""Facts about pods that several controllers need."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from drayman.resourceclaim import controller_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from drayman.kube.client import Object


def phase(pod: Object) -> str:
    """Return `status.phase`; a pod without one is pending."""
    return str(pod.get("status", {}).get("phase") or "Pending")


def is_terminal(pod: Object) -> bool:
    """Tell whether `pod` has ended for good."""
    return phase(pod) in ("Succeeded", "Failed")


def is_active(pod: Object) -> bool:
    """Tell whether `pod` runs or may still run."""
    return not is_terminal(pod) and "deletionTimestamp" not in pod["metadata"]


def is_done(pod: Object) -> bool:
    """Tell whether it is certain that no container of `pod` runs now or later."""
    return is_terminal(pod) or ("deletionTimestamp" in pod["metadata"] and not pod["spec"].get("nodeName"))


def is_ready(pod: Object) -> bool:
    """Tell whether the condition `Ready` of `pod` is true."""
    conditions = pod.get("status", {}).get("conditions", ())
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def from_template(owner: Object, template: Object, generate_name: str) -> Object:
    """Return a new pod of `template`, controlled by `owner`, which has `apiVersion` and `kind`."""
    metadata = copy.deepcopy(template.get("metadata", {}))
    metadata |= {
        "generateName": generate_name,
        "namespace": owner["metadata"]["namespace"],
        "ownerReferences": [owned_by(owner)],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": copy.deepcopy(template["spec"])}


def owned_by(owner: Object) -> Object:
    """Return the owner reference that makes `owner` the controller of an object."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def owner_uids(obj: Object) -> Iterator[str]:
    """Yield the UID of the controller of `obj`, if it has one: the values of an index."""
    owner = controller_of(obj)
    if owner is not None:
        yield owner["uid"]
