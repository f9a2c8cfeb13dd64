"""Whatever happens to a cluster, at rest no device is held twice, nothing is left behind, and nobody waits in vain."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from tests.property.churn import Churn
from tests.property.restartable import World, running

import drayman
from drayman.clock import VirtualClock, virtual_loop

Object = dict[str, Any]

WORLDS = {
    "one scheduler": World(),
    "restarts": World(restarts=True),
    "rivals": World(rivals=True, restarts=True),
    "kubelets": World(kubelets=True, restarts=True),
}
BURSTS = 5
"""How often something happens between two looks at the cluster at rest."""

LOOKS = 4


@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
@pytest.mark.parametrize("seed", range(4))
def test_cluster_at_rest_is_in_order(world: World, seed: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    live(world, seed)
    assert [record for record in caplog.records if record.exc_info] == []


def test_two_runs_with_one_seed_give_the_same_bytes() -> None:
    """Without kubelets: which of two drivers answers first over its socket is for the machine to say."""
    assert live(WORLDS["rivals"], 9) == live(WORLDS["rivals"], 9)


def live(world: World, seed: int) -> str:
    """Let a cluster live, check it whenever it has come to rest, and return all of its objects."""
    clock = VirtualClock()

    async def main() -> str:
        async with running(world, seed, clock) as (cluster, parts):
            churn = Churn(cluster, parts, world, seed)
            await churn.set_up()
            for _ in range(LOOKS):
                for _ in range(BURSTS):
                    await churn.burst()
                await churn.calm_down()
                view = View({kind: await cluster.list(kind) for kind in KINDS})
                assert list(view.problems()) == []
            return json.dumps([await cluster.list(kind) for kind in (*KINDS, "Event")])

    with asyncio.Runner(loop_factory=lambda: virtual_loop(clock)) as runner:
        return runner.run(main())


KINDS = ("Pod", "ResourceClaim", "Node", "ResourceSlice", "DeviceClass", "DeviceTaintRule")


class View:
    """The cluster at rest, and what is wrong with it."""

    def __init__(self, objects: Mapping[str, Any]) -> None:
        self._objects = objects
        self._claims = {claim["metadata"]["name"]: claim for claim in objects["ResourceClaim"]}
        self._live = {pod["metadata"]["uid"]: pod for pod in objects["Pod"] if not is_ended(pod)}
        self._owners = {pod["metadata"]["uid"] for pod in objects["Pod"]}

    def problems(self) -> Iterator[str]:
        yield from self._devices_held_twice()
        for name, claim in self._claims.items():
            yield from (f"claim {name} {problem}" for problem in self._claim_problems(claim))
        for pod in self._live.values():
            check = self._bound_problems if pod["spec"].get("nodeName") else self._pending_problems
            yield from (f"pod {pod['metadata']['name']} {problem}" for problem in check(pod))

    def _devices_held_twice(self) -> Iterator[str]:
        """Claims that nobody uses do not count: who stole a device without a pod is no scheduler."""
        users = defaultdict(list)
        for name, claim in self._claims.items():
            for result in results(claim) if reserved_for(claim) else ():
                users[result["pool"], result["device"]].append(name)
        yield from (f"device {device} is used by {names}" for device, names in users.items() if len(names) > 1)

    def _claim_problems(self, claim: Object) -> Iterator[str]:
        for consumer in reserved_for(claim) - self._live.keys():
            yield f"is reserved for {consumer}, which is gone"
        owners = {owner["uid"] for owner in claim["metadata"].get("ownerReferences", ())}
        if owners - self._owners:
            yield "outlived its pod"
        if "deletionTimestamp" in claim["metadata"] and not reserved_for(claim):
            yield "is not deleted, although nobody uses it"

    def _bound_problems(self, pod: Object) -> Iterator[str]:
        for name in claim_names(pod):
            claim = self._claims.get(name or "", {})
            if not results(claim):
                yield f"is bound without devices of claim {name}"
            elif pools(claim) != {pod["spec"]["nodeName"]}:
                yield f"is bound to another node than claim {name}"
            if pod["metadata"]["uid"] not in reserved_for(claim):
                yield f"is bound without a reservation of claim {name}"

    def _pending_problems(self, pod: Object) -> Iterator[str]:
        if "deletionTimestamp" in pod["metadata"]:
            yield "is not gone"
        names = claim_names(pod)
        if not all(is_usable(self._claims.get(name or "")) for name in names):
            return
        fitting = [name for name in self._open_nodes(pod) if self._fit(names, name)]
        if fitting:
            yield f"waits, although it fits on {fitting}: {pod['status'].get('conditions')}"

    def _open_nodes(self, pod: Object) -> Iterator[str]:
        wanted = pod["spec"].get("nodeSelector", {}).get("kubernetes.io/hostname")
        for node in self._objects["Node"]:
            name = node["metadata"]["name"]
            if wanted in (None, name) and not node.get("spec", {}).get("unschedulable"):
                yield name

    def _fit(self, names: list[str], node: str) -> bool:
        """Ask the kernel by itself, without a scheduler's picture of the cluster."""
        allocated = [name for name in names if results(self._claims[name])]
        if any(pools(self._claims[name]) != {node} for name in allocated):
            return False
        wanted = dict.fromkeys(f"default/{name}" for name in names if name not in allocated)
        if not wanted:
            return True
        objects = [obj for kind in KINDS for obj in self._objects[kind]]
        try:
            outcome = drayman.Cluster.from_objects(objects, compatibility="fixed").allocate(tuple(wanted), node=node)
        except drayman.AllocationError:
            return False
        return isinstance(outcome, drayman.Allocated)


def is_ended(pod: Object) -> bool:
    return pod["status"].get("phase") in ("Succeeded", "Failed")


def is_usable(claim: Object | None) -> bool:
    return claim is not None and "deletionTimestamp" not in claim["metadata"]


def results(claim: Object) -> list[Object]:
    found: list[Object] = claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", [])
    return found


def pools(claim: Object) -> set[str]:
    return {result["pool"] for result in results(claim)}


def reserved_for(claim: Object) -> set[str]:
    return {consumer["uid"] for consumer in claim.get("status", {}).get("reservedFor", ())}


def claim_names(pod: Object) -> list[str]:
    """Return the names of the pod's claims; an empty one for a claim that was not made yet."""
    made = {entry["name"]: entry["resourceClaimName"] for entry in pod["status"].get("resourceClaimStatuses", ())}
    return [entry.get("resourceClaimName") or made.get(entry["name"], "") for entry in pod["spec"]["resourceClaims"]]
