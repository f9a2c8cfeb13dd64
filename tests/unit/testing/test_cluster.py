from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import drayman.scheduler
from drayman.errors import APIStatusError, InputError
from drayman.testing import AsyncFakeCluster, FakeCluster

GPU = "gpu.example.com"
WORKLOAD = f"""
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{name: one-gpu, namespace: team-a}}
spec: {{spec: {{devices: {{requests: [{{name: gpu, exactly: {{deviceClassName: {GPU}}}}}]}}}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: p, namespace: team-a}}
spec:
  restartPolicy: Never
  containers: [{{name: c, image: i, command: [sh, -c, "env; sleep 30"], resources: {{claims: [{{name: gpu}}]}}}}]
  resourceClaims: [{{name: gpu, resourceClaimTemplateName: one-gpu}}]
"""


@pytest.fixture
def workload(tmp_path: Path) -> str:
    path = tmp_path / "input.yaml"
    path.write_text(WORKLOAD)
    return str(path)


def pod(name: str, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "c", "image": "i"}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers, **spec}}


def test_cluster_of_the_documentation_runs_a_pod(workload: str) -> None:
    with FakeCluster(kubernetes_version="1.37", feature_gates={}, scheduler=True, nodes=1) as cluster:
        cluster.apply(workload)
        cluster.settle(20)
        assert cluster.get("Pod", "team-a/p")["status"]["phase"] == "Running"
        assert cluster.state()["pods"]["team-a/p"]["claims"]["gpu"]["devices"] == [
            {"device": f"{GPU}/node-1/gpu-0", "request": "gpu"}
        ]
        assert "GPU_DEVICE_0=gpu-0" in cluster.logs("team-a/p").splitlines()
        assert [event["reason"] for event in cluster.events()] == ["Scheduled"]
        cluster.delete("Pod", "team-a/p")
        cluster.settle()
        assert cluster.list("pods", "team-a") == []
        assert cluster.state()["pods"] == {"team-a/p": {"deleted": True, "firstVerdictMs": 0}}


def test_pod_ends_when_its_time_has_passed(workload: str) -> None:
    with FakeCluster(nodes=1) as cluster:
        cluster.apply(workload)
        cluster.settle(20)
        cluster.advance(30)
        assert cluster.get("pod", "team-a/p")["status"]["phase"] == "Succeeded"


def test_waiting_stops_as_soon_as_the_condition_holds(workload: str) -> None:
    with FakeCluster(nodes=1) as cluster:
        cluster.apply(workload)
        cluster.wait_for(lambda: cluster.get("Pod", "team-a/p")["status"]["phase"] == "Succeeded")
        running = cluster.get("Pod", "team-a/p")["status"]["containerStatuses"][0]["state"]["terminated"]
        assert (running["startedAt"], running["finishedAt"]) == ("2026-01-01T00:00:00Z", "2026-01-01T00:00:30Z")


def test_waiting_for_what_does_not_come_is_an_error() -> None:
    with FakeCluster() as cluster, pytest.raises(TimeoutError) as caught:
        cluster.wait_for(lambda: False, 5)
    assert str(caught.value) == "the condition did not come true within 5 s of virtual time"


def test_refusal_of_the_server_is_raised_with_its_status() -> None:
    with FakeCluster() as cluster:
        with pytest.raises(APIStatusError) as caught:
            cluster.apply(pod("p", resourceClaims=[{"name": "gpu"}]))
        assert caught.value.reason == "Invalid"
        assert str(caught.value) == (
            'Pod "p" is invalid: spec.resourceClaims[0]: Invalid value: '
            '{"Name":"gpu","ResourceClaimName":null,"ResourceClaimTemplateName":null}: '
            "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
        )
        with pytest.raises(APIStatusError) as missing:
            cluster.get("Pod", "p")
        assert (missing.value.code, str(missing.value)) == (404, 'pods "p" not found')


def test_object_without_kind_is_refused_before_the_server_sees_it() -> None:
    with FakeCluster() as cluster, pytest.raises(InputError) as caught:
        cluster.apply({"apiVersion": "v1", "metadata": {"name": "x"}})
    assert str(caught.value) == "x: kind: not set"


def test_lists_and_nested_lists_are_applied_in_order() -> None:
    with FakeCluster() as cluster:
        applied = cluster.apply([pod("a"), [pod("b")]], {"apiVersion": "v1", "kind": "List", "items": [pod("c")]})
        assert [obj["metadata"]["name"] for obj in applied] == ["a", "b", "c"]


def test_object_that_exists_is_updated() -> None:
    with FakeCluster() as cluster:
        cluster.apply(pod("p"))
        labelled = {**pod("p"), "metadata": {"name": "p", "labels": {"a": "b"}}}
        cluster.apply(labelled)
        assert cluster.get("Pod", "p")["metadata"]["labels"] == {"a": "b"}


def test_without_scheduler_pods_stay_without_verdict() -> None:
    with FakeCluster(scheduler=False) as cluster:
        cluster.apply(pod("p"))
        cluster.settle()
        assert cluster.state()["pods"] == {"default/p": {"phase": "Pending"}}


