"""Devices that a controller has to attach before the pod can be bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drayman.kube.resources import CLAIMS, SLICES

if TYPE_CHECKING:
    from conftest import Cluster

DRIVER = "gpu.example.com"


async def _prepare(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node()
    device = {
        "name": "gpu-0",
        "bindsToNode": True,
        "bindingConditions": ["attached"],
        "bindingFailureConditions": ["broken"],
    }
    pool = {"name": "fabric", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": DRIVER, "allNodes": True, "pool": pool, "devices": [device]}
    await cluster.client.create(SLICES, {"metadata": {"name": "fabric"}, "spec": spec})
    await cluster.claim("c")
    await cluster.pod("p", "c")


async def _report(cluster: Cluster, condition: str) -> None:
    claim = await cluster.get(CLAIMS, "c")
    since = "2026-01-01T00:00:00Z"
    status: dict[str, Any] = {"type": condition, "status": "True", "reason": "Done", "message": 'said "so"'}
    device = {"driver": DRIVER, "pool": "fabric", "device": "gpu-0"}
    claim["status"]["devices"] = [{**device, "conditions": [{**status, "lastTransitionTime": since}]}]
    await cluster.client.update(CLAIMS, claim, subresource="status")


async def test_pod_is_bound_when_its_device_is_attached(cluster: Cluster) -> None:
    await _prepare(cluster)
    async with cluster.scheduler():
        await cluster.settle()
        assert await cluster.node_of("p") is None
        assert await cluster.reserved_for("c") == ["p"]
        await _report(cluster, "attached")
        await cluster.settle()

    assert await cluster.node_of("p") == "n1"
    assert await cluster.events("p") == [
        "BindingConditionsPending: waiting for binding conditions for device on node n1",
        "Scheduled: Successfully assigned default/p to n1",
    ]


async def test_failed_device_is_given_up_and_tried_anew(cluster: Cluster) -> None:
    await _prepare(cluster)
    async with cluster.scheduler():
        await cluster.settle()
        await _report(cluster, "broken")
        await cluster.settle()
        assert await cluster.node_of("p") is None
        assert "devices" not in (await cluster.get(CLAIMS, "c"))["status"]
        await _report(cluster, "attached")
        await cluster.settle()

    assert await cluster.node_of("p") == "n1"
    assert (
        'FailedScheduling: running PreBind plugin "DynamicResources": '
        'device binding failed: claim=c, reason=Done, message="said \\"so\\""'
    ) in await cluster.events("p")


async def test_device_that_is_not_attached_in_time(cluster: Cluster) -> None:
    await _prepare(cluster)
    async with cluster.scheduler():
        await cluster.settle()
        await cluster.clock.advance(601)

    assert (
        'FailedScheduling: running PreBind plugin "DynamicResources": device binding timeout: claim=c'
    ) in await cluster.events("p")
