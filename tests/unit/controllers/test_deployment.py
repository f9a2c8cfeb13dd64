from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from drayman.kube.resources import DEPLOYMENTS, PODS, REPLICASETS
from drayman.testing.controllers.deployment.rollout import Limits, scale

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def running(cluster: Any) -> AsyncIterator[Any]:
    async with cluster.controllers(names={"deployment-controller", "replicaset-controller"}):
        yield cluster


def template(image: str = "busybox:1") -> dict[str, Any]:
    return {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "main", "image": image}]}}


async def create(cluster: Any, **spec: Any) -> Any:
    selector = {"matchLabels": {"app": "a"}}
    deployment = {
        "metadata": {"name": "d", "namespace": "default"},
        "spec": {"replicas": 2, "selector": selector, "template": template(), **spec},
    }
    return await cluster.client.create(DEPLOYMENTS, deployment)


async def make_ready(cluster: Any) -> None:
    """Let all pods run, as their kubelets would, until nothing changes any more."""
    while True:
        await cluster.settle(1)
        waiting = [pod for pod in await cluster.list(PODS) if pod["status"].get("phase", "Pending") == "Pending"]
        if not waiting:
            return
        for pod in waiting:
            ready = {"type": "Ready", "status": "True"}
            status = {"phase": "Running", "conditions": [ready]}
            await cluster.client.patch(
                PODS, pod["metadata"]["name"], "default", {"status": status}, subresource="status"
            )


async def images(cluster: Any) -> list[str]:
    return [pod["spec"]["containers"][0]["image"] for pod in await cluster.list(PODS)]


async def test_deployment_has_one_replicaset_with_its_pods(running: Any) -> None:
    await create(running)
    await make_ready(running)

    [replica_set] = await running.list(REPLICASETS)
    digest = replica_set["metadata"]["labels"]["pod-template-hash"]
    assert replica_set["metadata"]["name"] == f"d-{digest}"
    pods = await running.list(PODS)
    assert len(pods) == 2
    assert all(pod["metadata"]["labels"] == {"app": "a", "pod-template-hash": digest} for pod in pods)
    status = (await running.get(DEPLOYMENTS, "d"))["status"]
    assert (status["replicas"], status["availableReplicas"]) == (2, 2)
    assert {entry["type"]: entry["reason"] for entry in status["conditions"]} == {
        "Available": "MinimumReplicasAvailable",
        "Progressing": "NewReplicaSetAvailable",
    }


@pytest.mark.parametrize("replicas", [0, 1, 4])
async def test_scaling_starts_and_stops_pods(running: Any, replicas: int) -> None:
    await create(running)
    await make_ready(running)
    await running.client.patch(DEPLOYMENTS, "d", "default", {"spec": {"replicas": replicas}})
    await make_ready(running)

    assert len(await running.list(PODS)) == replicas


@pytest.mark.parametrize("strategy", ["RollingUpdate", "Recreate"])
async def test_new_template_replaces_all_pods(running: Any, strategy: str) -> None:
    await create(running, strategy={"type": strategy})
    await make_ready(running)
    await running.client.patch(DEPLOYMENTS, "d", "default", {"spec": {"template": template("busybox:2")}})
    for _ in range(4):
        await make_ready(running)

    assert await images(running) == ["busybox:2", "busybox:2"]
    replicas = {
        one["spec"]["template"]["spec"]["containers"][0]["image"]: one["spec"]["replicas"]
        for one in await running.list(REPLICASETS)
    }
    assert replicas == {"busybox:1": 0, "busybox:2": 2}


async def test_deleted_pod_is_replaced(running: Any) -> None:
    await create(running)
    await make_ready(running)
    [first, _] = await running.names(PODS)
    await running.client.delete(PODS, first, "default")
    await make_ready(running)

    names = await running.names(PODS)
    assert len(names) == 2
    assert first not in names


def test_rolling_update_keeps_enough_pods_available() -> None:
    def replica_set(name: str, replicas: int, available: int) -> Any:
        return {"metadata": {"name": name}, "spec": {"replicas": replicas}, "status": {"availableReplicas": available}}

    limits = Limits(surge=1, unavailable=0)
    assert scale(4, limits, replica_set("new", 0, 0), [replica_set("old", 4, 4)], recreate=False) == {
        "new": 1,
        "old": 4,
    }
    assert scale(4, limits, replica_set("new", 1, 0), [replica_set("old", 4, 4)], recreate=False) == {
        "new": 1,
        "old": 4,
    }
    assert scale(4, limits, replica_set("new", 1, 1), [replica_set("old", 4, 4)], recreate=False) == {
        "new": 1,
        "old": 3,
    }
