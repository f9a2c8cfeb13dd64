from __future__ import annotations

import json
from typing import Any

import pytest

from drayman import names
from drayman.kube.resources import CLAIMS, PODS, SLICES
from drayman.testing.kubelet.plugins import PluginError

PREPARE = "FailedPrepareDynamicResources: Failed to prepare dynamic resources: prepare dynamic resources: "


@pytest.fixture
async def ready(node: Any) -> Any:
    """A node whose driver is registered."""
    await node.start_driver()
    return node


async def test_driver_is_told_that_it_is_registered(ready: Any) -> None:
    assert ready.driver.statuses == [(True, "")]


async def test_driver_is_found_and_missed_without_being_looked_for(node: Any) -> None:
    node.driver.start()
    await node.settle()
    assert node.kubelet.plugins.get("gpu.example.com").service == "v1.DRAPlugin"

    node.driver.stop()
    node.driver.registration_socket.unlink(missing_ok=True)
    await node.settle()
    with pytest.raises(PluginError) as error:
        node.kubelet.plugins.get("gpu.example.com")
    assert str(error.value) == "DRA driver gpu.example.com is not registered"


async def test_killed_driver_is_noticed_when_a_pod_needs_it_and_its_successor_taken(ready: Any) -> None:
    ready.driver.stop()
    await ready.gpu_pod("p")
    await ready.settle()
    ready.driver.start()
    await ready.settle()

    assert await ready.phase("p") == "Running"
    assert ready.driver.statuses == [(True, ""), (True, "")]


async def test_driver_with_unknown_versions_is_refused(node: Any) -> None:
    node.driver.versions = ["v9.DRAPlugin"]
    await node.start_driver()

    assert node.driver.statuses == [
        (
            False,
            "invalid supported gRPC versions of DRA driver plugin gpu.example.com at endpoint "
            f'{node.driver.endpoint}: none of services supported by the plugin (["v9.DRAPlugin"]) are supported by '
            'the kubelet (["v1.DRAPlugin" "v1beta1.DRAPlugin"])',
        )
    ]


async def test_container_gets_environment_devices_and_mounts_of_its_claim(ready: Any) -> None:
    await ready.gpu_pod("p")
    await ready.settle()

    pod = await ready.get("p")
    claim = await ready.client.get(CLAIMS, "p", "default")
    recorded = json.loads(pod["metadata"]["annotations"][names.CONTAINERS])
    cdi_id = f"example.com/gpu={claim['metadata']['uid']}"
    assert recorded["main"]["cdiDevices"] == [cdi_id]
    assert recorded["main"]["devices"] == [{"path": "/dev/gpu0"}]
    assert recorded["main"]["mounts"] == [{"hostPath": "/lib/gpu", "containerPath": "/usr/lib/gpu"}]
    assert recorded["main"]["env"]["GPU_DEVICE_0"] == "gpu-0"
    assert "GPU_DEVICE_0=gpu-0" in (await ready.log("p")).splitlines()
    assert pod["status"]["containerStatuses"][0]["allocatedResourcesStatus"] == [
        {"name": "claim:p", "resources": [{"resourceID": cdi_id, "health": "Unknown"}]}
    ]


async def test_container_that_does_not_name_the_claim_gets_nothing(ready: Any) -> None:
    other = {"name": "other", "image": "busybox", "command": ["sh", "-c", "env; sleep 9"]}
    user = {**other, "name": "main", "resources": {"claims": [{"name": "p"}]}}
    await ready.gpu_pod("p", containers=[user, other])
    await ready.settle()

    recorded = json.loads((await ready.get("p"))["metadata"]["annotations"][names.CONTAINERS])
    assert recorded["other"]["cdiDevices"] == []
    assert "GPU_DEVICE_0" not in recorded["other"]["env"]


async def test_request_of_a_container_takes_the_devices_of_that_request_only(ready: Any) -> None:
    users = [
        {
            "name": request,
            "image": "busybox",
            "command": ["sleep", "inf"],
            "resources": {"claims": [{"name": "p", "request": request}]},
        }
        for request in ("gpu", "nic")
    ]
    await ready.gpu_pod("p", containers=users)
    await ready.settle()

    recorded = json.loads((await ready.get("p"))["metadata"]["annotations"][names.CONTAINERS])
    assert (len(recorded["gpu"]["cdiDevices"]), recorded["nic"]["cdiDevices"]) == (1, [])


async def test_shared_claim_is_prepared_once_and_unprepared_after_the_last_pod(ready: Any) -> None:
    pods = [await ready.pod(name, "shared", bind=False) for name in ("p", "q")]
    await ready.claim("shared", *pods)
    for pod in pods:
        await ready.bind(pod)
    await ready.settle()
    assert ready.driver.calls == ["prepare shared"]

    await ready.client.delete(PODS, "p", "default")
    await ready.settle()
    assert ready.driver.calls == ["prepare shared"]

    await ready.client.delete(PODS, "q", "default")
    await ready.settle()
    assert ready.driver.calls == ["prepare shared", "unprepare shared"]


async def test_devices_are_released_before_the_end_of_the_pod_is_told(ready: Any) -> None:
    await ready.gpu_pod("p", script="sleep 5", restartPolicy="Never")
    await ready.settle(60)

    assert await ready.phase("p") == "Succeeded"
    assert ready.driver.calls == ["prepare p", "unprepare p"]


async def test_force_deleted_pod_is_unprepared(ready: Any) -> None:
    await ready.gpu_pod("p")
    await ready.settle()
    await ready.client.delete(PODS, "p", "default", grace_period_seconds=0)
    await ready.settle()

    assert ready.driver.calls == ["prepare p", "unprepare p"]


