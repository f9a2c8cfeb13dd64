"""Scenarios: folders of manifests with what should become of them, played on any cluster.

A folder holds `input.yaml`, whose first line is a comment that says what the scenario shows; `step2.yaml`,
`step3.yaml`, …, each applied when what `expect.yaml` says under `before` has come true; and `expect.yaml`. The format
is described in `docs/scenarios.md`.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import yaml

from drayman import manifest, names
from drayman.errors import APIStatusError, InputError
from drayman.testing.compare import COMPARED, compare

Object = dict[str, Any]

DELETE = "case.example.com/delete"
UPDATE = "case.example.com/update"

SHIPPED = Path(__file__).parent / "scenarios"
"""The scenarios that come with drayman."""

SECONDS = 60.0
"""How long a scenario may take to get where it should."""

_NEEDS = ("kubelet", "nodes", "gates", "version", "root")
_STEP = re.compile(r"step(\d+)\.yaml")


class Backend(Protocol):
    """A cluster that scenarios are played on. Objects are named "namespace/name", or "name"."""

    async def apply(self, objects: Sequence[Mapping[str, Any]]) -> Any:
        """Create or update objects.

        Raises :class:`~drayman.errors.APIStatusError` when the API server refuses one.
        """

    async def delete(self, kind: str, name: str) -> None:
        """Delete an object."""

    async def views(self, namespace: str) -> Object:
        """Return `pods`, `claims` and `events` of a namespace as `docs/state.md` describes them."""

    async def logs(self, name: str, container: str) -> str:
        """Return what a container printed."""

    async def wait(self, unmet: Callable[[], Awaitable[str | None]], seconds: float = SECONDS) -> None:
        """Let time pass until `unmet()`, which says what is still missing, returns None.

        Raises `TimeoutError`.
        """


@dataclass(frozen=True, slots=True)
class Offer:
    """What a cluster has, for scenarios that need it; `gates` are the feature gates that are on."""

    nodes: int
    kubelet: bool = True
    gates: frozenset[str] = frozenset()
    version: str = "1.37"
    root: bool = False


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario as loaded.

    `steps` are the objects of `input.yaml` and of each `stepN.yaml`; `before` holds what has to come true before a
    step, by its index in `steps`; `needs` is what a cluster must have.
    """

    name: str
    title: str
    steps: tuple[tuple[Object, ...], ...]
    expect: Mapping[str, Any]
    before: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    needs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces that the scenario uses, in order of their names."""
        objects = [obj for step in self.steps for obj in step]
        own = {obj["metadata"]["name"] for obj in objects if obj["kind"] == "Namespace"}
        used = {obj["metadata"]["namespace"] for obj in objects if obj["metadata"].get("namespace")}
        return tuple(sorted(own | used))

    @property
    def cluster_objects(self) -> tuple[tuple[str, str], ...]:
        """Kind and name of the objects without a namespace that the scenario creates, but for namespaces."""
        return tuple(
            (obj["kind"], obj["metadata"]["name"])
            for step in self.steps
            for obj in step
            if not obj["metadata"].get("namespace") and obj["kind"] != "Namespace" and not marked(obj, DELETE)
        )

    def unmet(self, offer: Offer) -> str | None:
        """Return what the scenario needs and the cluster does not have, or None."""
        if self.needs.get("kubelet") and not offer.kubelet:
            return "needs a kubelet"
        if self.needs.get("root") and not offer.root:
            return "needs root"
        if self.needs.get("nodes", 0) > offer.nodes:
            return f"needs {self.needs['nodes']} nodes"
        missing = sorted(set(self.needs.get("gates", ())) - offer.gates)
        if missing:
            return f"needs the feature gate {missing[0]}"
        version = str(self.needs.get("version", "1.0"))
        if _version(version) > _version(offer.version):
            return f"needs Kubernetes {version}"
        return None


@dataclass(frozen=True, slots=True)
class Result:
    """How a scenario ended: the state of its namespaces, and how it differs from what was expected."""

    state: Object
    deviations: tuple[str, ...]


def shipped() -> list[Scenario]:
    """Return the scenarios that come with drayman, by name."""
    return load_all(SHIPPED)


def load_all(folder: Path) -> list[Scenario]:
    """Return the scenarios in the folders of `folder`, by name."""
    return [load(path.parent) for path in sorted(folder.glob("*/input.yaml"))]


def load(folder: Path) -> Scenario:
    """Return the scenario in `folder`. Raises :class:`~drayman.errors.InputError` when it is not a whole one."""
    expect = _expectation(folder / "expect.yaml")
    before, needs = expect.pop("before", {}), expect.pop("needs", {})
    steps = sorted((int(match[1]), path) for path in folder.iterdir() if (match := _STEP.fullmatch(path.name)))
    files = [folder / "input.yaml", *(path for _, path in steps)]
    names_of_steps = [path.stem for path in files]
    for name in before:
        if name not in names_of_steps[1:]:
            raise InputError(f"there is no `{name}.yaml`", file=str(folder / "expect.yaml"), field=f"before.{name}")
    return Scenario(
        name=folder.name,
        title=_title(files[0]),
        steps=tuple(tuple(dict(loaded.object) for loaded in manifest.load([str(path)])) for path in files),
        expect=expect,
        before={names_of_steps.index(name): wanted for name, wanted in before.items()},
        needs=needs,
    )


async def run(
    scenario: Scenario, backend: Backend, *, scheduler_name: str = names.SCHEDULER_NAME, seconds: float = SECONDS
) -> Result:
    """Play `scenario`: apply its steps, each in its time, and compare what became of them.

    `scheduler_name` is given to all pods that name no scheduler; every wait is limited to `seconds`.
    """
    play = _Play(scenario, backend, seconds)
    for index, step in enumerate(scenario.steps):
        if index in scenario.before:
            result = await play.reach(scenario.before[index])
            if result.deviations:
                return Result(result.state, tuple(f"before step {index + 1}: {one}" for one in result.deviations))
        await play.take([with_scheduler(obj, scheduler_name) for obj in step])
    return await play.reach(scenario.expect)


async def clean_up(scenario: Scenario, backend: Backend, *, seconds: float = SECONDS) -> None:
    """Delete what `scenario` created, and wait until its pods and claims are gone."""
    for namespace in scenario.namespaces:
        await _delete(backend, "Namespace", namespace)
    for kind, name in scenario.cluster_objects:
        await _delete(backend, kind, name)

    async def left() -> str | None:
        for namespace in scenario.namespaces:
            views = await backend.views(namespace)
            alive = [key for key, pod in views["pods"].items() if not pod.get("deleted")]
            if alive or views["claims"]:
                return f"namespace {namespace} still has {', '.join([*alive, *views['claims']])}"
        return None

    await backend.wait(left, seconds)


def with_scheduler(obj: Mapping[str, Any], name: str) -> Object:
    """Return a copy of `obj` whose pods, also those of a pod template, are for the scheduler `name` unless they say."""
    spec = obj.get("spec")
    if not isinstance(spec, Mapping):
        return dict(obj)
    if obj["kind"] == "Pod":
        return {**obj, "spec": {"schedulerName": name, **spec}}
    template = spec.get("template")
    if not isinstance(template, Mapping) or "spec" not in template:
        return dict(obj)
    return {**obj, "spec": {**spec, "template": {**template, "spec": {"schedulerName": name, **template["spec"]}}}}


class _Play:
    def __init__(self, scenario: Scenario, backend: Backend, seconds: float) -> None:
        self._scenario = scenario
        self._backend = backend
        self._seconds = seconds
        self._rejected: dict[str, str] = {}
        self._pods: set[str] = set()

    async def take(self, objects: Sequence[Object]) -> None:
        for obj in objects:
            if marked(obj, DELETE):
                await self._backend.delete(obj["kind"], _key(obj))
                continue
            try:
                await self._backend.apply([_without_mark(obj, UPDATE)])
            except APIStatusError as error:
                self._rejected[f"{obj['kind']} {_key(obj)}"] = str(error)
            if obj["kind"] == "Pod":
                self._pods.add(_key(obj))

    async def reach(self, expect: Mapping[str, Any]) -> Result:
        """Wait until all is as expected, or until time is up; return how it is then."""
        result = Result({}, ())

        async def deviating() -> str | None:
            nonlocal result
            state = await self._state(expect)
            result = Result(state, tuple(compare(expect, state)))
            return "; ".join(result.deviations) or None

        try:
            await self._backend.wait(deviating, self._seconds)
        except TimeoutError:
            await deviating()
        return result

    async def _state(self, expect: Mapping[str, Any]) -> Object:
        state: Object = {"pods": {}, "claims": {}, "events": []}
        for namespace in self._scenario.namespaces:
            views = await self._backend.views(namespace)
            state["pods"] |= views["pods"]
            state["claims"] |= views["claims"]
            state["events"] += views["events"]
        state["pods"] |= {key: {"deleted": True} for key in sorted(self._pods - set(state["pods"]))}
        for key, containers in _wanted_logs(expect, state["pods"]):
            logs = {container: await self._logs(key, container) for container in containers}
            state["pods"][key] = {**state["pods"][key], "logs": logs}
        return {**state, **({"rejected": self._rejected} if self._rejected else {})}

    async def _logs(self, pod: str, container: str) -> str:
        try:
            return await self._backend.logs(pod, container)
        except APIStatusError:  # not started yet, or gone: then it has printed nothing
            return ""


def _wanted_logs(expect: Mapping[str, Any], pods: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Return the containers, by pod, whose output an expectation is about."""
    wanted = []
    for key in sorted(pods):
        entries = [entry for name, entry in expect.get("pods", {}).items() if name == key]
        entries += [entry for pattern, entry in expect.get("groups", {}).items() if re.fullmatch(pattern, key)]
        containers = sorted({name for one in entries for name in (*one.get("env", ()), *one.get("logs", ()))})
        if containers and not pods[key].get("deleted"):
            wanted.append((key, containers))
    return wanted


