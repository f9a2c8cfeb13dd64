"""Scenarios for a cluster that others use, too: the same ones, under names of their run.

Namespaces and DeviceClasses of a scenario get the run's id, wherever they are named, also in what is expected; so do
the driver and its class when the run has a driver of its own. Everything is labelled. Nothing here changes a file.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drayman.testing.clusters.existing.run import Run
from drayman.testing.clusters.local.images import TESTBOX
from drayman.testing.scenario import Object, Scenario

DRIVER = "gpu.example.com"
"""The driver that scenarios are about."""

GRACE_SECONDS = 1
"""How long their containers are given to end: a shell as the first process of one hears no signal."""

_CLUSTER_KINDS = ("Namespace", "DeviceClass")
_UNTOUCHED = ("env", "logs")
"""Members of an expectation about what containers print: a path in it is no object's name."""


@dataclass(frozen=True, slots=True)
class Casting:
    """How scenarios are changed for a run.

    `driver` replaces `gpu.example.com`, `image` that of the containers. Pods are put on `nodes`, if given: a scenario
    counts on two nodes with devices, where the cluster may have more.
    """

    run: Run
    driver: str = DRIVER
    image: str = TESTBOX
    nodes: Sequence[str] = ()


def unmovable(played: Scenario) -> str | None:
    """Return why a scenario cannot be played in a cluster that others use, or None."""
    for kind, name in played.cluster_objects:
        if kind not in _CLUSTER_KINDS:
            return f"creates the {kind} `{name}`, which would concern others in a cluster that is there already"
    return None


def cast(played: Scenario, casting: Casting) -> Scenario:
    """Return the scenario under the names of the run."""
    own = {name: casting.run.named(name) for name in played.namespaces}
    classes = {name: casting.run.named(name) for kind, name in played.cluster_objects if kind == "DeviceClass"}
    objects = _Objects(casting, own, classes)
    declared = {obj["metadata"]["name"] for obj in played.steps[0] if obj["kind"] == "Namespace"}
    missing = [_namespace(name) for name in played.namespaces if name not in declared]
    steps = [[*missing, *played.steps[0]], *played.steps[1:]]
    expected = _expected(casting, own, classes)
    return dataclasses.replace(
        played,
        steps=tuple(tuple(objects.renamed(obj) for obj in step) for step in steps),
        expect=expected(played.expect),
        before={index: expected(wanted) for index, wanted in played.before.items()},
    )


def _namespace(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


class _Objects:
    def __init__(self, casting: Casting, namespaces: Mapping[str, str], classes: Mapping[str, str]) -> None:
        self._casting = casting
        self._namespaces = namespaces
        self._classes = classes

    def renamed(self, obj: Object) -> Object:
        metadata = {**obj["metadata"]}
        if namespace := metadata.get("namespace"):
            metadata["namespace"] = self._namespaces[namespace]
        else:
            names = {"Namespace": self._namespaces, "DeviceClass": self._classes}[obj["kind"]]
            metadata["name"] = names[metadata["name"]]
        metadata["labels"] = {**(metadata.get("labels") or {}), **self._casting.run.labels}
        body = {key: self._value(value, key) for key, value in obj.items() if key != "metadata"}
        return _with_pod_spec({**body, "metadata": metadata}, self._pod_spec)

    def _value(self, value: Any, key: str = "") -> Any:
        if isinstance(value, Mapping):
            return {name: self._value(member, name) for name, member in value.items()}
        if isinstance(value, list):
            return [self._value(member) for member in value]
        if not isinstance(value, str):
            return value
        if key == "deviceClassName" and value in self._classes:
            return self._classes[value]
        if key == "image" and value == TESTBOX:
            return self._casting.image
        return value.replace(DRIVER, self._casting.driver)

    def _pod_spec(self, spec: Object) -> Object:
        spec = {"terminationGracePeriodSeconds": GRACE_SECONDS, **spec}
        if self._casting.nodes and not (spec.get("affinity") or {}).get("nodeAffinity"):
            spec["affinity"] = {**(spec.get("affinity") or {}), "nodeAffinity": only_on(self._casting.nodes)}
        return spec


def only_on(nodes: Sequence[str]) -> Object:
    """Return the node affinity of pods that are for these nodes."""
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]} for name in nodes]
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}


def _with_pod_spec(obj: Object, change: Callable[[Object], Object]) -> Object:
    """Return `obj` with the spec of its pods changed: of itself, or of its template."""
    spec = obj.get("spec")
    if not isinstance(spec, Mapping):
        return obj
    if obj["kind"] == "Pod":
        return {**obj, "spec": change(dict(spec))}
    template = spec.get("template")
    if not isinstance(template, Mapping) or not isinstance(template.get("spec"), Mapping):
        return obj
    return {**obj, "spec": {**spec, "template": {**template, "spec": change(dict(template["spec"]))}}}


def _expected(
    casting: Casting, namespaces: Mapping[str, str], classes: Mapping[str, str]
) -> Callable[[Mapping[str, Any]], Object]:
    """Return the function that renames what an expectation names, in keys and values: `namespace/name` in any text,
    and titles of rejected objects.
    """
    places = re.compile(rf"(?<![\w./-])({'|'.join(map(re.escape, namespaces)) or '(?!)'})/")
    titles = {f"DeviceClass {old}": f"DeviceClass {new}" for old, new in classes.items()}

    def text(value: str) -> str:
        renamed = places.sub(lambda match: f"{namespaces[match[1]]}/", titles.get(value, value))
        return renamed.replace(DRIVER, casting.driver)

    def value_of(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {
                text(str(key)): _printed(casting, one) if key in _UNTOUCHED else value_of(one)
                for key, one in value.items()
            }
        if isinstance(value, list):
            return [value_of(member) for member in value]
        return text(value) if isinstance(value, str) else value

    return lambda expect: dict(value_of(expect))


def _printed(casting: Casting, value: Any) -> Any:
    """Return what containers are expected to print: only a driver has another name there."""
    if isinstance(value, Mapping):
        return {key: _printed(casting, member) for key, member in value.items()}
    if isinstance(value, list):
        return [_printed(casting, member) for member in value]
    return value.replace(DRIVER, casting.driver) if isinstance(value, str) else value
