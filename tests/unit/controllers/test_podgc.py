from __future__ import annotations

from typing import Any

from drayman.kube.resources import NODES, PODS

NAMES = {"pod-garbage-collector-controller"}


async def test_pods_of_a_node_that_is_gone_are_deleted_after_40_seconds(cluster: Any) -> None:
    await cluster.node("n1")
    await cluster.pod("p", nodeName="n1")
    async with cluster.controllers(names=NAMES):
        await cluster.settle(1)
        await cluster.client.delete(NODES, "n1")
        await cluster.clock.advance(39)
        assert await cluster.names(PODS) == ["p"]

        await cluster.clock.advance(2)
        assert await cluster.names(PODS) == []


async def test_pods_of_a_node_that_came_back_are_kept(cluster: Any) -> None:
    await cluster.node("n1")
    await cluster.pod("p", nodeName="n1")
    async with cluster.controllers(names=NAMES):
        await cluster.settle(1)
        await cluster.client.delete(NODES, "n1")
        await cluster.clock.advance(10)
        await cluster.node("n1")
        await cluster.clock.advance(60)

    assert await cluster.names(PODS) == ["p"]


async def test_start_sets_no_timer_for_pods_with_nodes(cluster: Any) -> None:
    await cluster.node("n1")
    await cluster.pod("p", nodeName="n1")
    async with cluster.controllers(names=NAMES):
        await cluster.settle(60)

    assert cluster.clock.monotonic() == 0