def test_feature_gates_decide_what_the_server_keeps() -> None:
    request = {"name": "r", "exactly": {"deviceClassName": "c", "capacity": {"requests": {"memory": "1Gi"}}}}
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "c"},
        "spec": {"devices": {"requests": [request]}},
    }
    with FakeCluster(feature_gates={"DRAConsumableCapacity": False, "DRAFractionalCapacityRange": False}) as cluster:
        (stored,) = cluster.apply(claim)
    assert "capacity" not in stored["spec"]["devices"]["requests"][0]["exactly"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kubernetes_version": "1.2"}, "Kubernetes version `1.2` is not known; known are 1.34, 1.35, 1.36, 1.37"),
        ({"feature_gates": {"Nope": True}}, "unrecognized feature gate: Nope"),
        ({"compatibility": "1.36"}, "compatibility `1.36` is not known; known are `1.37`, `fixed`"),
        ({"driver": "x"}, "the catalogue has no hardware for driver `x`"),
        ({"devices": -1}, "-1 devices: between 0 and 10000 are possible"),
        ({"devices": 10001}, "10001 devices: between 0 and 10000 are possible"),
        ({"nodes": -1}, "-1 nodes: between 0 and 5000 are possible"),
    ],
)
def test_cluster_that_cannot_be_is_refused_before_it_starts(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        FakeCluster(**options)
    assert str(caught.value) == message


def test_two_runs_give_the_same_objects(workload: str) -> None:
    def run() -> Any:
        with FakeCluster(nodes=2) as cluster:
            cluster.apply(workload)
            cluster.settle()
            return [cluster.list(kind) for kind in ("pods", "resourceclaims", "resourceslices", "nodes")]

    assert run() == run()


def test_two_clusters_at_once_know_nothing_of_each_other() -> None:
    with FakeCluster() as one, FakeCluster() as other:
        one.apply(pod("p"))
        assert (len(one.list("pods")), len(other.list("pods"))) == (1, 0)


class Failing:
    """A part that fails once it is told to."""

    def __init__(self) -> None:
        self.after_seconds = 100.0

    async def run(self, _client: Any, _configuration: Any, clock: Any, **_: Any) -> None:
        await clock.sleep(self.after_seconds)
        raise KeyError("a bug")


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Failing:
    part = Failing()
    monkeypatch.setattr(drayman.scheduler, "run", part.run)
    return part


@pytest.mark.usefixtures("failing")
def test_part_that_fails_ends_the_call_in_progress_and_all_later_ones() -> None:
    with pytest.raises(KeyError), FakeCluster() as cluster:  # noqa: PT012 - leaving the block raises it too
        with pytest.raises(KeyError, match="a bug") as caught:
            cluster.advance(200)
        assert caught.value.__notes__ == ["in part `scheduler` of the fake cluster"]
        with pytest.raises(KeyError, match="a bug"):
            cluster.list("pods")


def test_part_that_fails_at_once_keeps_the_cluster_from_starting(failing: Failing) -> None:
    failing.after_seconds = 0
    with pytest.raises(KeyError, match="a bug"):
        FakeCluster().__enter__()


async def test_coroutines_use_the_cluster_on_their_own_loop(workload: str) -> None:
    async with FakeCluster(nodes=1) as cluster:
        assert isinstance(cluster, AsyncFakeCluster)
        await cluster.apply(workload)
        await cluster.settle(20)

        async def has_ended() -> bool:
            return bool((await cluster.get("Pod", "team-a/p"))["status"]["phase"] == "Succeeded")

        assert not await has_ended()
        await cluster.wait_for(has_ended)
        assert "GPU_DEVICE_0=gpu-0" in (await cluster.logs("team-a/p")).splitlines()
        assert [event["reason"] for event in await cluster.events()] == ["Scheduled"]
        assert (await cluster.state())["pods"]["team-a/p"]["phase"] == "Succeeded"
        await cluster.delete("Pod", "team-a/p")
        await cluster.advance(1)
        assert await cluster.list("pods") == []


async def test_coroutines_use_two_clusters_at_once() -> None:
    async with FakeCluster() as one, FakeCluster() as other:
        await asyncio.gather(one.apply(pod("a")), other.apply(pod("b")))
        assert [obj["metadata"]["name"] for obj in await one.list("pods")] == ["a"]


async def test_waiting_coroutine_is_told_when_the_condition_does_not_hold() -> None:
    async with FakeCluster() as cluster:
        with pytest.raises(TimeoutError, match="within 5 s of virtual time"):
            await cluster.wait_for(lambda: False, 5)


def test_fixture_is_a_cluster_with_two_nodes(fake_cluster: FakeCluster) -> None:
    assert [node["metadata"]["name"] for node in fake_cluster.list("nodes")] == ["node-1", "node-2"]
    slices = fake_cluster.list("resourceslices")
    assert [len(one["spec"]["devices"]) for one in slices] == [8, 8]
