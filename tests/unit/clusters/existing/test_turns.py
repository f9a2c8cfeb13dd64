"""One run at a time has the devices, and one that was killed does not keep them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from tests.unit.clusters.existing.world import World

from drayman.kube.resources import LEASES
from drayman.testing.clusters.existing.run import LABEL, Run
from drayman.testing.clusters.existing.turns import EXPIRES_SECONDS, Turns

if TYPE_CHECKING:
    from drayman.kube.client import Object


def turns(world: World, run: str) -> Turns:
    return Turns(world.client, world.clock, Run(run), "gpu.example.com")


async def leases(world: World) -> list[Object]:
    return (await world.access.client.list(LEASES))[0]


async def held_by_nobody_alive(world: World, labels: dict[str, str]) -> None:
    metadata = {"name": "drayman-gpu.example.com", "namespace": "default", "labels": labels}
    lease = {"apiVersion": LEASES.api_version, "kind": LEASES.kind, "metadata": metadata}
    await world.access.client.create(LEASES, {**lease, "spec": {"holderIdentity": "dead"}})


def test_turns_do_not_overlap_and_leave_nothing() -> None:
    world = World()
    said: list[str] = []

    async def play(run: str) -> None:
        for _ in range(3):
            async with turns(world, run).turn():
                said.append(f"{run} begins")
                await world.clock.sleep(2 * EXPIRES_SECONDS)  # renewed meanwhile
                said.append(f"{run} ends")

    async def act() -> None:
        await asyncio.gather(play("a"), play("b"))
        assert await leases(world) == []

    world.run(act)
    assert len(said) == 12
    for begin, end in zip(said[::2], said[1::2], strict=True):
        assert (begin.split()[0], begin.split()[1], end.split()[1]) == (end.split()[0], "begins", "ends")


def test_lease_is_labelled_with_its_run() -> None:
    world = World()

    async def act() -> Object:
        async with turns(world, "a").turn():
            return (await leases(world))[0]

    lease = world.run(act)
    assert lease["metadata"]["labels"] == {LABEL: "a"}
    assert lease["spec"]["holderIdentity"] == "a"


def test_error_in_a_turn_gives_the_devices_back() -> None:
    world = World()

    async def act() -> None:
        with pytest.raises(ValueError, match="mine"):
            async with turns(world, "a").turn():
                raise ValueError("mine")
        assert await leases(world) == []

    world.run(act)


def test_turn_of_a_run_that_was_killed_is_taken_when_it_has_not_been_renewed() -> None:
    world = World()

    async def act() -> float:
        await held_by_nobody_alive(world, {LABEL: "dead"})
        start = world.clock.monotonic()
        async with turns(world, "a").turn():
            return world.clock.monotonic() - start

    assert EXPIRES_SECONDS < world.run(act) < EXPIRES_SECONDS + 2


def test_lease_of_somebody_else_is_not_taken() -> None:
    world = World()

    async def act() -> None:
        await held_by_nobody_alive(world, {})
        async with turns(world, "a").turn():
            pytest.fail("it was taken")

    with pytest.raises(TimeoutError, match="run `dead` has the devices, after 900 s"):
        world.run(act)
