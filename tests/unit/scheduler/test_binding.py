"""Pods with claims are bound, by the right writes in the right order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.kube.resources import CLAIMS, PODS

if TYPE_CHECKING:
    from conftest import Cluster
    from drayman.kube.http import Request


async def test_claim_is_protected_then_allocated_and_reserved_then_the_pod_is_bound(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node(devices=2)
    await cluster.claim("c", labels={"kept": "yes"})
    await cluster.pod("p", "c")

    async with cluster.scheduler():
        await cluster.settle()

    assert cluster.transport.writes == [
        "PUT resourceclaims/c 200",
        "PUT resourceclaims/c/status 200",
        "POST pods/p/binding 201",
    ]
    assert await cluster.node_of("p") == "n1"
    assert await cluster.devices("c") == ["n1/gpu-0"]
    assert await cluster.reserved_for("c") == ["p"]
    claim = await cluster.get(CLAIMS, "c")
    assert claim["metadata"]["labels"] == {"kept": "yes"}
    assert claim["metadata"]["finalizers"] == ["resource.kubernetes.io/delete-protection"]
    assert claim["status"]["allocation"]["allocationTimestamp"] == "2026-01-01T00:00:00Z"
    assert await cluster.events("p") == ["Scheduled: Successfully assigned default/p to n1"]


async def test_pod_without_claims_goes_to_the_emptier_node(cluster: Cluster) -> None:
    await cluster.node("n1")
    await cluster.node("n2")
    await cluster.pod("first", nodeName="n1", requests={"cpu": "2"})
    await cluster.pod("second", requests={"cpu": "1"})

    async with cluster.scheduler():
        await cluster.settle()

    assert await cluster.node_of("second") == "n2"


async def test_claim_that_two_entries_name_is_allocated_once(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node(devices=1)
    await cluster.claim("c")
    await cluster.pod("p", resourceClaims=[{"name": name, "resourceClaimName": "c"} for name in ("first", "second")])

    async with cluster.scheduler():
        await cluster.settle()

    assert await cluster.node_of("p") == "n1"
    assert await cluster.devices("c") == ["n1/gpu-0"]


async def test_claims_of_one_pod_are_allocated_together(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node("n1", devices=1)
    await cluster.node("n2", devices=2)
    await cluster.claim("a")
    await cluster.claim("b")
    await cluster.pod("p", "a", "b")

    async with cluster.scheduler():
        await cluster.settle()

    assert await cluster.node_of("p") == "n2"
    assert await cluster.devices("a") == ["n2/gpu-0"]
    assert await cluster.devices("b") == ["n2/gpu-1"]


async def test_two_pods_share_a_claim(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node("n1", devices=1)
    await cluster.node("n2", devices=1)
    await cluster.claim("c")
    await cluster.pod("first", "c")
    await cluster.pod("second", "c")

    async with cluster.scheduler():
        await cluster.settle()

    assert await cluster.node_of("first") == "n1"
    assert await cluster.node_of("second") == "n1"
    assert await cluster.reserved_for("c") == ["first", "second"]


async def test_conflicting_write_is_repeated_on_the_newer_claim(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node(devices=1)
    await cluster.claim("c")
    await cluster.pod("p", "c")
    interfered = False

    async def interfere(request: Request) -> None:
        nonlocal interfered
        if request.method == "PUT" and not interfered:
            interfered = True
            await cluster.client.patch(CLAIMS, "c", "default", {"metadata": {"labels": {"by": "another"}}})

    cluster.transport.before = interfere
    async with cluster.scheduler():
        await cluster.settle()

    assert cluster.transport.writes == [
        "PUT resourceclaims/c 409",
        "PUT resourceclaims/c 200",
        "PUT resourceclaims/c/status 200",
        "POST pods/p/binding 201",
    ]
    assert (await cluster.get(CLAIMS, "c"))["metadata"]["labels"] == {"by": "another"}


async def test_allocation_by_another_scheduler_is_never_overwritten(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node(devices=2)
    await cluster.claim("c")
    await cluster.pod("p", "c")
    interfered = False

    async def interfere(request: Request) -> None:
        nonlocal interfered
        if request.method == "PUT" and not interfered:
            interfered = True
            await cluster.allocate("c", device="gpu-1")

    cluster.transport.before = interfere
    async with cluster.scheduler():
        await cluster.settle()

    assert (await cluster.events("p"))[0] == (
        'FailedScheduling: running PreBind plugin "DynamicResources": '
        "claim default/c got allocated elsewhere in the meantime"
    )
    assert await cluster.devices("c") == ["n1/gpu-1"]
    assert await cluster.node_of("p") == "n1"


async def test_pod_follows_a_shared_claim_that_moves_while_the_pod_is_being_bound(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node("n1", devices=1)
    await cluster.node("n2", devices=1)
    await cluster.claim("c")
    await cluster.allocate("c", node="n1")
    await cluster.pod("p", "c")
    interfered = False

    async def interfere(request: Request) -> None:
        nonlocal interfered
        if request.method == "PUT" and not interfered:
            interfered = True
            await cluster.deallocate("c")
            await cluster.allocate("c", node="n2")

    cluster.transport.before = interfere
    async with cluster.scheduler():
        await cluster.settle()

    assert (await cluster.events("p"))[0] == (
        'FailedScheduling: running PreBind plugin "DynamicResources": '
        "claim default/c got deallocated elsewhere in the meantime"
    )
    assert await cluster.devices("c") == ["n2/gpu-0"]
    assert await cluster.node_of("p") == "n2"


async def test_earlier_write_of_another_scheduler_wins_the_device(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node(devices=2)
    await cluster.claim("ours")
    await cluster.claim("theirs")
    await cluster.pod("p", "ours")
    interfered = False

    async def interfere(request: Request) -> None:
        nonlocal interfered
        if request.path.endswith("ours/status") and request.method == "PUT" and not interfered:
            interfered = True
            await cluster.allocate("theirs", device="gpu-0")

    cluster.transport.before = interfere
    async with cluster.scheduler():
        await cluster.settle()

    assert cluster.transport.writes == [
        "PUT resourceclaims/ours 200",
        "PUT resourceclaims/ours/status 200",
        "PUT resourceclaims/ours/status 200",
        "PATCH pods/p/status 200",
        "PUT resourceclaims/ours/status 200",
        "POST pods/p/binding 201",
    ]
    assert await cluster.devices("theirs") == ["n1/gpu-0"]
    assert await cluster.devices("ours") == ["n1/gpu-1"]
    assert await cluster.events("p") == [
        'FailedScheduling: running PreBind plugin "DynamicResources": claim default/ours is given up: '
        "device gpu.example.com/n1/gpu-0 is held by claim default/theirs",
        "Scheduled: Successfully assigned default/p to n1",
    ]


async def test_later_write_of_another_scheduler_is_reported(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node(devices=1)
    await cluster.claim("ours")
    await cluster.claim("theirs")
    await cluster.pod("p", "ours")

    async with cluster.scheduler():
        await cluster.settle()
        await cluster.allocate("theirs", device="gpu-0")
        await cluster.settle()

    assert await cluster.node_of("p") == "n1"
    assert await cluster.events("theirs") == [
        "DeviceAllocatedTwice: device gpu.example.com/n1/gpu-0 is held by claim default/ours"
    ]


async def test_pod_that_was_reserved_before_a_restart_is_bound(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node("n1", devices=1)
    await cluster.node("n2", devices=1)
    await cluster.claim("c")
    pod = await cluster.pod("p", "c")
    await cluster.allocate("c", pod, node="n2")

    async with cluster.scheduler():
        await cluster.settle()

    assert await cluster.node_of("p") == "n2"
    assert cluster.transport.writes == ["POST pods/p/binding 201"]


async def test_pod_deleted_while_it_is_bound_gives_its_reservation_back(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node(devices=1)
    await cluster.claim("c")
    await cluster.pod("p", "c")

    async def interfere(request: Request) -> None:
        if request.path.endswith("/binding"):
            await cluster.client.delete(PODS, "p", "default", grace_period_seconds=0)

    cluster.transport.before = interfere
    async with cluster.scheduler():
        await cluster.settle()

    assert await cluster.reserved_for("c") == []
    assert cluster.transport.writes[-2:] == ["POST pods/p/binding 404", "PATCH resourceclaims/c/status 200"]
