"""Several schedulers at work, and answers that get lost."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from drayman import scheduler
from drayman.kube.resources import CLAIMS, PODS
from drayman.pods.objects import condition_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from conftest import Cluster
    from drayman.kube.http import Request, Response

    Stack = contextlib.AsyncExitStack


@contextlib.asynccontextmanager
async def replicas(cluster: Cluster, count: int) -> AsyncIterator[None]:
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(count):
            await stack.enter_async_context(cluster.scheduler())
        yield


async def test_replicas_give_no_device_twice(cluster: Cluster) -> None:
    await cluster.device_class()
    for node in ("n1", "n2", "n3"):
        await cluster.node(node, devices=4)
    for index in range(20):
        await cluster.claim(f"c{index}")
        await cluster.pod(f"p{index}", f"c{index}")

    async with replicas(cluster, 3):
        await cluster.settle(120)

    bound = [index for index in range(20) if await cluster.node_of(f"p{index}")]
    devices = [device for index in bound for device in await cluster.devices(f"c{index}")]
    assert len(bound) == 12
    assert len(set(devices)) == 12
    for index in bound:
        assert await cluster.reserved_for(f"c{index}") == [f"p{index}"]


async def test_claim_that_came_second_to_a_device_is_not_shared(cluster: Cluster) -> None:
    """Whoever allocated it takes it back, which a second user would prevent."""
    await cluster.device_class()
    await cluster.node(devices=1)
    await cluster.claim("first")
    await cluster.claim("second")
    others = [await cluster.pod(name, schedulerName="other") for name in ("a", "b")]

    async with cluster.scheduler(scheduler.Configuration()):
        await cluster.settle()
        await cluster.allocate("first", others[0])
        await cluster.allocate("second", others[1])
        await cluster.pod("p", "second", schedulerName="drayman")
        await cluster.settle()
        assert await cluster.node_of("p") is None
        assert await cluster.reserved_for("second") == ["b"]
        assert await cluster.verdict("p") == (
            "SchedulerError",
            'running PreBind plugin "DynamicResources": claim default/second cannot be shared: '
            "device gpu.example.com/n1/gpu-0 is held by claim default/first",
        )

        await cluster.deallocate("first")
        await cluster.settle()

    assert await cluster.node_of("p") == "n1"
    assert await cluster.reserved_for("second") == ["b", "p"]


async def test_lost_answer_to_a_write_that_happened(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node(devices=1)
    await cluster.claim("c")
    await cluster.pod("p", "c")
    lost = False

    async def lose(request: Request) -> Response | None:
        nonlocal lost
        if request.method == "PUT" and request.path.endswith("c/status") and not lost:
            lost = True
            await cluster.client.transport.request(request)
            raise ConnectionError("connection reset by peer")
        return None

    cluster.transport.before = lose
    async with cluster.scheduler():
        await cluster.settle()

    assert await cluster.node_of("p") == "n1"
    assert await cluster.devices("c") == ["n1/gpu-0"]
    assert await cluster.reserved_for("c") == ["p"]
    assert (await cluster.events("p"))[0] == (
        'FailedScheduling: running PreBind plugin "DynamicResources": '
        "add allocation and reservation to claim default/c: connection reset by peer"
    )


async def test_lost_connection_while_binding_leaves_nothing_behind(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node(devices=1)
    await cluster.claim("c")
    await cluster.pod("p", "c")
    failures = 3

    async def refuse(request: Request) -> None:
        nonlocal failures
        if request.path.endswith("/binding") and failures:
            failures -= 1
            raise ConnectionError("no route to host")

    cluster.transport.before = refuse
    async with cluster.scheduler():
        await cluster.settle()

    assert failures == 0
    assert await cluster.node_of("p") == "n1"
    assert await cluster.reserved_for("c") == ["p"]


async def test_claim_deleted_before_it_is_written(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node(devices=1)
    await cluster.claim("c")
    await cluster.claim("other")
    await cluster.pod("p", "c")
    await cluster.pod("q", "other")
    deleted = False

    async def delete(request: Request) -> None:
        nonlocal deleted
        if request.method == "PUT" and request.path.endswith("resourceclaims/c") and not deleted:
            deleted = True
            await cluster.client.delete(CLAIMS, "c", "default")

    cluster.transport.before = delete
    async with cluster.scheduler():
        await cluster.settle()

    assert await cluster.node_of("p") is None
    assert await cluster.verdict("p") == ("ResourceClaimNotFound", 'could not find ResourceClaim "default/c"')
    assert await cluster.node_of("q") == "n1"


async def test_pod_bound_by_somebody_else_is_let_go(cluster: Cluster) -> None:
    await cluster.node("n1")
    await cluster.node("n2")
    pod = await cluster.pod("p")

    async def bind(request: Request) -> None:
        if request.path.endswith("/binding"):
            cluster.transport.before = None
            await cluster.client.bind("default", "p", pod["metadata"]["uid"], "n2")

    cluster.transport.before = bind
    async with cluster.scheduler():
        await cluster.settle()

    bound = await cluster.get(PODS, "p")
    assert bound["spec"]["nodeName"] == "n2"
    condition = condition_of(bound, "PodScheduled")
    assert condition is None or condition["status"] == "True"
    assert cluster.transport.writes[0] == "POST pods/p/binding 409"
