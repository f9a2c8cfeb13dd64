"""A running cluster for tests that look behind the scenes: who wrote what, what is left, what stays over a restart."""

from __future__ import annotations

import asyncio
import contextlib
import re
from typing import TYPE_CHECKING, Any

import pytest

from drayman import names, resourceclaim
from drayman.clock import RealClock
from drayman.errors import APIStatusError
from drayman.kube.informer import Informer, key_of
from drayman.kube.resources import CLAIMS, JOBS, NODES, PODS, SLICES
from drayman.testing import invariants

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

    from e2e.installed import Installed
    from e2e.stage import LiveStage

    from drayman.kube.resources import Resource
    from drayman.testing.clusters.live import Live

    Object = dict[str, Any]

SECONDS = 120.0
OURS, THEIRS = names.SCHEDULER_NAME, "default-scheduler"
"""The schedulers, as pods name them and as events say who reports."""

MANAGERS = {OURS: "drayman-scheduler", THEIRS: "kube-scheduler"}
"""What the API server writes down of who changed a field."""


class Ground:
    """The cluster, with scheduler and driver as they were `installed`.

    `rival` says that kube-scheduler runs, too; `knows_writers` that the API server writes down who wrote what.
    """

    def __init__(self, stage: LiveStage, installed: Installed, *, rival: bool, knows_writers: bool) -> None:
        self.stage = stage
        self.live: Live = stage.live
        self.installed = installed
        self.rival = rival
        self.knows_writers = knows_writers

    def need_rival(self) -> None:
        """Skip the test where kube-scheduler does not run."""
        if not self.rival:
            pytest.skip("kube-scheduler does not run beside ours: --scheduler=both")

    def need_restarts_of(self, part: str) -> None:
        """Skip the test where scheduler or driver cannot be restarted."""
        if part in self.installed.fixed:
            pytest.skip(f"{part} {self.installed.fixed[part]}")

    @contextlib.asynccontextmanager
    async def space(self, name: str) -> AsyncIterator[Space]:
        """Yield a namespace of the test's own; afterwards it is gone. Its objects are kept when the block fails."""
        space = Space(self.live, name)
        await self.live.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}])
        try:
            yield space
        except BaseException:
            await self.stage.keep(name, [name])
            raise
        finally:
            await space.clear()
            await self.live.delete("Namespace", name)

    @contextlib.asynccontextmanager
    async def watched(self) -> AsyncIterator[invariants.Watched]:
        """Check that at no moment of the block two claims have a device."""
        async with invariants.watched(self.live.client, RealClock()) as claims:
            yield claims
        assert dict(claims.violations) == {}

    @contextlib.asynccontextmanager
    async def changes(self, resource: Resource) -> AsyncIterator[list[str]]:
        """Yield a list that fills with what changes: what happened, to which object, what is its spec."""
        informer = Informer(self.live.client, RealClock(), resource)
        seen: list[str] = []
        task = asyncio.create_task(informer.run(), name=f"watch of {resource.plural}")
        try:
            await informer.synced.wait()
            informer.add_handler(
                lambda new: seen.append(f"{key_of(new)} was added"),
                lambda old, new: seen.append(f"{key_of(new)} was changed") if old["spec"] != new["spec"] else None,
                lambda old: seen.append(f"{key_of(old)} was deleted"),
            )
            yield seen
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def nodes(self) -> Mapping[str, Object]:
        """Return the nodes."""
        return {node["metadata"]["name"]: node for node in (await self.live.client.list(NODES))[0]}

    async def devices(self) -> Mapping[str, frozenset[str]]:
        """Return the devices that the driver has published, by node."""
        slices, _ = await self.live.client.list(SLICES)
        return {
            one["spec"]["nodeName"]: frozenset(device["name"] for device in one["spec"]["devices"]) for one in slices
        }


