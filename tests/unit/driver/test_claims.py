"""Claims prepared and unprepared over gRPC, and the CDI files that come of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from google.protobuf import json_format

from drayman.driver import Fault
from drayman.driver.proto import dra_v1_pb2
from drayman.errors import InputError
from drayman.kube.resources import CLAIMS

if TYPE_CHECKING:
    from typing import Any

    from tests.unit.driver.conftest import DriverNode

PARTITIONED = {
    "apiVersion": "gpu.resource.example.com/v1alpha1",
    "kind": "GpuConfig",
    "sharing": {"strategy": "SpacePartitioning", "spacePartitioningConfig": {"partitionCount": 10}},
}


def as_dict(message: Any) -> Any:
    return json_format.MessageToDict(message, preserving_proto_field_name=True)


async def test_prepared_claim_is_answered_and_has_a_cdi_file(node: DriverNode) -> None:
    claim = await node.claim("training", "gpu-3", "gpu-5")
    uid = claim["metadata"]["uid"]
    async with node.running():
        answer = await node.prepare(claim)

    assert as_dict(answer[uid]) == {
        "devices": [
            {
                "request_names": ["gpu"],
                "pool_name": "worker-1",
                "device_name": "gpu-3",
                "cdi_device_ids": ["k8s.gpu.example.com/gpu=common", f"k8s.gpu.example.com/gpu={uid}-gpu-3"],
            },
            {
                "request_names": ["gpu"],
                "pool_name": "worker-1",
                "device_name": "gpu-5",
                "cdi_device_ids": ["k8s.gpu.example.com/gpu=common", f"k8s.gpu.example.com/gpu={uid}-gpu-5"],
            },
        ]
    }
    assert node.cdi_spec(claim) == {
        "cdiVersion": "0.5.0" if uid[0].isdigit() else "0.3.0",
        "kind": "k8s.gpu.example.com/gpu",
        "devices": [
            {
                "name": f"{uid}-gpu-3",
                "containerEdits": {
                    "env": [
                        f"GPU_DEVICE_GPU_3_RESOURCE_CLAIM={uid}",
                        "DRA_ADMIN_ACCESS=false",
                        "GPU_DEVICE_3=gpu-3",
                        "GPU_DEVICE_3_SHARING_STRATEGY=TimeSlicing",
                        "GPU_DEVICE_3_TIMESLICE_INTERVAL=Default",
                    ]
                },
            },
            {
                "name": f"{uid}-gpu-5",
                "containerEdits": {
                    "env": [
                        f"GPU_DEVICE_GPU_5_RESOURCE_CLAIM={uid}",
                        "DRA_ADMIN_ACCESS=false",
                        "GPU_DEVICE_5=gpu-5",
                        "GPU_DEVICE_5_SHARING_STRATEGY=TimeSlicing",
                        "GPU_DEVICE_5_TIMESLICE_INTERVAL=Default",
                    ]
                },
            },
        ],
        "containerEdits": {},
    }


async def test_common_cdi_file_names_node_and_driver(node: DriverNode) -> None:
    async with node.running():
        assert json.loads((node.cdi / "k8s.gpu.example.com-gpu_common.json").read_text()) == {
            "cdiVersion": "0.3.0",
            "kind": "k8s.gpu.example.com/gpu",
            "devices": [
                {
                    "name": "common",
                    "containerEdits": {
                        "env": ["KUBERNETES_NODE_NAME=worker-1", "DRA_RESOURCE_DRIVER_NAME=gpu.example.com"]
                    },
                }
            ],
            "containerEdits": {},
        }


async def test_subrequest_is_reported_by_its_request(node: DriverNode) -> None:
    claim = await node.claim("any", {"request": "gpu/older", "device": "gpu-0"})
    async with node.running():
        answer = await node.prepare(claim)

    assert list(answer[claim["metadata"]["uid"]].devices[0].request_names) == ["gpu"]


async def test_configuration_reaches_the_environment(node: DriverNode) -> None:
    entry = {
        "source": "FromClaim",
        "requests": ["gpu"],
        "opaque": {"driver": "gpu.example.com", "parameters": PARTITIONED},
    }
    claim = await node.claim("parts", {"request": "gpu/older", "device": "gpu-0"}, config=[entry])
    async with node.running():
        await node.prepare(claim)

    env = node.cdi_spec(claim)["devices"][0]["containerEdits"]["env"]
    assert env[-2:] == ["GPU_DEVICE_0_SHARING_STRATEGY=SpacePartitioning", "GPU_DEVICE_0_PARTITION_COUNT=10"]


async def test_preparing_again_changes_nothing(node: DriverNode) -> None:
    claim = await node.claim("training", "gpu-0")
    async with node.running():
        first = await node.prepare(claim)
        spec = node.cdi_spec(claim)
        second = await node.prepare(claim)

    assert as_dict(second[claim["metadata"]["uid"]]) == as_dict(first[claim["metadata"]["uid"]])
    assert node.cdi_spec(claim) == spec


async def test_unprepared_claim_leaves_no_file_and_frees_the_device(node: DriverNode) -> None:
    first, second = await node.claim("first", "gpu-0"), await node.claim("second", "gpu-0")
    async with node.running():
        await node.prepare(first)
        answer = await node.unprepare(first)
        assert as_dict(answer[first["metadata"]["uid"]]) == {}
        assert node.cdi_spec(first) is None

        answer = await node.prepare(second)
        assert answer[second["metadata"]["uid"]].error == ""


async def test_claim_that_was_never_prepared_can_be_unprepared(node: DriverNode) -> None:
    claim = await node.claim("training", "gpu-0")
    async with node.running():
        answer = await node.unprepare(claim)

    assert as_dict(answer[claim["metadata"]["uid"]]) == {}


async def test_device_of_another_prepared_claim_is_refused(node: DriverNode) -> None:
    first, second = await node.claim("first", "gpu-0"), await node.claim("second", "gpu-0")
    async with node.running():
        answer = await node.prepare(first, second)

    uid = second["metadata"]["uid"]
    assert answer[first["metadata"]["uid"]].error == ""
    assert answer[uid].error == (
        f"error preparing devices for claim {uid}: device gpu-0 is already prepared for claim "
        f"team-a/first ({first['metadata']['uid']})"
    )
    assert node.cdi_spec(second) is None


async def test_device_that_is_not_published_is_refused(node: DriverNode) -> None:
    claim = await node.claim("training", "gpu-8")
    async with node.running(devices=8):
        answer = await node.prepare(claim)

    uid = claim["metadata"]["uid"]
    assert answer[uid].error == (f"error preparing devices for claim {uid}: requested device is not allocatable: gpu-8")


async def test_results_of_other_drivers_are_left_to_them(node: DriverNode) -> None:
    claim = await node.claim("mixed", {"driver": "net.example.com", "device": "nic-0"}, "gpu-1")
    async with node.running():
        answer = await node.prepare(claim)

    assert [device.device_name for device in answer[claim["metadata"]["uid"]].devices] == ["gpu-1"]


@pytest.mark.parametrize("uid", ["../../etc/passwd", "a/b", "", ".."])
async def test_uid_that_is_a_path_is_refused(node: DriverNode, uid: str) -> None:
    async with node.running():
        answer = await node.unprepare({"metadata": {"namespace": "team-a", "name": "evil", "uid": uid}})

    assert answer[uid].error == (
        f"error unpreparing devices for claim {uid}: claim UID `{uid}` cannot be part of a file name"
    )


async def test_missing_claim_fails_the_call(node: DriverNode) -> None:
    async with node.running():
        with pytest.raises(Exception, match="retrieve claim team-a/gone") as caught:
            await node.prepare({"metadata": {"namespace": "team-a", "name": "gone", "uid": "1"}})

    assert caught.value.details() == (
        'get resource claims: retrieve claim team-a/gone: resourceclaims.resource.k8s.io "gone" not found'
    )


async def test_claim_without_allocation_fails_the_call(node: DriverNode) -> None:
    claim = await node.claim("pending")
    async with node.running():
        with pytest.raises(Exception, match="not allocated") as caught:
            await node.prepare(claim)

    assert caught.value.details() == "get resource claims: claim team-a/pending not allocated"


async def test_replaced_claim_fails_the_call(node: DriverNode) -> None:
    claim = await node.claim("training", "gpu-0")
    async with node.running():
        with pytest.raises(Exception, match="got replaced") as caught:
            await node.prepare({"metadata": {**claim["metadata"], "uid": "other"}})

    assert caught.value.details() == "get resource claims: claim team-a/training got replaced"


async def test_restarted_driver_writes_lost_cdi_files_again(node: DriverNode) -> None:
    claim = await node.claim("training", "gpu-0")
    async with node.running():
        before = await node.prepare(claim)
        spec = node.cdi_spec(claim)
    for path in node.cdi.iterdir():
        path.unlink()

    async with node.running():
        assert node.cdi_spec(claim) == spec
        after = await node.prepare(claim)

    assert as_dict(after[claim["metadata"]["uid"]]) == as_dict(before[claim["metadata"]["uid"]])


async def test_replay_writes_a_lost_cdi_file_again(node: DriverNode) -> None:
    claim = await node.claim("training", "gpu-0")
    async with node.running():
        await node.prepare(claim)
        spec = node.cdi_spec(claim)
        (node.cdi / f"k8s.gpu.example.com-gpu_{claim['metadata']['uid']}.json").unlink()
        await node.prepare(claim)

    assert node.cdi_spec(claim) == spec


async def test_restarted_driver_unprepares_what_it_finds(node: DriverNode) -> None:
    claim = await node.claim("training", "gpu-0")
    async with node.running():
        await node.prepare(claim)
    await node.client.delete(CLAIMS, "training", "team-a")
    async with node.running():
        answer = await node.unprepare(claim)

    assert as_dict(answer[claim["metadata"]["uid"]]) == {}
    assert node.cdi_spec(claim) is None
    assert json.loads(node.checkpoint.read_text())["preparedClaims"] == []


async def test_checkpoint_that_is_none_stops_the_driver(node: DriverNode) -> None:
    node.checkpoint.parent.mkdir(parents=True)
    node.checkpoint.write_text("{")
    with pytest.raises(InputError) as caught:
        node.driver()

    assert str(caught.value) == (
        f"{node.checkpoint}: not a checkpoint of this driver: "
        "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"
    )


async def test_failing_driver_fails_as_often_as_told(node: DriverNode) -> None:
    claim = await node.claim("training", "gpu-0")
    uid = claim["metadata"]["uid"]
    async with node.running() as driver:
        driver.faults.add(Fault(error="the GPU has fallen off the bus", times=1))

        assert (await node.prepare(claim))[uid].error == "the GPU has fallen off the bus"
        assert (await node.prepare(claim))[uid].error == ""


async def test_claim_can_be_missing_in_the_reply(node: DriverNode) -> None:
    first, second = await node.claim("first", "gpu-0"), await node.claim("second", "gpu-1")
    async with node.running() as driver:
        driver.faults.add(Fault(claim="team-a/first", omit=True))

        assert list(await node.prepare(first, second)) == [second["metadata"]["uid"]]


async def test_slow_driver_takes_its_time(node: DriverNode) -> None:
    claim = await node.claim("training", "gpu-0")
    async with node.running() as driver:
        driver.faults.add(Fault("unprepare", delay=20))
        await node.prepare(claim)
        before = node.clock.monotonic()
        await node.unprepare(claim)

    assert node.clock.monotonic() - before == 20


def test_wire_format_has_upstreams_field_numbers() -> None:
    message = dra_v1_pb2.Device(request_names=["r"], pool_name="p", device_name="d", cdi_device_ids=["c"], share_id="s")
    assert message.SerializeToString() == b"\n\x01r\x12\x01p\x1a\x01d\x22\x01c*\x01s"
