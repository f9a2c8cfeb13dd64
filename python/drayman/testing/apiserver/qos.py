"""The quality-of-service class of a pod, by `GetPodQOS` of upstream's `pkg/apis/core/helper/qos`."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

_COMPUTE = ("cpu", "memory")


def qos_class(spec: Object) -> str:
    """Return `Guaranteed`, `Burstable` or `BestEffort`."""
    if spec.get("resources"):
        sources = [spec["resources"]]
    else:
        containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
        sources = [container.get("resources") or {} for container in containers]
    amounts = [(_compute(source, "requests"), _compute(source, "limits")) for source in sources]
    if not any(requests or limits for requests, limits in amounts):
        return "BestEffort"
    guaranteed = all(len(limits) == len(_COMPUTE) and (requests or limits) == limits for requests, limits in amounts)
    return "Guaranteed" if guaranteed else "Burstable"


def _compute(resources: Object, section: str) -> dict[str, str]:
    amounts = resources.get(section) or {}
    return {name: str(amounts[name]) for name in _COMPUTE if name in amounts and str(amounts[name]) != "0"}
