"""An allocation counts only when it has come back on the watch of claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Cluster

HIDDEN = 'FailedScheduling: running PreBind plugin "DynamicResources": '


async def test_pod_is_bound_only_when_its_claim_came_back(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node(devices=1)
    await cluster.claim("c")

    async with cluster.scheduler():
        await cluster.settle()
        cluster.transport.claims_flow.clear()
        await cluster.pod("p", "c")
        await cluster.settle(30)
        assert await cluster.reserved_for("c") == ["p"]
        assert await cluster.node_of("p") is None
        cluster.transport.claims_flow.set()
        await cluster.settle(30)

    assert await cluster.node_of("p") == "n1"


async def test_earlier_allocation_that_the_watch_had_not_shown_yet(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node(devices=1)
    await cluster.claim("ours")
    await cluster.claim("theirs")

    async with cluster.scheduler():
        await cluster.settle()
        cluster.transport.claims_flow.clear()
        await cluster.allocate("theirs", device="gpu-0")
        await cluster.pod("p", "ours")
        await cluster.settle(30)
        assert await cluster.devices("ours") == ["n1/gpu-0"]
        cluster.transport.claims_flow.set()
        await cluster.settle(30)

    assert await cluster.devices("ours") == []
    assert await cluster.reserved_for("ours") == []
    assert await cluster.node_of("p") is None
    assert (await cluster.events("p"))[0] == (
        f"{HIDDEN}claim default/ours is given up: device gpu.example.com/n1/gpu-0 is held by claim default/theirs"
    )


async def test_later_allocation_of_the_same_device_does_not_undo_ours(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node(devices=1)
    await cluster.claim("ours")
    await cluster.claim("theirs")

    async with cluster.scheduler():
        await cluster.settle()
        cluster.transport.claims_flow.clear()
        await cluster.pod("p", "ours")
        await cluster.settle(30)
        await cluster.allocate("theirs", device="gpu-0")
        cluster.transport.claims_flow.set()
        await cluster.settle(30)

    assert await cluster.node_of("p") == "n1"
    assert await cluster.devices("ours") == ["n1/gpu-0"]
    assert await cluster.events("theirs") == [
        "DeviceAllocatedTwice: device gpu.example.com/n1/gpu-0 is held by claim default/ours"
    ]


async def test_clash_of_a_claim_that_others_rely_on_is_reported_and_stays(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node(devices=1)
    await cluster.claim("ours")
    await cluster.claim("theirs")
    other = {"metadata": {"name": "other", "uid": "uid-other"}}

    async with cluster.scheduler():
        await cluster.settle()
        cluster.transport.claims_flow.clear()
        await cluster.allocate("theirs", device="gpu-0")
        await cluster.pod("p", "ours")
        await cluster.settle(30)
        await cluster.reserve("ours", other)
        cluster.transport.claims_flow.set()
        await cluster.settle(30)

    assert await cluster.devices("ours") == ["n1/gpu-0"]
    assert await cluster.reserved_for("ours") == ["p", "other"]
    assert await cluster.events("ours") == [
        "DeviceAllocatedTwice: device gpu.example.com/n1/gpu-0 is held by claim default/theirs"
    ]


async def test_allocation_that_does_not_come_back_is_not_used(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node(devices=1)
    await cluster.claim("c")

    async with cluster.scheduler():
        await cluster.settle()
        cluster.transport.claims_flow.clear()
        await cluster.pod("p", "c")
        await cluster.clock.advance(60.5)
        assert await cluster.node_of("p") is None
        assert await cluster.reserved_for("c") == []
        assert await cluster.events("p") == [
            f"{HIDDEN}claim default/c did not come back on the watch within 60 seconds"
        ]
        cluster.transport.claims_flow.set()
        await cluster.settle()

    assert await cluster.node_of("p") == "n1"
