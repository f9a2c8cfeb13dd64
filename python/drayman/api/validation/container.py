"""Rules about containers: names, images, ports, environment, mounts and resources.

Source: `pkg/apis/core/validation`. Probes, life-cycle hooks and security contexts are not checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from drayman.api.field import Path, duplicate, forbidden, invalid, not_found, required
from drayman.api.validation import names
from drayman.api.validation.device_names import declared_extended_resource_name
from drayman.api.validation.pod_claims import container_claims
from drayman.api.validation.rules import Errors, matching, one_of, required_matching
from drayman.quantity import Quantity

_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_ONLY_SIDECARS = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
_STANDARD = frozenset({"cpu", "memory", "ephemeral-storage"})
_COUNTED = frozenset(
    {
        "configmaps",
        "persistentvolumeclaims",
        "pods",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "services",
        "services.loadbalancers",
        "services.nodeports",
    }
)
_OF_QUOTAS = frozenset(f"{kind}.{name}" for kind in ("limits", "requests") for name in _STANDARD) | {
    "storage",
    "requests.storage",
}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the containers of a pod may refer to."""

    claims: frozenset[str]
    volumes: frozenset[str]


def containers(path: Path, spec: Mapping[str, Any], around: Surroundings) -> Errors:
    """A pod has containers; their names are unique."""
    if not spec.get("containers"):
        yield required(path)
    seen: set[str] = set()
    for index, container in enumerate(spec.get("containers") or ()):
        yield from _container(path.index(index), container, around)
        yield from _unique_name(path.index(index).child("name"), container.get("name", ""), seen)


def init_containers(path: Path, spec: Mapping[str, Any], around: Surroundings) -> Errors:
    """Init containers have names that no other container has, and no probes unless they keep running."""
    seen = {container.get("name", "") for container in spec.get("containers") or ()}
    for index, container in enumerate(spec.get("initContainers") or ()):
        yield from _container(path.index(index), container, around)
        yield from _unique_name(path.index(index).child("name"), container.get("name", ""), seen)
        if container.get("restartPolicy") == "Always":
            continue
        for name in _ONLY_SIDECARS:
            if container.get(name) is not None:
                text = "may not be set for init containers without restartPolicy=Always"
                yield forbidden(path.index(index).child(name), text)


def _unique_name(path: Path, name: str, seen: set[str]) -> Errors:
    if name in seen:
        yield duplicate(path, name)
    seen.add(name)


def _container(path: Path, container: Mapping[str, Any], around: Surroundings) -> Errors:
    yield from required_matching(path.child("name"), container.get("name"), names.dns_label)
    if not container.get("image"):
        yield required(path.child("image"))
    yield from one_of(
        path.child("terminationMessagePolicy"), container.get("terminationMessagePolicy"), _MESSAGE_POLICIES
    )
    yield from _ports(path.child("ports"), container)
    for index, variable in enumerate(container.get("env") or ()):
        if not variable.get("name"):
            yield required(path.child("env").index(index).child("name"))
    yield from _mounts(path.child("volumeMounts"), container, around)
    yield from one_of(path.child("imagePullPolicy"), container.get("imagePullPolicy"), _PULL_POLICIES)
    yield from resources(path.child("resources"), container.get("resources") or {}, around)


def _ports(path: Path, container: Mapping[str, Any]) -> Errors:
    seen: set[str] = set()
    for index, port in enumerate(container.get("ports") or ()):
        name = port.get("name", "")
        if name and name in seen:
            yield duplicate(path.index(index).child("name"), name)
        seen.add(name)
        if not port.get("containerPort"):
            yield required(path.index(index).child("containerPort"))
        for kind in ("containerPort", "hostPort"):
            if not 0 <= port.get(kind, 0) <= 65535:
                yield invalid(path.index(index).child(kind), port[kind], "must be between 1 and 65535, inclusive")
        yield from one_of(path.index(index).child("protocol"), port.get("protocol"), _PROTOCOLS)


def _mounts(path: Path, container: Mapping[str, Any], around: Surroundings) -> Errors:
    seen: set[str] = set()
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        name, target = mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            yield required(path.index(index).child("name"))
        if name not in around.volumes:
            yield not_found(path.index(index).child("name"), name)
        if not target:
            yield required(path.index(index).child("mountPath"))
        if target in seen:
            yield invalid(path.index(index).child("mountPath"), target, "must be unique")
        seen.add(target)


def resources(path: Path, value: Mapping[str, Any], around: Surroundings) -> Errors:
    """Limits and requests of a container, and the claims that it uses."""
    limits = {name: Quantity(amount) for name, amount in sorted((value.get("limits") or {}).items())}
    requests = {name: Quantity(amount) for name, amount in sorted((value.get("requests") or {}).items())}
    for name, amount in limits.items():
        yield from _resource(path.child("limits").key(name), name, amount)
    for name, amount in requests.items():
        yield from _resource(path.child("requests").key(name), name, amount)
        yield from _within_limit(path, name, amount, limits.get(name))
    named = {*limits, *requests}
    if any(name.startswith("hugepages-") for name in named) and not named & {"cpu", "memory"}:
        yield forbidden(path, "HugePages require cpu or memory")
    yield from container_claims(path.child("claims"), value.get("claims"), around.claims)


def _resource(path: Path, name: str, amount: Quantity) -> Errors:
    yield from matching(path, name, names.label_key)
    if "/" not in name:
        if name not in _STANDARD and not name.startswith("hugepages-"):
            if not names.label_key(name) and name not in _COUNTED | _OF_QUOTAS:
                yield invalid(path, name, "must be a standard resource type or fully qualified")
            yield invalid(path, name, "must be a standard resource for containers")
    elif "kubernetes.io/" not in name and any(declared_extended_resource_name(path, name)):
        yield invalid(path, name, "doesn't follow extended resource name standard")
    yield from resource_quantity(path, name, amount)


def resource_quantity(path: Path, name: str, amount: Quantity) -> Errors:
    """An amount is not negative, and whole where half of the resource makes no sense."""
    if amount < Quantity(0):
        yield invalid(path, str(amount), "must be greater than or equal to 0")
    if (_is_extended(name) or name in _COUNTED) and amount.milli_value() % 1000 != 0:
        yield invalid(path, str(amount), "must be an integer")


def _is_extended(name: str) -> bool:
    return "/" in name and "kubernetes.io/" not in name


def _within_limit(path: Path, name: str, amount: Quantity, limit: Quantity | None) -> Errors:
    overcommit = not _is_extended(name) and not name.startswith("hugepages-")
    if limit is None:
        if not overcommit:
            yield required(path.child("limits"), "Limit must be set for non overcommitable resources")
    elif not overcommit and amount != limit:
        yield invalid(path.child("requests"), str(amount), f"must be equal to {name} limit of {limit}")
    elif amount > limit:
        yield invalid(path.child("requests"), str(amount), f"must be less than or equal to {name} limit of {limit}")
