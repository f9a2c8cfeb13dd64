"""A mock driver of the run's own: from the manifests that everybody installs, under names of the run, on some nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drayman import manifests
from drayman.errors import APIStatusError, DraymanError
from drayman.kube.discovery import Discovery
from drayman.kube.resources import PODS, SLICES
from drayman.testing.access import Access
from drayman.testing.clusters.existing.renaming import DRIVER, only_on

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from drayman.clock import Clock
    from drayman.kube.client import Client, Object
    from drayman.testing.clusters.existing.run import Run

PRIVILEGED = {"pod-security.kubernetes.io/enforce": "privileged"}
"""The label of a namespace whose pods may mount folders of the node."""

_WAIT_SECONDS = 120.0
_LOOK_SECONDS = 0.5
_LINES = 5


def objects(run: Run, image: str, devices: int, nodes: Sequence[str]) -> list[Object]:
    """Return what is created, in this order, in the run's namespace, which is there."""
    name = run.named("drayman-driver")
    part = manifests.Driver(name=name, namespace=run.namespace, image=image, devices=devices, admission_policy=False)
    return [_cast(run, one, nodes) for one in part.objects() if one["kind"] != "Namespace"]


async def install(client: Client, clock: Clock, run: Run, wanted: Sequence[Object], nodes: Sequence[str]) -> None:
    """Create the driver, and wait until each node has devices.

    Raises :class:`~drayman.errors.DraymanError` with what its pods wait for when that takes too long.
    """
    discovery = Discovery(client)
    for obj in wanted:
        await client.create(await discovery.of(obj["apiVersion"], obj["kind"]), obj)
    limit = clock.monotonic() + _WAIT_SECONDS
    while missing := sorted(set(nodes) - await _published(client, run)):
        if clock.monotonic() > limit:
            pods, _ = await client.list(PODS, run.namespace)
            waits = [line for pod in pods for line in _waits(pod)] or ["no pod of it waits for anything"]
            why = "; ".join([*waits, *[line for pod in pods[:1] for line in await _said(client, pod)]])
            told = ", ".join(f"`{name}`" for name in missing)
            raise DraymanError(f"the driver has no devices on {told} after {_WAIT_SECONDS:.0f} s: {why}")
        await clock.sleep(_LOOK_SECONDS)


async def _published(client: Client, run: Run) -> set[str]:
    slices, _ = await client.list(SLICES, field_selector=f"spec.driver={run.driver}")
    return {one["spec"].get("nodeName", "") for one in slices}


async def _said(client: Client, pod: Object) -> list[str]:
    """Return what a pod of the driver printed last, which says why it does not run."""
    metadata = pod["metadata"]
    try:
        text = await Access(client).logs(f"{metadata['namespace']}/{metadata['name']}")
    except APIStatusError:  # it has not started, or may not be read
        return []
    lines = text.strip().splitlines()[-_LINES:]
    return ["\n".join(("it said:", *lines))] if lines else []


def _waits(pod: Object) -> Iterator[str]:
    status, name = pod.get("status") or {}, pod["metadata"]["name"]
    for condition in status.get("conditions") or []:
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            yield f"pod `{name}`: {condition.get('message') or condition.get('reason')}"
    for container in status.get("containerStatuses") or []:
        state = container.get("state") or {}
        found = state.get("waiting") or state.get("terminated")
        if found:
            yield ": ".join(filter(None, (f"pod `{name}`", found.get("reason"), found.get("message"))))


def _cast(run: Run, obj: Object, nodes: Sequence[str]) -> Object:
    """Return an object of the manifests with the driver's name and the label of the run."""
    renamed: Object = _renamed(obj, run.driver)
    _label(renamed, run)
    if renamed["kind"] == "DaemonSet":
        template = renamed["spec"]["template"]
        _label(template, run)
        pod = template["spec"]
        # Some clusters give such a class only to namespaces of their own.
        pod.pop("priorityClassName", None)
        pod["affinity"] = {"nodeAffinity": only_on(nodes)}
        pod["containers"][0]["args"].append(f"--hardware={DRIVER}")
    return renamed


def _label(obj: Object, run: Run) -> None:
    obj["metadata"]["labels"] = {**obj["metadata"].get("labels", {}), **run.labels}


def _renamed(value: Any, driver: str) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(member, driver) for key, member in value.items()}
    if isinstance(value, list):
        return [_renamed(member, driver) for member in value]
    return value.replace(DRIVER, driver) if isinstance(value, str) else value
