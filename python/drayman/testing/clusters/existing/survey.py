"""Whether a cluster is fit for a run: all is looked at, nothing is written, and all that is missing is said at once."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from drayman import features
from drayman.errors import APIStatusError, InputError
from drayman.kube.client import status_of
from drayman.kube.discovery import Discovery
from drayman.kube.http import Request as HTTPRequest
from drayman.kube.resources import CLAIMS, DEVICE_CLASSES, NAMESPACES, NODES, SLICES, Resource
from drayman.testing.clusters.existing import rights
from drayman.testing.clusters.existing.renaming import DRIVER
from drayman.testing.clusters.existing.run import HOST, LABEL, STARTED
from drayman.testing.clusters.existing.turns import NAMESPACE

if TYPE_CHECKING:
    from drayman.kube.client import Client, Object
    from drayman.testing.clusters.existing.request import Request
    from drayman.testing.clusters.existing.rights import Right
    from drayman.testing.scenario import Scenario

OLDEST = "1.34"
"""The first version that serves what we use of DRA."""

_SHOWN = 5
_SAID = 200
_TOKENS = "serviceaccounts/token"


@dataclass(slots=True)
class Survey:
    """What a cluster has. `nodes` are those for the pods of scenarios, or for the driver that is installed.

    `narrowed` says that other nodes have devices of the driver, too. `accounts` says that the server makes tokens for
    service accounts, `asked` counts the rights that were asked for, and `runs` are the others that are there.
    """

    version: str = ""
    nodes: tuple[str, ...] = ()
    narrowed: bool = False
    accounts: bool = True
    asked: int = 0
    runs: tuple[str, ...] = ()
    missing: list[str] = field(default_factory=list)

    @property
    def kubernetes(self) -> str:
        """The version as far as its gates are known: those of a newer one are taken for the last that is."""
        minor = ".".join(re.findall(r"\d+", self.version)[:2])
        return minor if minor in features.KUBERNETES_VERSIONS else features.LATEST

    def refuse(self) -> None:
        """Raise :class:`~drayman.errors.InputError` with everything that is missing, if anything is."""
        if self.missing:
            lines = "".join(f"\n- {line}" for line in self.missing)
            raise InputError(f"the cluster lacks what this run needs:{lines}")


async def survey(client: Client, request: Request) -> Survey:
    """Look at everything that a run needs. Raises :class:`~drayman.errors.InputError` for a client whom the server does
    not know, and `ConnectionError` when there is none.
    """
    found = Survey(version=await _version(client))
    if _number(found.version) < _number(OLDEST):
        found.missing.append(f"the server is Kubernetes {found.version}, and {OLDEST} or newer is needed")
    discovery = Discovery(client)
    played = request.played()
    resources = await _resources(discovery, played, found)
    found.accounts = await discovery.serves("v1", _TOKENS)
    lacking = await _rights(client, request, played, resources, found)
    may_look = {right.resource for right in rights.to_look() if right not in lacking}
    if "namespaces" in may_look:
        found.runs = tuple(await _runs(client))
    if "nodes" in may_look:
        ready = await _nodes(client, found)
        if request.driver_image:
            found.nodes = tuple(ready[: request.nodes])
            if 0 < len(ready) < request.nodes:
                found.missing.append(f"{len(ready)} of {request.nodes} nodes are ready for pods")
        elif {"resourceslices", "deviceclasses", "resourceclaims"} <= may_look and not _lacks_api(found):
            await _driver(client, request, ready, found)
    return found


async def _version(client: Client) -> str:
    answer = await client.transport.request(HTTPRequest("GET", "/version", (), {"accept": "application/json"}))
    if answer.status >= 400:
        said = status_of(answer)["message"]
        raise InputError(f"the server does not say its version: {said[:_SAID]}", hint="are you logged in?")
    try:
        return str(json.loads(answer.body)["gitVersion"])
    except (ValueError, KeyError, TypeError):
        said = answer.body.decode(errors="replace").strip()
        raise InputError(f"no API server of Kubernetes answers there: {said[:_SAID]}") from None


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


async def _resources(discovery: Discovery, played: Sequence[Scenario], found: Survey) -> dict[str, Resource]:
    """Return the resources of the kinds that are written; those that are not served are noted as missing."""
    wanted = {(obj["apiVersion"], obj["kind"]): one.name for one in played for step in one.steps for obj in step} | {
        (resource.api_version, resource.kind): "" for resource in (CLAIMS, DEVICE_CLASSES, SLICES)
    }
    resources, unserved = {}, []
    for api_version, kind in sorted(wanted):
        try:
            resources[kind] = await discovery.of(api_version, kind)
        except InputError:
            resources[kind] = Resource("", "", kind, kind)
            unserved.append(f"{api_version} {kind}")
        except APIStatusError as error:
            raise InputError(f"the server does not say what it serves: {error}", hint="are you logged in?") from error
    if unserved:
        found.missing.append(f"the API does not serve {', '.join(f'`{one}`' for one in unserved)}")
    return resources


def _lacks_api(found: Survey) -> bool:
    return any(line.startswith("the API does not serve") for line in found.missing)


async def _rights(
    client: Client, request: Request, played: Sequence[Scenario], resources: Mapping[str, Resource], found: Survey
) -> list[Right]:
    """Return the rights that are missing, and note them."""
    wanted = [*rights.to_look(), *rights.to_run()]
    if played:
        wanted += rights.to_play(played, resources)
        wanted += [] if request.driver_image else rights.to_take_turns(NAMESPACE)
    given = []
    if request.scheduler and found.accounts:
        wanted += rights.to_have_an_account()
        given += rights.of_role("scheduler")
    if request.driver_image:
        wanted += rights.to_install_driver()
        given += rights.of_role("driver")
    try:
        lacking = await rights.missing(client, wanted)
        escalating = [rights.Right(rights.RBAC, "clusterroles", verb) for verb in ("bind", "escalate")]
        if given and await rights.missing(client, escalating):
            given_lacking = await rights.missing(client, given)
            lacking += [right for right in given_lacking if right not in lacking]
    except APIStatusError as error:
        raise InputError(f"the server does not say what you may: {error}") from error
    found.asked = len(set(wanted + given))
    found.missing += [f"you may not {line}" for line in rights.told(lacking)]
    return lacking


async def _runs(client: Client) -> list[str]:
    """Return the runs that have something in the cluster."""
    namespaces, _ = await client.list(NAMESPACES, label_selector=LABEL)
    told: dict[str, str] = {}
    for namespace in namespaces:
        metadata = namespace["metadata"]
        notes = metadata.get("annotations") or {}
        whose = f" of {notes[HOST]}, started {notes.get(STARTED)}" if HOST in notes else ""
        run = metadata["labels"][LABEL]
        told[run] = whose or told.get(run, "")
    return [f"`{run}`{whose}" for run, whose in sorted(told.items())]


async def _nodes(client: Client, found: Survey) -> list[str]:
    """Return the nodes that take pods of anybody."""
    nodes, _ = await client.list(NODES)
    reasons = {node["metadata"]["name"]: _unusable(node) for node in nodes}
    ready = sorted(name for name, reason in reasons.items() if reason is None)
    if not ready:
        why = ", ".join(f"`{name}` {reason}" for name, reason in list(reasons.items())[:_SHOWN])
        found.missing.append(f"no node takes pods: {why}" if why else "the cluster has no nodes")
    return ready


def _unusable(node: Object) -> str | None:
    spec = node.get("spec") or {}
    conditions = (node.get("status") or {}).get("conditions") or []
    if not any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions):
        return "is not ready"
    if spec.get("unschedulable"):
        return "is cordoned"
    taints = [one["key"] for one in spec.get("taints") or [] if one.get("effect") in ("NoSchedule", "NoExecute")]
    return f"has the taint `{taints[0]}`" if taints else None


async def _driver(client: Client, request: Request, ready: Sequence[str], found: Survey) -> None:
    """Find the nodes with devices of the driver that is there; note what they lack."""
    classes, _ = await client.list(DEVICE_CLASSES)
    if not any(one["metadata"]["name"] == DRIVER for one in classes):
        found.missing.append(f"there is no DeviceClass `{DRIVER}`")
    slices = [one["spec"] for one in (await client.list(SLICES))[0] if one["spec"].get("driver") == DRIVER]
    counts = Counter[str]()
    for spec in slices:
        counts[spec.get("nodeName") or ""] += len(spec.get("devices") or [])
    if not counts:
        found.missing.append(f"no driver `{DRIVER}` publishes devices: `--driver install` brings one for the run")
        return
    usable = [name for name in ready if name in counts]
    if not usable:
        if ready:
            nodes = ", ".join(f"`{name}`" for name in sorted(counts)[:_SHOWN])
            found.missing.append(f"the nodes with devices of `{DRIVER}` take no pods: {nodes}")
        return
    if request.scenarios:
        usable = await _free(client, request, usable, counts, found)
    found.nodes = tuple(usable[: request.nodes])
    found.narrowed = len(counts) > len(found.nodes)


async def _free(
    client: Client, request: Request, usable: Sequence[str], counts: Mapping[str, int], found: Survey
) -> list[str]:
    """Return the nodes of `usable` whose devices are as scenarios count on: so many, and nobody else's."""
    enough = [name for name in usable if counts[name] == request.devices]
    if not enough:
        told = ", ".join(f"`{name}` has {counts[name]}" for name in usable[:_SHOWN])
        found.missing.append(f"scenarios count on {request.devices} devices of `{DRIVER}` on a node: {told}")
        return []
    taken = await _taken(client)
    free = [name for name in enough if name not in taken]
    if not free:
        told = ", ".join(f"claim `{claim}` on `{name}`" for name, claim in sorted(taken.items())[:_SHOWN])
        found.missing.append(
            f"others use the devices of `{DRIVER}`: {told}; `--driver install` brings devices of its own"
        )
    return free


async def _taken(client: Client) -> dict[str, str]:
    """Return a claim of others for each pool of the driver from which one has devices."""
    namespaces, _ = await client.list(NAMESPACES, label_selector=LABEL)
    ours = {one["metadata"]["name"] for one in namespaces}
    taken: dict[str, str] = {}
    for claim in (await client.list(CLAIMS))[0]:
        metadata = claim["metadata"]
        if metadata["namespace"] in ours:
            continue
        for result in _results(claim):
            if result.get("driver") == DRIVER:
                taken[result["pool"]] = f"{metadata['namespace']}/{metadata['name']}"
    return taken


def _results(claim: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    allocation = (claim.get("status") or {}).get("allocation") or {}
    return (allocation.get("devices") or {}).get("results") or []
