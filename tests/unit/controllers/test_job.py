from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from drayman.kube.resources import JOBS, PODS
from drayman.testing.controllers.job import indexes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

TRACKING = "batch.kubernetes.io/job-tracking"


@pytest.fixture
async def running(cluster: Any) -> AsyncIterator[Any]:
    async with cluster.controllers(names={"job-controller"}):
        yield cluster


async def create(cluster: Any, **spec: Any) -> Any:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}
    job = {"metadata": {"name": "j", "namespace": "default"}, "spec": {"template": template, **spec}}
    return await cluster.client.create(JOBS, job)


async def end(cluster: Any, count: int, phase: str = "Succeeded") -> None:
    """Let `count` of the running pods end."""
    running = [pod for pod in await cluster.list(PODS) if pod["status"].get("phase", "Pending") == "Pending"]
    for pod in running[:count]:
        await cluster.phase(pod["metadata"]["name"], phase)
    await cluster.settle(1)


async def status(cluster: Any) -> Any:
    return (await cluster.get(JOBS, "j"))["status"]


async def condition_reasons(cluster: Any) -> dict[str, str]:
    return {entry["type"]: entry["reason"] for entry in (await status(cluster)).get("conditions", ())}


async def test_pods_are_owned_tracked_and_limited_by_parallelism(running: Any) -> None:
    job = await create(running, completions=5, parallelism=2)
    await running.settle(1)

    pods = await running.list(PODS)
    assert len(pods) == 2
    for pod in pods:
        assert pod["metadata"]["name"].startswith("j-")
        assert pod["metadata"]["finalizers"] == [TRACKING]
        assert pod["metadata"]["labels"]["batch.kubernetes.io/job-name"] == "j"
        assert pod["metadata"]["ownerReferences"][0]["uid"] == job["metadata"]["uid"]
    assert (await status(running))["active"] == 2


async def test_completions_are_counted_and_end_the_job(running: Any) -> None:
    await create(running, completions=5, parallelism=2)
    await running.settle(1)
    for _ in range(3):
        await end(running, 2)

    found = await status(running)
    assert (found["succeeded"], found.get("failed", 0), found.get("active", 0)) == (5, 0, 0)
    assert found["completionTime"]
    assert await condition_reasons(running) == {
        "SuccessCriteriaMet": "CompletionsReached",
        "Complete": "CompletionsReached",
    }
    pods = await running.list(PODS)
    assert len(pods) == 5
    assert all("finalizers" not in pod["metadata"] for pod in pods)


async def test_pod_that_fails_is_replaced_after_ten_seconds(running: Any) -> None:
    await create(running)
    await running.settle(1)
    await end(running, 1, "Failed")
    assert len(await running.list(PODS)) == 1

    await running.settle(20)
    assert len(await running.list(PODS)) == 2
    assert (await status(running))["failed"] == 1


async def test_more_failures_than_the_backoff_limit_fail_the_job(running: Any) -> None:
    await create(running, backoffLimit=0, parallelism=2, completions=2)
    await running.settle(1)
    await end(running, 1, "Failed")

    assert await condition_reasons(running) == {
        "FailureTarget": "BackoffLimitExceeded",
        "Failed": "BackoffLimitExceeded",
    }
    [failed] = [entry for entry in (await status(running))["conditions"] if entry["type"] == "Failed"]
    assert failed["message"] == "Job has reached the specified backoff limit"
    assert "BackoffLimitExceeded j: Job has reached the specified backoff limit" in await running.events()


async def test_deadline_fails_a_job_that_still_runs(running: Any) -> None:
    await create(running, activeDeadlineSeconds=20)
    await running.settle(30)

    assert await condition_reasons(running) == {"FailureTarget": "DeadlineExceeded", "Failed": "DeadlineExceeded"}
    assert await running.list(PODS) == []


async def test_counts_are_right_after_the_controller_was_restarted(cluster: Any) -> None:
    await create(cluster, completions=4, parallelism=2)
    async with cluster.controllers(names={"job-controller"}):
        await cluster.settle(1)
    await end(cluster, 2)
    async with cluster.controllers(names={"job-controller"}):
        await cluster.settle(1)
        await end(cluster, 2)

    assert (await status(cluster))["succeeded"] == 4
    assert len(await cluster.list(PODS)) == 4


async def test_indexed_job_gives_every_index_once(running: Any) -> None:
    await create(running, completions=3, parallelism=2, completionMode="Indexed")
    await running.settle(1)
    await end(running, 2)
    await end(running, 1)

    pods = await running.list(PODS)
    found = [pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"] for pod in pods]
    assert found == ["0", "1", "2"]
    assert (await status(running))["completedIndexes"] == "0-2"
    assert pods[0]["spec"]["hostname"] == "j-0"


async def test_suspended_job_has_no_pods_and_goes_on_when_resumed(running: Any) -> None:
    await create(running, suspend=True)
    await running.settle(1)
    assert await running.list(PODS) == []
    assert await condition_reasons(running) == {"Suspended": "JobSuspended"}

    await running.client.patch(JOBS, "j", "default", {"spec": {"suspend": False}})
    await running.settle(1)
    assert len(await running.list(PODS)) == 1
    assert await condition_reasons(running) == {"Suspended": "JobResumed"}


async def test_finished_job_is_deleted_after_its_time_to_live(running: Any) -> None:
    await create(running, ttlSecondsAfterFinished=30)
    await running.settle(1)
    await end(running, 1)
    assert await running.names(JOBS) == ["j"]

    await running.settle(60)
    assert await running.names(JOBS) == []


async def test_pods_of_a_deleted_job_go(running: Any) -> None:
    await create(running, completions=2, parallelism=2)
    await running.settle(1)
    await running.client.delete(JOBS, "j", "default", propagation_policy="Background")
    await running.settle(1)

    assert await running.list(PODS) == []


@pytest.mark.parametrize(
    ("text", "parsed"), [("", set()), ("1", {1}), ("1,3-5,7,8", {1, 3, 4, 5, 7, 8}), ("0-2", {0, 1, 2})]
)
def test_indexes_are_printed_as_they_are_read(text: str, parsed: set[int]) -> None:
    assert indexes.parse(text) == parsed
    assert indexes.render(parsed) == text
