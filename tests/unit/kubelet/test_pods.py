from __future__ import annotations

from typing import Any

import pytest

from drayman.errors import APIStatusError, InputError
from drayman.kube.resources import NODES, PODS
from drayman.testing.kubelet import Kubelet


async def test_node_is_registered_as_ready(node: Any) -> None:
    registered = await node.client.get(NODES, "n1")
    assert registered["metadata"]["labels"]["kubernetes.io/hostname"] == "n1"
    assert registered["status"]["allocatable"] == {"cpu": "16", "memory": "64Gi", "pods": "110"}
    ready = [entry["status"] for entry in registered["status"]["conditions"] if entry["type"] == "Ready"]
    assert ready == ["True"]


async def test_pod_runs_and_is_ready(node: Any) -> None:
    await node.pod("p")
    await node.settle()

    status = (await node.get("p"))["status"]
    assert status["phase"] == "Running"
    assert {entry["type"]: entry["status"] for entry in status["conditions"]} == {
        "PodReadyToStartContainers": "True",
        "Initialized": "True",
        "Ready": "True",
        "ContainersReady": "True",
    }
    [container] = status["containerStatuses"]
    assert (container["ready"], container["started"], container["restartCount"]) == (True, True, 0)
    assert container["state"] == {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
    assert container["imageID"].startswith("docker.io/drayman/testbox:1@sha256:")
    assert status["podIP"].startswith("10.")


@pytest.mark.parametrize(
    ("script", "phase", "seconds"),
    [("sleep 5", "Succeeded", 5), ("sleep 5; exit 3", "Failed", 5), ("env", "Succeeded", 1)],
)
async def test_pod_that_never_restarts_ends_as_its_script_says(
    node: Any, script: str, phase: str, seconds: int
) -> None:
    await node.pod("p", script=script, restartPolicy="Never")
    await node.settle(60)

    assert await node.phase("p") == phase
    assert node.clock.monotonic() == seconds


async def test_container_that_always_restarts_backs_off(node: Any) -> None:
    await node.pod("p", script="sleep 5")
    await node.clock.advance(6)
    [container] = (await node.get("p"))["status"]["containerStatuses"]
    assert container["restartCount"] == 1
    assert container["state"]["waiting"]["reason"] == "CrashLoopBackOff"

    await node.clock.advance(10)
    [container] = (await node.get("p"))["status"]["containerStatuses"]
    assert "running" in container["state"]
    assert container["lastState"]["terminated"]["reason"] == "Completed"


async def test_init_containers_run_in_order_before_the_others(node: Any) -> None:
    image = "docker.io/drayman/testbox:1"
    inits = [{"name": name, "image": image, "command": ["sh", "-c", "sleep 2"]} for name in ("first", "second")]
    await node.pod("p", initContainers=inits)
    await node.clock.advance(1)
    status = (await node.get("p"))["status"]
    assert status["phase"] == "Pending"
    assert ["running" in entry["state"] for entry in status["initContainerStatuses"]] == [True, False]

    await node.settle(10)
    assert await node.phase("p") == "Running"
    assert node.clock.monotonic() == 4


async def test_sidecar_runs_beside_and_ends_with_its_pod(node: Any) -> None:
    image = "docker.io/drayman/testbox:1"
    sidecar = {"name": "side", "image": image, "restartPolicy": "Always", "command": ["sh", "-c", "sleep inf"]}
    await node.pod("p", script="sleep 5", restartPolicy="Never", initContainers=[sidecar])
    await node.settle(60)

    status = (await node.get("p"))["status"]
    assert status["phase"] == "Succeeded"
    assert status["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 0


async def test_failed_init_container_fails_a_pod_that_never_restarts(node: Any) -> None:
    init = {"name": "init", "image": "busybox", "command": ["sh", "-c", "exit 1"]}
    await node.pod("p", restartPolicy="Never", initContainers=[init])
    await node.settle(60)

    assert await node.phase("p") == "Failed"


async def test_log_is_what_the_script_prints(node: Any) -> None:
    env = [
        {"name": "GREETING", "value": "hello"},
        {"name": "ME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
    ]
    container = {"name": "main", "image": "busybox", "command": ["sh", "-c", "echo $GREETING, $ME; env; sleep 9"]}
    await node.pod("p", containers=[{**container, "env": env}])
    await node.settle()

    assert (await node.log("p")).splitlines() == [
        "hello, p",
        "GREETING=hello",
        "HOME=/root",
        "HOSTNAME=p",
        "ME=p",
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    ]


async def test_variable_from_a_source_that_is_not_there_is_told(node: Any) -> None:
    source = {"secretKeyRef": {"name": "s", "key": "k"}}
    container = {"name": "main", "image": "busybox", "env": [{"name": "X", "valueFrom": source}]}
    await node.pod("p", containers=[container])
    await node.settle()

    [status] = (await node.get("p"))["status"]["containerStatuses"]
    assert status["state"]["waiting"] == {
        "reason": "CreateContainerConfigError",
        "message": "env `X`: `secretKeyRef` is not supported by the fake kubelet",
    }


async def test_deleted_pod_stops_and_goes(node: Any) -> None:
    await node.pod("p")
    await node.settle()
    await node.client.delete(PODS, "p", "default")
    await node.settle()

    with pytest.raises(APIStatusError) as refusal:
        await node.get("p")
    assert refusal.value.reason == "NotFound"


async def test_restarted_kubelet_leaves_running_pods_their_time(node: Any) -> None:
    await node.pod("p", script="sleep 30", restartPolicy="Never")
    await node.clock.advance(10)
    await node.restart()
    await node.settle(60)

    assert await node.phase("p") == "Succeeded"
    assert node.clock.monotonic() == 30


async def test_root_that_is_too_long_for_sockets_is_refused(node: Any) -> None:
    root = node.root / ("x" * 60)
    with pytest.raises(InputError) as refusal:
        Kubelet(node.client, node.clock, "n2", root, cdi_dirs=[])
    assert str(refusal.value) == f"directory `{root}` is too long: paths of sockets in it would exceed 107 bytes"
