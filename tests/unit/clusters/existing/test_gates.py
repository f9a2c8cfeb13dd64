"""Gates are found by what the server keeps of objects that are never stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.clusters.existing.world import World

from drayman import features
from drayman.kube.resources import CLAIMS
from drayman.testing.clusters.existing import gates

if TYPE_CHECKING:
    from collections.abc import Collection

VERSION = "1.36"
"""One in which each of these gates can still be changed."""


def found(world: World, wanted: Collection[str]) -> frozenset[str]:
    return world.run(lambda: gates.on(world.client, wanted, "default", VERSION))


@pytest.mark.parametrize("name", gates.PROBES)
@pytest.mark.parametrize("on", [True, False])
def test_gate_is_as_the_server_has_it(name: str, on: bool) -> None:
    world = World(kubernetes_version=VERSION, feature_gates={name: on})
    expected = features.resolve(kubernetes_version=VERSION, feature_gates={name: on})

    assert (name in found(world, {name})) is on
    assert found(world, {name}) == expected
    assert all(("dryRun", "All") in one.query for one in world.gate.requests)


def test_nothing_is_asked_for_gates_that_no_scenario_needs() -> None:
    world = World(kubernetes_version=VERSION)
    assert found(world, set()) == features.defaults(VERSION)
    assert found(world, {"DRASchedulerFilterTimeout"}) == features.defaults(VERSION)
    assert world.gate.requests == []


def test_default_holds_where_nothing_may_be_tried() -> None:
    world = World(kubernetes_version=VERSION, feature_gates={"DRAPartitionableDevices": False})
    world.gate.denied = {("create", "resourceslices")}
    assert "DRAPartitionableDevices" in found(world, {"DRAPartitionableDevices"})


def test_dry_run_stores_nothing() -> None:
    world = World(kubernetes_version=VERSION)
    found(world, gates.PROBES)

    async def stored() -> int:
        return len((await world.access.client.list(CLAIMS))[0])

    assert world.run(stored) == 0
