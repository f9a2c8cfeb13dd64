from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from drayman.errors import APIStatusError
from drayman.kube.resources import PODS, SLICES, TAINT_RULES
from drayman.testing.controllers.taint_eviction.rule_status import Counts, condition

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

NAMES = {"device-taint-eviction-controller"}
START = "2026-01-01T00:00:00Z"
CLAIM = {"gpu": {"resourceClaimName": "c"}}


@pytest.fixture
async def running(cluster: Any) -> AsyncIterator[Any]:
    async with cluster.controllers(names=NAMES):
        yield cluster


async def pod_with_device(cluster: Any, name: str = "p", **result: Any) -> Any:
    await cluster.claim("c")
    pod = await cluster.pod(name, CLAIM, nodeName="n1")
    await cluster.allocate("c", pod, **result)
    return pod


async def taint_slice(cluster: Any, effect: str = "NoExecute", generation: int = 1) -> Any:
    taint = {"key": "unhealthy", "value": "ecc", "effect": effect, "timeAdded": START}
    spec = {
        "driver": "gpu.example.com",
        "pool": {"name": "n1", "generation": generation, "resourceSliceCount": 1},
        "nodeName": "n1",
        "devices": [{"name": "gpu-0", "taints": [taint]}],
    }
    return await cluster.client.create(SLICES, {"metadata": {"name": f"s{generation}"}, "spec": spec})


async def taint_rule(cluster: Any, effect: str = "NoExecute", **selector: str) -> Any:
    taint = {"key": "unhealthy", "effect": effect, "timeAdded": START}
    spec = {"deviceSelector": selector, "taint": taint}
    return await cluster.client.create(TAINT_RULES, {"metadata": {"name": "r"}, "spec": spec})


async def is_gone(cluster: Any, pod: str) -> bool:
    """The pod was deleted; without kubelet it may still be there with its deletion time."""
    try:
        found = await cluster.get(PODS, pod)
    except APIStatusError:
        return True
    return "deletionTimestamp" in found["metadata"]


async def test_pod_on_a_tainted_device_is_evicted(running: Any) -> None:
    await pod_with_device(running)
    await taint_slice(running)
    await running.settle(1)

    assert await is_gone(running, "p")
    assert await running.events() == ["DeviceTaintManagerEviction p: Marking for deletion"]


async def test_condition_tells_why_before_the_pod_goes(running: Any) -> None:
    await running.claim("c")
    pod = await running.pod("p", CLAIM, nodeName="n1")
    await running.client.patch(PODS, "p", "default", {"metadata": {"finalizers": ["example.com/keep"]}})
    await running.allocate("c", pod)
    await taint_slice(running)
    await running.settle(1)

    [found] = [
        entry for entry in (await running.get(PODS, "p"))["status"]["conditions"] if entry["type"] == "DisruptionTarget"
    ]
    assert (found["status"], found["reason"], found["message"]) == (
        "True",
        "DeletionByDeviceTaintManager",
        "Device Taint manager: deleting due to NoExecute taint",
    )


@pytest.mark.parametrize("effect", ["NoSchedule", "None"])
async def test_other_effects_leave_pods_alone(running: Any, effect: str) -> None:
    await pod_with_device(running)
    await taint_slice(running, effect)
    await running.settle(1)

    assert not await is_gone(running, "p")


async def test_toleration_for_some_time_delays_the_eviction(running: Any) -> None:
    toleration = {"key": "unhealthy", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30}
    await pod_with_device(running, tolerations=[toleration])
    await taint_slice(running)
    await running.clock.advance(29)
    assert not await is_gone(running, "p")

    await running.clock.advance(2)
    assert await is_gone(running, "p")


async def test_eviction_is_cancelled_when_the_taint_goes(running: Any) -> None:
    toleration = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30}
    await pod_with_device(running, tolerations=[toleration])
    one = await taint_slice(running)
    await running.clock.advance(5)
    del one["spec"]["devices"][0]["taints"]
    await running.client.update(SLICES, one)
    await running.clock.advance(60)

    assert not await is_gone(running, "p")
    assert await running.events() == ["DeviceTaintManagerEviction p: Cancelling deletion"]


async def test_taint_of_an_old_generation_does_not_count(running: Any) -> None:
    await pod_with_device(running)
    spec = {
        "driver": "gpu.example.com",
        "pool": {"name": "n1", "generation": 2, "resourceSliceCount": 1},
        "nodeName": "n1",
        "devices": [{"name": "gpu-0"}],
    }
    await running.client.create(SLICES, {"metadata": {"name": "new"}, "spec": spec})
    await taint_slice(running, generation=1)
    await running.settle(1)

    assert not await is_gone(running, "p")


@pytest.mark.parametrize(("compatibility", "gone"), [("1.37", True), ("fixed", False)])
async def test_toleration_without_effect_protects_as_documented_but_not_in_1_37(
    cluster: Any, compatibility: str, gone: bool
) -> None:
    await pod_with_device(cluster, tolerations=[{"operator": "Exists"}])
    await taint_slice(cluster)
    async with cluster.controllers(names=NAMES, compatibility=compatibility):
        await cluster.settle(1)

    assert await is_gone(cluster, "p") is gone


async def test_rule_evicts_what_it_selects_and_reports(running: Any) -> None:
    await pod_with_device(running)
    await taint_rule(running, driver="gpu.example.com", device="gpu-0")
    await running.settle(60)

    assert await is_gone(running, "p")
    [found] = (await running.get(TAINT_RULES, "r"))["status"]["conditions"]
    assert (found["status"], found["reason"]) == ("False", "Completed")
    assert found["message"] == "1 pod evicted since starting the controller."


async def test_rule_for_another_device_does_nothing(running: Any) -> None:
    await pod_with_device(running)
    await taint_rule(running, driver="gpu.example.com", device="gpu-1")
    await running.settle(60)

    assert not await is_gone(running, "p")
    [found] = (await running.get(TAINT_RULES, "r"))["status"]["conditions"]
    assert found["reason"] == "NotStarted"


async def test_rule_without_effect_tells_what_it_would_do(running: Any) -> None:
    await pod_with_device(running)
    await taint_slice(running, "NoSchedule")
    await taint_rule(running, "None", driver="gpu.example.com")
    await running.settle(60)

    assert not await is_gone(running, "p")
    [found] = (await running.get(TAINT_RULES, "r"))["status"]["conditions"]
    assert found["reason"] == "NoEffect"
    assert found["message"] == (
        "1 published device selected. 1 allocated device selected. 1 pod would be evicted in 1 namespace if the "
        "effect was NoExecute. This information will not be updated again. Recreate the DeviceTaintRule to trigger "
        "an update."
    )


@pytest.mark.parametrize(
    ("effect", "counts", "reason", "message"),
    [
        ("NoExecute", Counts(1, 1), "PodsPendingEviction", "1 pod needs to be evicted in 1 namespace."),
        ("NoExecute", Counts(3, 2), "PodsPendingEviction", "3 pods need to be evicted in 2 different namespaces."),
        ("NoExecute", Counts(), "NotStarted", ""),
        ("NoExecute", Counts(evicted=2), "Completed", "2 pods evicted since starting the controller."),
        ("NoSchedule", Counts(), "OtherEffect", "Eviction only happens for the NoExecute effect."),
    ],
)
def test_condition_of_a_rule(effect: str, counts: Counts, reason: str, message: str) -> None:
    found = condition(effect, counts)
    assert (found["reason"], found["message"]) == (reason, message)
