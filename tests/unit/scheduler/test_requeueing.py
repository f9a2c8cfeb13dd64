"""A pod that waits is tried again when something changes that may help it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.kube.resources import CLAIMS, NODES, PODS

if TYPE_CHECKING:
    from conftest import Cluster


async def test_freed_device_serves_the_next_pod(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node(devices=1)
    await cluster.claim("first")
    await cluster.claim("second")
    await cluster.pod("holder", "first")
    await cluster.pod("waiter", "second")

    async with cluster.scheduler():
        await cluster.settle()
        assert await cluster.node_of("waiter") is None
        await cluster.client.delete(PODS, "holder", "default", grace_period_seconds=0)
        await cluster.deallocate("first")
        await cluster.settle()

    assert await cluster.node_of("waiter") == "n1"
    assert await cluster.devices("second") == ["n1/gpu-0"]


async def test_claim_created_after_its_pod(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node(devices=1)
    await cluster.pod("p", "late")

    async with cluster.scheduler():
        await cluster.settle()
        await cluster.claim("late")
        await cluster.settle()

    assert await cluster.node_of("p") == "n1"


async def test_claim_of_a_template_created_after_its_pod(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node(devices=1)
    pod = await cluster.pod("p", resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "t"}])

    async with cluster.scheduler():
        await cluster.settle()
        owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": pod["metadata"]["uid"], "controller": True}
        await cluster.claim("p-gpu", ownerReferences=[owner])
        status = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "p-gpu"}]}
        await cluster.client.patch(PODS, "p", "default", {"status": status}, subresource="status")
        await cluster.settle()

    assert await cluster.node_of("p") == "n1"


async def test_slice_published_after_the_pod_was_refused(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node()
    await cluster.claim("c")
    await cluster.pod("p", "c")

    async with cluster.scheduler():
        await cluster.settle()
        assert await cluster.node_of("p") is None
        await cluster.slice("n1", 1)
        await cluster.settle()

    assert await cluster.node_of("p") == "n1"


async def test_device_class_created_after_the_pod_was_refused(cluster: Cluster) -> None:
    await cluster.node(devices=1)
    await cluster.claim("c")
    await cluster.pod("p", "c")

    async with cluster.scheduler():
        await cluster.settle()
        await cluster.device_class()
        await cluster.settle()

    assert await cluster.node_of("p") == "n1"


async def test_uncordoned_node_takes_the_pod(cluster: Cluster) -> None:
    await cluster.node(unschedulable=True)
    await cluster.pod("p")

    async with cluster.scheduler():
        await cluster.settle()
        await cluster.client.patch(NODES, "n1", None, {"spec": {"unschedulable": None}})
        await cluster.settle()

    assert await cluster.node_of("p") == "n1"


async def test_room_of_a_deleted_pod_is_used(cluster: Cluster) -> None:
    await cluster.node()
    await cluster.pod("resident", nodeName="n1", requests={"cpu": "4"})
    await cluster.pod("p", requests={"cpu": "1"})

    async with cluster.scheduler():
        await cluster.settle()
        await cluster.client.delete(PODS, "resident", "default", grace_period_seconds=0)
        await cluster.settle()

    assert await cluster.node_of("p") == "n1"


async def test_removed_scheduling_gate_lets_the_pod_go(cluster: Cluster) -> None:
    await cluster.node()
    await cluster.pod("p", schedulingGates=[{"name": "example.com/wait"}])

    async with cluster.scheduler():
        await cluster.settle()
        assert await cluster.node_of("p") is None
        await cluster.client.patch(PODS, "p", "default", {"spec": {"schedulingGates": None}})
        await cluster.settle()

    assert await cluster.node_of("p") == "n1"


async def test_allocation_that_blocks_its_pod_is_given_up(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node("n1", devices=1, unschedulable=True)
    await cluster.node("n2", devices=1)
    await cluster.claim("c")
    await cluster.pod("p", "c")
    await cluster.allocate("c", node="n1")

    async with cluster.scheduler():
        await cluster.settle()

    assert await cluster.node_of("p") == "n2"
    assert await cluster.devices("c") == ["n2/gpu-0"]
    assert (await cluster.events("p"))[0] == (
        "FailedScheduling: 0/2 nodes are available: 1 node(s) were unschedulable, "
        "1 resourceclaim not available on the node. deallocation of ResourceClaim completed, "
        "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling. "
        "drayman: claim `default/c` is allocated already, for nodes where `metadata.name` is `n1`"
    )


async def test_burst_of_pods_never_gets_a_device_twice(cluster: Cluster) -> None:
    await cluster.device_class()
    for node in ("n1", "n2"):
        await cluster.node(node, devices=4)
    for index in range(10):
        await cluster.claim(f"c{index}")

    async with cluster.scheduler():
        for index in range(10):
            await cluster.pod(f"p{index}", f"c{index}")
        await cluster.settle()

    devices = [device for index in range(10) for device in await cluster.devices(f"c{index}")]
    assert len(devices) == len(set(devices)) == 8
    claims, _ = await cluster.client.list(CLAIMS)
    assert sum(1 for claim in claims if claim.get("status", {}).get("reservedFor")) == 8
