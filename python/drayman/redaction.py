"""Objects without the names that their owners gave, for handing a cluster to somebody else.

One name is always replaced by the same other one, in objects and in what refers to them, so that allocating,
explaining and simulating give the same answers. Only fields that these need are kept at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

KEPT = (
    "names of drivers, schedulers, devices, requests, attributes, capacities, counters and resources; label "
    "and taint keys; numbers, versions, times, UIDs; CEL expressions; the namespaces of Kubernetes itself"
)
"""What is not replaced."""

_OWN_NAMESPACES = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})
_TELLING = re.compile(r"uuid|guid|serial|pci|mac|addr|host|(^|[a-z])ip($|[A-Z])", re.IGNORECASE)
"""Attributes whose values tell which piece of hardware it is."""
_PLAIN = re.compile(r"|true|false|-?[0-9]+")
"""Label values that name nothing."""

_CLASS_NAMES = {"deviceclass": "class", "resourceclaim": "claim", "resourceclaimtemplate": "template"}
_PLURALS = {"pods": "pod", "podgroups": "podgroup"}

_METADATA = frozenset(
    {"name", "namespace", "uid", "labels", "ownerReferences", "creationTimestamp", "deletionTimestamp", "finalizers"}
)
_POD_SPEC = frozenset(
    {
        "affinity",
        "containers",
        "hostNetwork",
        "initContainers",
        "nodeName",
        "nodeSelector",
        "overhead",
        "preemptionPolicy",
        "priority",
        "resourceClaims",
        "resources",
        "restartPolicy",
        "schedulerName",
        "schedulingGates",
        "schedulingGroup",
        "terminationGracePeriodSeconds",
        "tolerations",
        "topologySpreadConstraints",
    }
)
_CONTAINER = frozenset({"name", "image", "resources", "restartPolicy", "ports"})
_WORKLOAD_SPEC = frozenset(
    {"replicas", "selector", "template", "parallelism", "completions", "backoffLimit", "suspend", "completionMode"}
)
_SPEC = {
    "Node": frozenset({"unschedulable", "taints"}),
    "Namespace": frozenset[str](),
    "Pod": _POD_SPEC,
    **dict.fromkeys(("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"), _WORKLOAD_SPEC),
}
"""Fields of specs that are kept; kinds of `resource.k8s.io` keep all, any other kind is left out."""
_STATUS = {
    "Node": frozenset({"allocatable", "capacity", "conditions", "declaredFeatures"}),
    "Namespace": frozenset({"phase"}),
    "Pod": frozenset(
        {"phase", "conditions", "resourceClaimStatuses", "extendedResourceClaimStatus", "nominatedNodeName"}
    ),
    "ResourceClaim": frozenset({"allocation", "reservedFor"}),
}
_CONDITION = frozenset({"type", "status", "reason", "lastTransitionTime"})


class Redactor:
    """Replaces names; what it has replaced once it replaces in the same way again."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}

    def redact(self, objects: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the objects without names. Kinds that no answer depends on are left out."""
        given = [one for one in objects if _is_kept(one)]
        slices = [one for one in given if one["kind"] == "ResourceSlice"]
        # Answers depend on the order of these names, and labels and pools may be called like a node or namespace.
        for category, kind in (("namespace", "Namespace"), ("node", "Node"), ("slice", "ResourceSlice")):
            self._number(category, {one["metadata"]["name"] for one in given if one["kind"] == kind})
        self._number("node", {one["spec"]["nodeName"] for one in slices if one["spec"].get("nodeName")})
        self._number("pool", {one["spec"]["pool"]["name"] for one in slices} - self._known("node"))
        for one in slices:  # before any expression that may look at them
            for device in one["spec"].get("devices") or []:
                self._attributes(device.get("attributes") or {})
        return [self._object(one) for one in given]

    def _known(self, category: str) -> set[str]:
        return {name for known, name in self._names if known == category}

    def _number(self, category: str, names: Iterable[str]) -> None:
        """Name all `names` at once, so that those that stand for them are in the same order."""
        new = sorted(set(names) - self._known(category))
        width = len(str(len(new)))
        for name in new:
            self._name(category, name, width)

    def _object(self, one: Mapping[str, Any]) -> dict[str, Any]:
        kind = one["kind"]
        redacted: dict[str, Any] = {"apiVersion": one["apiVersion"], "kind": kind}
        redacted["metadata"] = self._metadata(_category(kind), one["metadata"])
        if "spec" in one:
            redacted["spec"] = self._mapping(_only(one["spec"], _SPEC.get(kind)))
        status = _only(one.get("status") or {}, _STATUS.get(kind, frozenset()))
        if status:
            redacted["status"] = self._mapping(status)
        return redacted

    def _metadata(self, category: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
        kept = dict(_only(metadata, _METADATA))
        if "name" in kept:
            kept["name"] = self._name(category, kept["name"])
        if "namespace" in kept:
            kept["namespace"] = self._name("namespace", kept["namespace"])
        if "labels" in kept:
            kept["labels"] = self._labels(kept["labels"] or {})
        if "ownerReferences" in kept:
            kept["ownerReferences"] = [
                {**owner, "name": self._name(_category(owner["kind"]), owner["name"])}
                for owner in kept["ownerReferences"] or []
            ]
        if "finalizers" in kept:
            kept["finalizers"] = [one for one in kept["finalizers"] or [] if "kubernetes.io/" in one]
        return kept

    def _mapping(self, value: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self._field(name, one) for name, one in value.items()}

    def _field(self, name: str, value: Any) -> Any:
        """Return a field of a spec or status; where a name stands is told by what the field is called."""
        handlers: dict[str, Callable[[Any], Any]] = self._handlers()
        if value is not None and name in handlers:
            return handlers[name](value)
        return self._any(value)

    def _any(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return self._mapping(value)
        return [self._any(one) for one in value] if isinstance(value, list) else value

    def _handlers(self) -> dict[str, Callable[[Any], Any]]:
        return {
            "nodeName": lambda name: self._name("node", name),
            "nominatedNodeName": lambda name: self._name("node", name),
            "deviceClassName": lambda name: self._name("class", name),
            "resourceClaimName": lambda name: self._name("claim", name),
            "resourceClaimTemplateName": lambda name: self._name("template", name),
            "containerName": lambda name: self._name("container", name),
            "podGroupName": lambda name: self._name("podgroup", name),
            "namespaces": lambda names: [self._name("namespace", name) for name in names],
            "pool": self._pool,
            "metadata": lambda metadata: self._metadata("pod", metadata),
            "spec": lambda spec: self._mapping(_only(spec, _POD_SPEC) if "containers" in spec else spec),
            "labels": self._labels,
            "matchLabels": self._labels,
            "nodeSelector": lambda one: self._mapping(one) if "nodeSelectorTerms" in one else self._labels(one),
            "matchExpressions": lambda terms: [self._term(term) for term in terms],
            "matchFields": lambda terms: [
                {**term, "values": [self._name("node", one) for one in term.get("values") or []]} for term in terms
            ],
            "taints": lambda taints: [self._taint(taint) for taint in taints],
            "taint": self._taint,
            "tolerations": lambda tolerations: [self._taint(toleration) for toleration in tolerations],
            "attributes": lambda one: self._attributes(one) if isinstance(one, Mapping) else one,
            "expression": self._expression,
            "parameters": lambda _: {},
            "containers": lambda ones: [self._container(one) for one in ones],
            "initContainers": lambda ones: [self._container(one) for one in ones],
            "conditions": lambda ones: [_only(one, _CONDITION) for one in ones],
            "reservedFor": lambda ones: [
                {**one, "name": self._name(_PLURALS.get(one["resource"], one["resource"]), one["name"])} for one in ones
            ],
        }

    def _name(self, category: str, name: str, width: int = 1) -> str:
        """Return what stands for a name of something of this category."""
        if not name or (category == "namespace" and name in _OWN_NAMESPACES):
            return name
        if (category, name) not in self._names:
            self._counts[category] = self._counts.get(category, 0) + 1
            self._names[category, name] = f"{category}-{self._counts[category]:0{width}}"
        return self._names[category, name]

    def _pool(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {**value, "name": self._pool(value["name"])}
        return self._name("node" if ("node", value) in self._names else "pool", value)

    def _value(self, value: str) -> str:
        """Return what stands for the value of a label or a taint, wherever it is compared."""
        if _PLAIN.fullmatch(value):
            return value
        known = next((one for one in ("node", "namespace") if (one, value) in self._names), "value")
        return self._name(known, value)

    def _labels(self, labels: Mapping[str, str]) -> dict[str, str]:
        return {key: self._value(value) for key, value in labels.items()}

    def _term(self, term: Mapping[str, Any]) -> dict[str, Any]:
        if "values" not in term:
            return dict(term)
        return {**term, "values": [self._value(value) for value in term["values"] or []]}

    def _taint(self, taint: Mapping[str, Any]) -> dict[str, Any]:
        return {**taint, "value": self._value(taint["value"])} if taint.get("value") else dict(taint)

    def _container(self, container: Mapping[str, Any]) -> dict[str, Any]:
        kept = dict(_only(container, _CONTAINER))
        return {**kept, "name": self._name("container", container["name"]), "image": "redacted"}

    def _attributes(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: self._told(attribute) if _TELLING.search(name.rpartition("/")[2]) else attribute
            for name, attribute in attributes.items()
        }

    def _told(self, attribute: Mapping[str, Any]) -> dict[str, Any]:
        """Return an attribute that tells which piece of hardware it is, with other text; versions and numbers stay."""
        kept = dict(attribute)
        if isinstance(kept.get("string"), str):
            kept["string"] = self._name("id", kept["string"])
        if isinstance(kept.get("strings"), list):
            kept["strings"] = [self._name("id", one) for one in kept["strings"]]
        return kept

    def _expression(self, expression: str) -> str:
        """Return a CEL expression that means the same of the redacted attributes, unless it looks at parts of them."""

        def replaced(literal: re.Match[str]) -> str:
            known = self._names.get(("id", literal[2]))
            return f"{literal[1]}{known}{literal[1]}" if known else literal[0]

        return re.sub(r"""(["'])([^"'\\]*)\1""", replaced, expression)


def _is_kept(one: Mapping[str, Any]) -> bool:
    return one["kind"] in _SPEC or str(one["apiVersion"]).startswith("resource.k8s.io/")


def _category(kind: str) -> str:
    lower = kind.lower()
    return _CLASS_NAMES.get(lower, {"resourceslice": "slice", "devicetaintrule": "rule"}.get(lower, lower))


def _only(value: Mapping[str, Any], names: frozenset[str] | None) -> Mapping[str, Any]:
    return value if names is None else {name: one for name, one in value.items() if name in names}