def _expectation(path: Path) -> Object:
    try:
        loaded = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    except (OSError, yaml.YAMLError) as error:
        raise InputError(f"cannot be read: {error}", file=str(path)) from error
    if not isinstance(loaded, dict):
        raise InputError("an expectation is a mapping", file=str(path))
    _refuse_unknown(path, loaded, {*COMPARED, "before", "needs"}, "")
    _refuse_unknown(path, loaded.get("needs") or {}, set(_NEEDS), "needs.")
    for step, wanted in (loaded.get("before") or {}).items():
        _refuse_unknown(path, wanted, set(COMPARED), f"before.{step}.")
    return loaded


def _refuse_unknown(path: Path, value: Mapping[str, Any], known: set[str], prefix: str) -> None:
    for name in value:
        if name not in known:
            raise InputError("unknown member", file=str(path), field=f"{prefix}{name}")


def _title(path: Path) -> str:
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    if not first.startswith("#"):
        raise InputError("the first line has to be a comment that says what the scenario shows", file=str(path), line=1)
    return first.lstrip("# ").rstrip()


async def _delete(backend: Backend, kind: str, name: str) -> None:
    try:
        await backend.delete(kind, name)
    except APIStatusError as error:
        if error.reason != "NotFound":
            raise


def marked(obj: Mapping[str, Any], mark: str) -> bool:
    """Return whether an object of a step carries the annotation `mark`."""
    return (obj["metadata"].get("annotations") or {}).get(mark) == "true"


def _without_mark(obj: Object, mark: str) -> Object:
    if not marked(obj, mark):
        return obj
    annotations = {name: value for name, value in obj["metadata"]["annotations"].items() if name != mark}
    return {**obj, "metadata": {**obj["metadata"], "annotations": annotations}}


def _key(obj: Mapping[str, Any]) -> str:
    metadata = obj["metadata"]
    name = metadata.get("name") or metadata.get("generateName", "")
    return f"{metadata['namespace']}/{name}" if metadata.get("namespace") else str(name)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))
