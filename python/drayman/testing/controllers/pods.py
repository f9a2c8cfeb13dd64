"""Facts about pods that several controllers need."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
