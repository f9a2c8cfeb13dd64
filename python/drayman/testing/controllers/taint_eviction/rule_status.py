"""The condition `EvictionInProgress` of a DeviceTaintRule."""

from __future__ import annotations

from dataclasses import dataclass

CONDITION = "EvictionInProgress"


@dataclass(frozen=True, slots=True)
class Counts:
    """What the condition tells: pods to go and their namespaces, pods that went, devices that a dry run selects."""

    pods: int = 0
    namespaces: int = 0
    evicted: int = 0
    published: int = 0
    allocated: int = 0


def condition(effect: str, counts: Counts) -> dict[str, str]:
    """Return type, status, reason and message for a rule whose taint has `effect`; the texts are upstream's."""
    status, reason, message = "False", "OtherEffect", "Eviction only happens for the NoExecute effect."
    if effect == "NoExecute":
        message = ""
        if counts.pods:
            status, reason = "True", "PodsPendingEviction"
            need = "1 pod needs" if counts.pods == 1 else f"{counts.pods} pods need"
            message = f"{need} to be evicted in {_namespaces(counts.namespaces)}."
        else:
            reason = "Completed" if counts.evicted else "NotStarted"
    elif effect == "None":
        reason = "NoEffect"
        message = (
            f"{_number(counts.published, 'published device')} selected. "
            f"{_number(counts.allocated, 'allocated device')} selected. "
            f"{_number(counts.pods, 'pod')} would be evicted in {_namespaces(counts.namespaces)} "
            "if the effect was NoExecute. This information will not be updated again. "
            "Recreate the DeviceTaintRule to trigger an update."
        )
    if counts.evicted:
        evicted = f"{_number(counts.evicted, 'pod')} evicted since starting the controller."
        message = f"{message} {evicted}".lstrip()
    return {"type": CONDITION, "status": status, "reason": reason, "message": message}


def _number(count: int, noun: str) -> str:
    return f"1 {noun}" if count == 1 else f"{count} {noun}s"


def _namespaces(count: int) -> str:
    return "1 namespace" if count == 1 else f"{count} different namespaces"
