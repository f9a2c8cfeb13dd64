"""Label and field selectors of list, watch and deletion of collections."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman import label_selector
from drayman.api import status
from drayman.errors import InputError
from drayman.label_selector import Requirement
from drayman.testing.apiserver.refusal import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Selector:
    """What a request wants to see. The empty selector takes everything."""

    labels: tuple[Requirement, ...] = ()
    fields: tuple[tuple[Callable[[Object], str], str, bool], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.labels or self.fields)

    def matches(self, obj: Object) -> bool:
        """Return whether `obj`, in its stored version, is selected."""
        labels = obj["metadata"].get("labels") or {}
        return label_selector.matches(self.labels, labels) and all(
            (read(obj) == value) is wanted for read, value, wanted in self.fields
        )


def label_requirements(text: str) -> tuple[Requirement, ...]:
    """Read a label selector. Raises :class:`Refusal` (400) when it is not one."""
    try:
        return label_selector.parse(text)
    except InputError as error:
        raise Refusal(status.bad_request(str(error))) from error


def selector(kind: str, label_text: str, field_text: str) -> Selector:
    """Read both selectors of a request. Raises :class:`Refusal` (400), also for a field without selection in `kind`."""
    return Selector(label_requirements(label_text), tuple(_field_terms(kind, field_text)))


def _field_terms(kind: str, text: str) -> list[tuple[Callable[[Object], str], str, bool]]:
    terms = []
    for term in filter(None, text.split(",")):
        found = re.fullmatch(r"([^=!]+)(==|!=|=)(.*)", term)
        if found is None:
            raise Refusal(status.bad_request(f"invalid selector: '{term}'; can't understand '{term}'"))
        name, operator, value = found.groups()
        reader = _reader(kind, name)
        if reader is None:
            raise Refusal(status.bad_request(_unknown_field(kind, name)))
        terms.append((reader, value, operator != "!="))
    return terms


# Fields by kind; every kind can be selected by name, and namespaced ones by namespace.
_FIELDS: dict[str, tuple[str, ...]] = {
    "Pod": (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ),
    "Node": ("spec.unschedulable",),
    "Namespace": ("status.phase",),
    "Secret": ("type",),
    "Service": ("spec.clusterIP", "spec.type"),
    "ReplicationController": ("status.replicas",),
    "ReplicaSet": ("status.replicas",),
    "Job": ("status.successful",),
    "CertificateSigningRequest": ("spec.signerName",),
    "ResourceSlice": ("spec.nodeName", "spec.driver", "spec.pool.name"),
    "Event": (
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
}
_ALIASES = {"reportingController": "reportingComponent"}
_BOOLEANS = frozenset({"spec.unschedulable", "spec.hostNetwork"})
_NUMBERS = {"status.replicas": "status.replicas", "status.successful": "status.succeeded"}


def _reader(kind: str, name: str) -> Callable[[Object], str] | None:
    if kind == "Event":
        name = _ALIASES.get(name, name).replace("regarding.", "involvedObject.")
    if name in ("metadata.name", "metadata.namespace"):
        return _path(name, "")
    if name not in _FIELDS.get(kind, ()):
        return None
    if name == "source" and kind == "Event":
        return _event_source
    if name in _BOOLEANS:
        return _path(name, "false")
    if name in _NUMBERS:
        return _path(_NUMBERS[name], "0")
    return _path(name, "")


def _path(name: str, default: str) -> Callable[[Object], str]:
    steps = name.split(".")

    def read(obj: Object) -> str:
        value: Any = obj
        for step in steps:
            value = value.get(step) if isinstance(value, dict) else None
        if isinstance(value, bool):
            return "true" if value else "false"
        return default if value is None else str(value)

    return read


def _event_source(event: Object) -> str:
    return str((event.get("source") or {}).get("component") or event.get("reportingComponent") or "")


def _unknown_field(kind: str, name: str) -> str:
    """Return the text for a field that cannot be selected by; kinds without fields of their own have another one."""
    if kind in _FIELDS:
        return f"field label not supported: {name}"
    return f'"{name}" is not a known field selector: only "metadata.name", "metadata.namespace"'
