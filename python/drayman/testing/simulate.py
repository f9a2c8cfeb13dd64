"""What the scheduler would do with a sequence of manifests, in virtual time: the engine of `drayman simulate`.

The first step is the cluster as it is found: nodes, slices, classes, claims with their status and pods that run
already exist before controllers and scheduler start. Then pods come one after the other, each after the one before
was bound or refused. Every further step is applied once nothing happens any more. Objects may carry annotations that
say how to take them: see :class:`Mark`.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from drayman.clock import VirtualClock, virtual_loop
from drayman.errors import APIStatusError
from drayman.kube.informer import key_of
from drayman.testing.core import Core
from drayman.testing.parts import Options, checked

if TYPE_CHECKING:
    from drayman import scheduler
    from drayman.kube.client import Object


class Mark:
    """Annotations with the value "true" that say how an object of a step is taken."""

    UPDATE = "case.example.com/update"
    """Update the status of the existing claim or pod."""
    DELETE = "case.example.com/delete"
    """Delete the object."""
    NO_WAIT = "case.example.com/no-wait"
    """Do not wait for the verdict on this pod."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """How to simulate. `wait` and `settle` are virtual seconds: for a pod without a verdict, and after each step.

    With `kubelet` every Node of the first step gets a fake kubelet, and mock drivers that prepare the devices of the
    slices that the steps have for it: pods run and end. Without it pods that are bound stay as they are.
    """

    options: Options = field(default_factory=Options)
    configuration: scheduler.Configuration | None = None
    kubelet: bool = False
    wait: float = 6.0
    settle: float = 60.0


EXPLAINED = (
    "Namespace",
    "Node",
    "Pod",
    "DeviceClass",
    "DeviceTaintRule",
    "ResourceSlice",
    "ResourceClaim",
    "ResourceClaimTemplate",
)
"""The kinds of the objects at the end that :class:`End` has: what it takes to explain where pods are."""


@dataclass(frozen=True, slots=True)
class End:
    """How a simulation ended: the `state` of `docs/state.md`, and the `objects` of the cluster."""

    state: Object
    objects: Sequence[Object]


def simulate(steps: Sequence[Sequence[Mapping[str, Any]]], simulation: Simulation | None = None) -> Object:
    """Apply `steps` one after the other and return the state at the end, as `docs/state.md` describes it.

    Objects that the API server refuses are listed under `rejected`, and the run goes on.
    """
    return play(steps, simulation).state


def play(steps: Sequence[Sequence[Mapping[str, Any]]], simulation: Simulation | None = None) -> End:
    """Do the same, and return besides the state the objects that the cluster has at the end."""
    clock = VirtualClock()
    with asyncio.Runner(loop_factory=lambda: virtual_loop(clock)) as runner:
        return runner.run(_simulate(steps, simulation or Simulation(), clock))


async def _simulate(steps: Sequence[Sequence[Mapping[str, Any]]], simulation: Simulation, clock: VirtualClock) -> End:
    async with Core.running(checked(simulation.options), clock, trust_metadata=True) as core:
        run = _Run(core, simulation)
        first, *others = steps or [[]]
        found = [obj for obj in first if not _waits_for_scheduler(obj)]
        if simulation.kubelet:
            found = await run.start_kubelets(found, drivers_by_node(steps))
        await run.create(found)
        core.start_control(simulation.configuration)
        await core.start_nodes()
        await core.clock.settle(0)
        await run.take([obj for obj in first if _waits_for_scheduler(obj)])
        for step in others:
            await run.take(step)
        state = await core.state()
        rejected = {"rejected": run.rejected} if run.rejected else {}
        objects = [obj for kind in EXPLAINED for obj in await core.list(kind)]
        return End({**state, "steps": len(steps), **rejected}, objects)


class _Run:
    def __init__(self, core: Core, simulation: Simulation) -> None:
        self.rejected: dict[str, str] = {}
        self._core = core
        self._simulation = simulation

    async def start_kubelets(
        self, objects: Sequence[Mapping[str, Any]], drivers: Callable[[str], list[str]]
    ) -> list[Mapping[str, Any]]:
        """Create the nodes of `objects` and start their kubelets; return the other objects, running pods last.

        The order is that of a real cluster: a kubelet deletes the slices of its node when it starts, so they come
        later, and what a pod uses is there before the kubelet sees the pod.
        """
        nodes = [obj for obj in objects if obj.get("kind") == "Node"]
        created = [node["metadata"]["name"] for node in await self.create(nodes)]
        others = self._simulation.options.node_names()
        self._core.start_kubelets({name: drivers(name) for name in created if name not in others})
        await self._core.clock.settle(0)
        return sorted((obj for obj in objects if obj.get("kind") != "Node"), key=lambda obj: obj.get("kind") == "Pod")

    async def take(self, objects: Sequence[Mapping[str, Any]]) -> None:
        """Take the objects of a step one by one, then let the cluster settle."""
        for obj in objects:
            if _marked(obj, Mark.DELETE):
                await self._core.applier.delete(obj)
            elif _marked(obj, Mark.UPDATE):
                await self._core.applier.update_status(obj)
            else:
                await self._wait_for_verdict(await self.create([obj]))
        await self._core.clock.settle(self._simulation.settle)

    async def create(self, objects: Sequence[Mapping[str, Any]]) -> list[Object]:
        """Create the objects and return those that the server took; refusals are noted."""
        created = []
        for obj in objects:
            try:
                await self._core.ensure_namespace(obj)
                # A namespace may be there already: those of every cluster, and those that were created on the way.
                write = self._core.applier.apply if obj.get("kind") == "Namespace" else self._core.applier.create
                created.append(await write(obj))
            except APIStatusError as error:
                self.rejected[title(obj)] = str(error)
        return created

    async def _wait_for_verdict(self, created: Sequence[Object]) -> None:
        for obj in created:
            if obj["kind"] == "Pod" and self._simulation.options.scheduler and not _marked(obj, Mark.NO_WAIT):
                verdict = functools.partial(self._core.history.has_verdict, key_of(obj))
                await self._core.wait_for(verdict, self._simulation.wait)


def drivers_by_node(steps: Sequence[Sequence[Mapping[str, Any]]]) -> Callable[[str], list[str]]:
    """Return a function that gives the drivers that have slices for a node of that name.

    Slices that are not bound to one node by name may be for any.
    """
    specs = [_spec(obj) for step in steps for obj in step if obj.get("kind") == "ResourceSlice"]

    def drivers(node: str) -> list[str]:
        usable = [spec for spec in specs if (spec.get("nodeName") or node) == node]
        return sorted({str(spec["driver"]) for spec in usable if spec.get("driver")})

    return drivers


def _waits_for_scheduler(obj: Mapping[str, Any]) -> bool:
    return obj.get("kind") == "Pod" and not _spec(obj).get("nodeName")


def _spec(obj: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the spec; the server is going to refuse one that is no object."""
    spec = obj.get("spec")
    return spec if isinstance(spec, Mapping) else {}


def _marked(obj: Mapping[str, Any], mark: str) -> bool:
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    return annotations.get(mark) == "true"


def title(obj: Mapping[str, Any]) -> str:
    """Return "Kind namespace/name" or "Kind name", under which a refused object is listed."""
    metadata = obj.get("metadata") or {}
    name = metadata.get("name") or metadata.get("generateName")
    place = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
    return f"{obj.get('kind')} {place}{name}"
