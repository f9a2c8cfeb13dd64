"""Rules about the spec of pods, in pods and in templates. Source: `pkg/apis/core/validation`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drayman.api.field import FieldError, Path, duplicate, invalid, not_supported, required
from drayman.api.validation import names
from drayman.api.validation.container import Surroundings, containers, init_containers
from drayman.api.validation.metadata import descriptive_metadata, labels
from drayman.api.validation.node_selector import node_selector, preferred_term
from drayman.api.validation.pod_claims import claim_names, resource_claims
from drayman.api.validation.rules import Errors, matching, one_of

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")
_TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_MAX_INT32 = 2**31 - 1


def pod_spec(path: Path, spec: Mapping[str, Any], metadata: Mapping[str, Any]) -> Errors:
    """A pod spec; `metadata` is that of the pod, empty for a template."""
    if spec.get("terminationGracePeriodSeconds") is None:
        yield required(path.child("terminationGracePeriodSeconds"))
    yield from _volumes(path.child("volumes"), spec.get("volumes") or ())
    volumes = frozenset(volume.get("name", "") for volume in spec.get("volumes") or ())
    around = Surroundings(claim_names(spec), volumes)
    yield from resource_claims(path.child("resourceClaims"), spec.get("resourceClaims"), metadata)
    yield from containers(path.child("containers"), spec, around)
    yield from init_containers(path.child("initContainers"), spec, around)
    yield from one_of(path.child("restartPolicy"), spec.get("restartPolicy"), _RESTART_POLICIES)
    yield from one_of(path.child("dnsPolicy"), spec.get("dnsPolicy"), _DNS_POLICIES)
    yield from labels(path.child("nodeSelector"), spec.get("nodeSelector"))
    node_affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    yield from _node_affinity(path.child("affinity", "nodeAffinity"), node_affinity)
    yield from _scheduling_gates(path.child("schedulingGates"), spec.get("schedulingGates") or ())
    yield from _names(path, spec)
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= _MAX_INT32:
        text = f"must be between 1 and {_MAX_INT32}, inclusive"
        yield invalid(path.child("activeDeadlineSeconds"), deadline, text)
    yield from tolerations(path.child("tolerations"), spec.get("tolerations") or ())
    if spec.get("preemptionPolicy") is not None:
        yield from one_of(path.child("preemptionPolicy"), spec["preemptionPolicy"], _PREEMPTION_POLICIES)


def _names(path: Path, spec: Mapping[str, Any]) -> Errors:
    """Names of other objects, where they are given."""
    for name in ("serviceAccountName", "nodeName", "priorityClassName", "runtimeClassName"):
        if spec.get(name):
            yield from matching(path.child(name), spec[name], names.dns_subdomain)
    for name in ("hostname", "subdomain"):
        if spec.get(name):
            yield from matching(path.child(name), spec[name], names.dns_label)


def _volumes(path: Path, volumes: Sequence[Mapping[str, Any]]) -> Errors:
    seen: set[str] = set()
    for index, volume in enumerate(volumes):
        name_path, name = path.index(index).child("name"), volume.get("name", "")
        if not name:
            yield required(name_path)
        else:
            yield from matching(name_path, name, names.dns_label)
        if name in seen:
            yield duplicate(name_path, name)
        seen.add(name)


def _node_affinity(path: Path, affinity: Mapping[str, Any]) -> Errors:
    wanted = "requiredDuringSchedulingIgnoredDuringExecution"
    if affinity.get(wanted) is not None:
        yield from node_selector(path.child(wanted), affinity[wanted])
    preferred = "preferredDuringSchedulingIgnoredDuringExecution"
    for index, term in enumerate(affinity.get(preferred) or ()):
        term_path = path.child(preferred).index(index)
        if not 1 <= term.get("weight", 0) <= 100:
            yield invalid(term_path.child("weight"), term.get("weight", 0), "must be in the range 1-100")
        yield from preferred_term(term_path.child("preference"), term.get("preference") or {})


def _scheduling_gates(path: Path, gates: Sequence[Mapping[str, Any]]) -> Errors:
    seen: set[str] = set()
    for index, gate in enumerate(gates):
        name = gate.get("name", "")
        yield from matching(path.index(index), name, names.label_key)
        if name in seen:
            yield duplicate(path.index(index), name)
        seen.add(name)


def tolerations(path: Path, value: Sequence[Mapping[str, Any]]) -> Errors:
    """What taints of nodes a pod puts up with."""
    for index, toleration in enumerate(value):
        yield from _toleration(path.index(index), toleration)


def _toleration(path: Path, toleration: Mapping[str, Any]) -> Errors:
    key, operator = toleration.get("key", ""), toleration.get("operator", "")
    text, effect = toleration.get("value", ""), toleration.get("effect", "")
    if key:
        yield from matching(path.child("key"), key, names.label_key)
    elif operator != "Exists":
        rule = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield invalid(path.child("operator"), operator, rule)
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        yield invalid(path.child("effect"), effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
    yield from _toleration_value(path.child("operator"), operator, text)
    if effect and effect not in _TAINT_EFFECTS:
        yield not_supported(path.child("effect"), effect, _TAINT_EFFECTS)


def _toleration_value(path: Path, operator: str, text: str) -> Errors:
    if operator in {"", "Equal"}:
        problems = names.label_value(text)
        if problems:
            yield invalid(path, text, ";".join(problems))
    elif operator == "Exists":
        if text:
            yield invalid(path, text, "value must be empty when `operator` is 'Exists'")
    else:
        numeric = ("Lt", "Gt") if operator in {"Lt", "Gt"} else ()
        yield not_supported(path, operator, ("Equal", "Exists", *numeric))


def node_taints(path: Path, taints: Sequence[Mapping[str, Any]]) -> Errors:
    """The taints of a node, unique by key and effect."""
    seen = set()
    for index, taint in enumerate(taints):
        key, effect = taint.get("key", ""), taint.get("effect", "")
        yield from matching(path.index(index).child("key"), key, names.label_key)
        problems = names.label_value(taint.get("value", ""))
        if problems:
            yield invalid(path.index(index).child("value"), taint["value"], ";".join(problems))
        yield from one_of(path.index(index).child("effect"), effect, _TAINT_EFFECTS)
        if (key, effect) in seen:
            text = "taints must be unique by key and effect pair"
            yield FieldError("FieldValueDuplicate", str(path.index(index)), dict(taint), text)
        seen.add((key, effect))


def pod_template(path: Path, template: Mapping[str, Any]) -> Errors:
    """The pod template of a Job, a Deployment and their like."""
    yield from descriptive_metadata(path, template.get("metadata") or {})
    yield from pod_spec(path.child("spec"), template.get("spec") or {}, {})