class Space:
    """One namespace of the cluster."""

    def __init__(self, live: Live, name: str) -> None:
        self.name = name
        self._live = live

    async def apply(self, *objects: Mapping[str, Any]) -> None:
        """Apply objects in this namespace, one after the other."""
        await self._live.apply([{**one, "metadata": {**one["metadata"], "namespace": self.name}} for one in objects])

    async def delete(self, kind: str, name: str) -> None:
        """Delete an object, and wait until it is gone."""
        await self._live.delete(kind, f"{self.name}/{name}")

        async def gone() -> str | None:
            with contextlib.suppress(APIStatusError):
                await self._live.get(kind, f"{self.name}/{name}")
                return f"{kind} {self.name}/{name} is still there"
            return None

        await self._live.wait(gone, SECONDS)

    async def pods(self) -> Mapping[str, Object]:
        """Return the pods by name."""
        return {pod["metadata"]["name"]: pod for pod in (await self._live.client.list(PODS, self.name))[0]}

    async def claims(self) -> Mapping[str, Object]:
        """Return the claims by name."""
        return {one["metadata"]["name"]: one for one in (await self._live.client.list(CLAIMS, self.name))[0]}

    async def job(self, name: str) -> Mapping[str, int]:
        """Return how many pods of a Job have succeeded, have failed, and are active."""
        status = (await self._live.client.get(JOBS, name, self.name)).get("status") or {}
        return {which: status.get(which) or 0 for which in ("succeeded", "failed", "active")}

    async def until_job_has(self, name: str, succeeded: int) -> None:
        """Wait until so many pods of the Job have succeeded."""

        async def progress() -> str | None:
            job = await self.job(name)
            return None if job["succeeded"] >= succeeded else f"of job {self.name}/{name} only {job['succeeded']} ended"

        await self._live.wait(progress, SECONDS)

    async def until_running(self, *wanted: str) -> Mapping[str, Object]:
        """Wait until the pods run, and return them."""

        async def phases() -> str | None:
            pods = await self.pods()
            waiting = [name for name in wanted if pods[name]["status"]["phase"] != "Running"]
            return f"not running in {self.name}: {', '.join(waiting)}" if waiting else None

        await self._live.wait(phases, SECONDS)
        return await self.pods()

    async def until_refused(self, name: str) -> Object:
        """Wait until the pod is said to be unschedulable, and return the condition that says why."""
        found: Object = {}

        async def refused() -> str | None:
            conditions = (await self.pods())[name]["status"].get("conditions") or []
            found.update(next((one for one in conditions if one["type"] == "PodScheduled"), {}))
            return None if found.get("status") == "False" else f"pod {self.name}/{name} has no verdict"

        await self._live.wait(refused, SECONDS)
        return found

    async def until(self, what: str, reached: Any) -> None:
        """Wait until the coroutine function `reached` returns true."""

        async def unmet() -> str | None:
            return None if await reached() else what

        await self._live.wait(unmet, SECONDS)

    async def until_said(self, reason: str, about: str) -> Sequence[Object]:
        """Wait for an event, which comes after what it is about, and return all that say the same."""
        found: list[Object] = []

        async def said() -> str | None:
            found[:] = [
                one for one in await self.events() if (one["reason"], one["regarding"]["name"]) == (reason, about)
            ]
            return None if found else f"no event {reason} about {self.name}/{about}"

        await self._live.wait(said, SECONDS)
        return found

    async def events(self) -> Sequence[Object]:
        """Return the events."""
        return await self._live.events(self.name)

    async def printed(self, pod: str, pattern: str) -> list[str]:
        """Return what the first group of `pattern` is in the lines that the pod has printed, in their order."""
        output = await self._live.logs(f"{self.name}/{pod}")
        return [match[1] for line in output.splitlines() if (match := re.fullmatch(pattern, line))]

    async def clear(self) -> None:
        """Delete what uses devices, and wait until it is gone: a namespace begins with that after five seconds."""
        for kind in ("Job", "Pod", "ResourceClaim"):
            for one in await self._live.list(kind, self.name):
                with contextlib.suppress(APIStatusError):
                    await self._live.delete(kind, key_of(one))

        async def left() -> str | None:
            found = [*await self.pods(), *await self.claims()]
            return f"{self.name} still has {', '.join(found)}" if found else None

        await self._live.wait(left, SECONDS)


def devices_of(claims: Iterable[Object]) -> list[tuple[str, str]]:
    """Return pool and name of the allocated devices, in order."""
    return sorted(
        (one["pool"], one["device"])
        for claim in claims
        for one in ((claim.get("status") or {}).get("allocation") or {}).get("devices", {}).get("results", ())
    )


def claims_of(pod: Object, claims: Mapping[str, Object]) -> list[Object]:
    """Return the claims of a pod."""
    return [claims[found.name] for _, found in resourceclaim.references(pod)]


def writers(*objects: Object, path: Sequence[str] = ()) -> set[str]:
    """Return the managers that wrote the field at `path`, or any field."""
    entries = (entry for one in objects for entry in one["metadata"].get("managedFields", ()))
    return {entry["manager"] for entry in entries if _has(entry["fieldsV1"], path)}


def reporters(events: Iterable[Object], reason: str | None = None) -> dict[str, set[str]]:
    """Return who reported events, by the name of the object that they are about."""
    found: dict[str, set[str]] = {}
    for event in events:
        if reason in (None, event.get("reason")):
            who = event.get("reportingController") or (event.get("deprecatedSource") or {}).get("component", "")
            found.setdefault(event["regarding"]["name"], set()).add(who)
    return found


def _has(fields: Mapping[str, Any], path: Sequence[str]) -> bool:
    for name in path:
        if f"f:{name}" not in fields:
            return False
        fields = fields[f"f:{name}"]
    return True