async def test_restarted_kubelet_does_not_prepare_for_running_pods_again(ready: Any) -> None:
    await ready.gpu_pod("p")
    await ready.settle()
    await ready.restart()
    await ready.settle()
    assert ready.driver.calls == ["prepare p"]

    await ready.client.delete(PODS, "p", "default")
    await ready.settle()
    assert ready.driver.calls == ["prepare p", "unprepare p"]


async def test_pod_that_went_while_no_kubelet_ran_is_unprepared(ready: Any) -> None:
    await ready.gpu_pod("p")
    await ready.settle()
    await ready.stop()
    await ready.client.delete(PODS, "p", "default", grace_period_seconds=0)
    await ready.restart_after_stop()
    await ready.settle()

    assert ready.driver.calls == ["prepare p", "unprepare p"]


async def test_error_of_the_driver_is_told_and_prepare_tried_again(ready: Any) -> None:
    ready.driver.errors = ["out of order"]
    await ready.gpu_pod("p")
    await ready.settle()
    assert await ready.phase("p") == "Pending"
    assert await ready.events() == [PREPARE + "NodePrepareResources failed for ResourceClaim p: out of order"]

    await ready.settle(60)
    assert await ready.phase("p") == "Running"
    assert ready.driver.calls == ["prepare p", "prepare p"]


async def test_claim_that_the_driver_leaves_out_is_an_error(ready: Any) -> None:
    ready.driver.skip = True
    await ready.gpu_pod("p")
    await ready.settle()

    assert await ready.events() == [PREPARE + "NodePrepareResources skipped 1 ResourceClaims"]


async def test_hanging_driver_is_given_up_after_45_seconds(ready: Any) -> None:
    ready.driver.hang = True
    ready.clock.patient = False
    await ready.gpu_pod("p")
    await ready.clock.advance(45)
    ready.driver.hang = False
    await ready.clock.settle(0)

    assert PREPARE + "NodePrepareResources: rpc error: code = DeadlineExceeded desc = context deadline exceeded" in (
        await ready.events()
    )


async def test_missing_driver_is_told_and_the_pod_runs_when_it_comes(node: Any) -> None:
    await node.gpu_pod("p")
    await node.settle()
    assert await node.events() == [PREPARE + "DRA driver gpu.example.com is not registered"]

    await node.start_driver()
    await node.settle()
    assert await node.phase("p") == "Running"


async def test_pod_without_reservation_may_not_use_the_claim(ready: Any) -> None:
    pod = await ready.gpu_pod("p")
    claim = await ready.reserve("p")
    await ready.settle()

    uid, claim_uid = pod["metadata"]["uid"], claim["metadata"]["uid"]
    assert await ready.events() == [PREPARE + f"pod p ({uid}) is not allowed to use ResourceClaim p ({claim_uid})"]


async def test_device_prepared_for_another_claim_is_refused(ready: Any) -> None:
    await ready.gpu_pod("p")
    await ready.gpu_pod("q")
    await ready.settle()

    assert await ready.events() == [
        PREPARE + "ResourceClaim default/q: device `gpu.example.com/n1/gpu-0` is prepared for ResourceClaim default/p"
    ]


async def test_allocation_for_another_node_is_refused(ready: Any) -> None:
    pod = await ready.pod("p", "c", bind=False)
    await ready.claim("c", pod)
    claim = await ready.client.get(CLAIMS, "c", "default")
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}
    status = claim["status"]
    claim["status"] = {}
    claim = await ready.client.update(CLAIMS, claim, subresource="status")
    claim["status"] = status
    claim["status"]["allocation"]["nodeSelector"] = {"nodeSelectorTerms": [term]}
    await ready.client.update(CLAIMS, claim, subresource="status")
    await ready.bind(pod)
    await ready.settle()

    assert await ready.events() == [PREPARE + "ResourceClaim c: its allocation is not for node `n1`"]


async def test_cdi_device_without_a_file_stops_the_container(ready: Any) -> None:
    ready.driver._write_cdi = lambda uid: None
    await ready.gpu_pod("p")
    await ready.settle()

    claim = await ready.client.get(CLAIMS, "p", "default")
    text = f"CDI device injection failed: unresolvable CDI devices example.com/gpu={claim['metadata']['uid']}"
    assert await ready.events() == [f"Failed: Error: failed to create containerd container: {text}"]


async def test_kubelet_deletes_the_slices_of_its_node_when_it_starts(node: Any) -> None:
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    for name in ("n1", "n2"):
        spec = {"driver": "gpu.example.com", "pool": pool, "nodeName": name, "devices": [{"name": "gpu-0"}]}
        await node.client.create(SLICES, {"metadata": {"name": name}, "spec": spec})
    await node.restart()

    assert [one["metadata"]["name"] for one in (await node.client.list(SLICES))[0]] == ["n2"]


async def test_slices_of_a_vanished_driver_are_deleted_after_30_seconds(ready: Any) -> None:
    spec = {
        "driver": "gpu.example.com",
        "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1},
        "nodeName": "n1",
        "devices": [{"name": "gpu-0"}],
    }
    await ready.client.create(SLICES, {"metadata": {"name": "s"}, "spec": spec})
    ready.driver.stop()
    await ready.kubelet.scan_plugins()
    await ready.clock.advance(29)
    assert len((await ready.client.list(SLICES))[0]) == 1

    await ready.clock.advance(2)
    assert (await ready.client.list(SLICES))[0] == []
