"""Taints of nodes and tolerations of pods (`k8s.io/component-helpers/scheduling/corev1`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Taint = Mapping[str, Any]
Toleration = Mapping[str, Any]

NO_SCHEDULE = "NoSchedule"
NO_EXECUTE = "NoExecute"
PREFER_NO_SCHEDULE = "PreferNoSchedule"
HARD = (NO_SCHEDULE, NO_EXECUTE)
"""The effects that keep pods off a node."""

CORDON = "node.kubernetes.io/unschedulable"
"""The key of the taint that cordoning a node sets."""


def tolerations_of(pod: Mapping[str, Any]) -> Sequence[Toleration]:
    """Return the pod's tolerations."""
    return pod["spec"].get("tolerations") or ()


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Tell whether `toleration` covers `taint`: empty effect or key stand for all, `Exists` for all values.

    The operators `Lt` and `Gt` (alpha) tolerate nothing here.
    """
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    match toleration.get("operator") or "Equal":
        case "Exists":
            return True
        case "Equal":
            return bool((toleration.get("value") or "") == (taint.get("value") or ""))
        case _:
            return False


def tolerates_cordon(pod: Mapping[str, Any]) -> bool:
    """Tell whether the pod runs on cordoned nodes too."""
    cordon = {"key": CORDON, "effect": NO_SCHEDULE}
    return any(tolerates(each, cordon) for each in tolerations_of(pod))


def first_untolerated(
    taints: Iterable[Taint], tolerations: Sequence[Toleration], effects: Sequence[str]
) -> Taint | None:
    """Return the first taint with one of `effects` that no toleration covers."""
    for taint in taints:
        if taint["effect"] in effects and not any(tolerates(toleration, taint) for toleration in tolerations):
            return taint
    return None
