"""The `binding` subresource of pods: how schedulers assign them to nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drayman.api import field, status
from drayman.testing.apiserver.refusal import Refusal
from drayman.testing.apiserver.writes import precondition_failed

if TYPE_CHECKING:
    from drayman.testing.apiserver.kinds import Kind
    from drayman.testing.apiserver.writes import Writes

Object = dict[str, Any]


def bind(writes: Writes, pods: Kind, namespace: str, name: str, binding: Object, *, now: str, dry_run: bool) -> None:
    """Assign a pod to a node: sets `spec.nodeName` and the condition PodScheduled.

    Raises :class:`Refusal`: 404, 422 for a binding without target, 409 when the pod is bound, gated, being deleted or
    another one.
    """
    _validate(binding, name)
    metadata = binding.get("metadata") or {}
    current = writes.get(pods, namespace, name)
    pod = current.obj
    _check_preconditions(pods, pod, metadata)
    reason = _obstacle(pod)
    if reason:
        raise Refusal(status.conflict("", "pods/binding", name, reason))
    merged = dict(pod["metadata"])
    for part in ("annotations", "labels"):
        if metadata.get(part):
            merged[part] = {**(merged.get(part) or {}), **metadata[part]}
    old_status = pod.get("status") or {}
    new_status = {key: value for key, value in old_status.items() if key != "nominatedNodeName"}
    new_status["conditions"] = _scheduled(old_status.get("conditions") or [], now)
    spec = {**pod["spec"], "nodeName": binding["target"]["name"]}
    writes.commit(pods, {**pod, "metadata": merged, "spec": spec, "status": new_status}, current, dry_run=dry_run)


def _validate(binding: Object, name: str) -> None:
    if (binding.get("metadata") or {}).get("name", name) != name:
        raise Refusal(status.bad_request("name in URL does not match name in Binding object"))
    target = binding.get("target") or {}
    path = field.Path("target")
    errors = []
    if target.get("kind") not in (None, "", "Node"):
        errors.append(field.not_supported(path.child("kind"), target["kind"], ["Node", "<empty>"]))
    if not target.get("name"):
        errors.append(field.required(path.child("name")))
    if errors:
        message = field.aggregate(errors)
        raise Refusal(status.unexplained_error(message))


def _check_preconditions(pods: Kind, pod: Object, wanted: Object) -> None:
    present = pod["metadata"]
    for name, label in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
        if wanted.get(name) and wanted[name] != present[name]:
            raise precondition_failed(pods, present, label, wanted[name], present[name])


def _obstacle(pod: Object) -> str:
    name, spec = pod["metadata"]["name"], pod.get("spec") or {}
    if "deletionTimestamp" in pod["metadata"]:
        return f"pod {name} is being deleted, cannot be assigned to a host"
    if spec.get("nodeName"):
        return f'pod {name} is already assigned to node "{spec["nodeName"]}"'
    if spec.get("schedulingGates"):
        return f"pod {name} has non-empty .spec.schedulingGates"
    return ""


def _scheduled(conditions: list[Object], now: str) -> list[Object]:
    condition: Object = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": now}
    for position, old in enumerate(conditions):
        if old.get("type") == "PodScheduled":
            if old.get("status") == "True":
                condition["lastTransitionTime"] = old.get("lastTransitionTime", now)
            return [*conditions[:position], condition, *conditions[position + 1 :]]
    return [*conditions, condition]
