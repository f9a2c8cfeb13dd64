"""Admission: what upstream's built-in plugins change in new objects. Of these only `Priority` has a part here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drayman.api import status
from drayman.testing.apiserver.refusal import Refusal

if TYPE_CHECKING:
    from drayman.testing.apiserver.kinds import Kind
    from drayman.testing.apiserver.store import Store

Object = dict[str, Any]

_CLASSES = "priorityclasses.scheduling.k8s.io"
_POLICY = "PreemptLowerPriority"
_SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


def admit(store: Store, kind: Kind, obj: Object) -> Object:
    """Return the new object as admission leaves it. Raises :class:`Refusal` (403) when a plugin does not let it in."""
    return _with_priority(store, obj) if kind.kind == "Pod" else obj


def _with_priority(store: Store, pod: Object) -> Object:
    """Set priority and preemption policy of a pod from its PriorityClass, or from the default one where that exists."""
    spec = pod.get("spec") or {}
    name = spec.get("priorityClassName") or ""
    if not name and "priority" in spec:
        return pod
    priority_class = _class(store, name)
    if priority_class is None:
        if name:
            reason = f"no PriorityClass with name {name} was found"
            raise Refusal(status.forbidden("", "pods", pod["metadata"].get("name", ""), reason))
        return {**pod, "spec": {"preemptionPolicy": _POLICY, **spec, "priority": 0}}
    value = priority_class.get("value", 0)
    if spec.get("priority", value) != value:
        reason = (
            f"the integer value of priority ({spec['priority']}) must not be provided in pod spec; priority admission "
            f"controller computed {value} from the given PriorityClass name"
        )
        raise Refusal(status.forbidden("", "pods", pod["metadata"].get("name", ""), reason))
    policy = priority_class.get("preemptionPolicy", _POLICY)
    chosen = {"priorityClassName": priority_class["metadata"]["name"], "priority": value}
    return {**pod, "spec": {"preemptionPolicy": policy, **spec, **chosen}}


def _class(store: Store, name: str) -> Object | None:
    """Return the PriorityClass of this name; without a name the default one, the lowest where there are several."""
    classes = [stored.obj for stored in store.collection(_CLASSES).items()]
    if not name:
        defaults = [priority_class for priority_class in classes if priority_class.get("globalDefault")]
        return min(defaults, key=lambda priority_class: int(priority_class.get("value", 0)), default=None)
    if name in _SYSTEM_PRIORITIES:
        return {"metadata": {"name": name}, "value": _SYSTEM_PRIORITIES[name]}
    return next((priority_class for priority_class in classes if priority_class["metadata"]["name"] == name), None)
