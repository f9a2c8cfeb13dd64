"""ResourceSlices as the driver publishes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.kube.resources import NODES, SLICES

if TYPE_CHECKING:
    from tests.unit.driver.conftest import DriverNode


async def test_one_slice_describes_the_node(node: DriverNode) -> None:
    async with node.running(devices=2):
        slices = await node.slices()

    (one,) = slices
    owner = await node.client.get(NODES, "worker-1")
    assert one["metadata"]["name"].startswith("00000-gpu.example.com-worker-1-")
    assert one["metadata"]["ownerReferences"] == [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "name": "worker-1",
            "uid": owner["metadata"]["uid"],
            "controller": True,
        }
    ]
    assert one["spec"] == {
        "driver": "gpu.example.com",
        "pool": {"name": "worker-1", "generation": 1, "resourceSliceCount": 1},
        "nodeName": "worker-1",
        "devices": [
            {
                "name": "gpu-0",
                "attributes": {
                    "driverVersion": {"version": "1.0.0"},
                    "index": {"int": 0},
                    "model": {"string": "LATEST-GPU-MODEL"},
                    "uuid": {"string": one["spec"]["devices"][0]["attributes"]["uuid"]["string"]},
                },
                "capacity": {"memory": {"value": "80Gi"}, "compute": {"value": "100"}},
            },
            {
                "name": "gpu-1",
                "attributes": {
                    "driverVersion": {"version": "1.0.0"},
                    "index": {"int": 1},
                    "model": {"string": "LATEST-GPU-MODEL"},
                    "uuid": {"string": one["spec"]["devices"][1]["attributes"]["uuid"]["string"]},
                },
                "capacity": {"memory": {"value": "80Gi"}, "compute": {"value": "100"}},
            },
        ],
    }


async def test_more_devices_than_a_slice_holds_make_a_pool_of_several(node: DriverNode) -> None:
    async with node.running(devices=130):
        slices = await node.slices()

    pool = {"name": "worker-1", "generation": 1, "resourceSliceCount": 2}
    assert [one["spec"]["pool"] for one in slices] == [pool, pool]
    assert [len(one["spec"]["devices"]) for one in slices] == [128, 2]
    assert [one["metadata"]["name"][:6] for one in slices] == ["00000-", "00001-"]


async def test_restarted_driver_leaves_unchanged_slices_alone(node: DriverNode) -> None:
    async with node.running():
        before = await node.slices()
    async with node.running():
        after = await node.slices()

    assert after == before


async def test_single_changed_slice_keeps_the_generation(node: DriverNode) -> None:
    async with node.running(devices=8):
        (before,) = await node.slices()
    async with node.running(devices=4):
        (after,) = await node.slices()

    assert after["metadata"]["name"] == before["metadata"]["name"]
    assert [device["name"] for device in after["spec"]["devices"]] == ["gpu-0", "gpu-1", "gpu-2", "gpu-3"]
    assert after["spec"]["pool"]["generation"] == 1


async def test_pool_that_grows_by_a_slice_gets_a_new_generation(node: DriverNode) -> None:
    async with node.running(devices=128):
        (before,) = await node.slices()
    async with node.running(devices=129):
        first, second = await node.slices()

    pool = {"name": "worker-1", "generation": 2, "resourceSliceCount": 2}
    assert first["metadata"]["name"] == before["metadata"]["name"]
    assert [first["spec"]["pool"], second["spec"]["pool"]] == [pool, pool]


async def test_pool_that_shrinks_loses_its_stale_slice(node: DriverNode) -> None:
    async with node.running(devices=129):
        first, _ = await node.slices()
    async with node.running(devices=128):
        (after,) = await node.slices()

    assert after["metadata"]["name"] == first["metadata"]["name"]
    assert after["spec"]["pool"] == {"name": "worker-1", "generation": 1, "resourceSliceCount": 1}


async def test_wiped_slices_are_published_again(node: DriverNode) -> None:
    async with node.running():
        (before,) = await node.slices()
        await node.client.delete(SLICES, before["metadata"]["name"])
        await node.clock.settle()
        (after,) = await node.slices()

    assert after["spec"] == before["spec"]
    assert after["metadata"]["uid"] != before["metadata"]["uid"]


async def test_foreign_change_is_undone(node: DriverNode) -> None:
    async with node.running():
        (before,) = await node.slices()
        await node.client.update(SLICES, {**before, "spec": {**before["spec"], "devices": []}})
        await node.clock.settle()
        (after,) = await node.slices()

    assert after["spec"] == before["spec"]


async def test_node_that_comes_back_owns_new_slices(node: DriverNode) -> None:
    async with node.running():
        await node.client.delete(NODES, "worker-1")
        await node.clock.settle()
        came_back = await node.client.create(
            NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker-1"}}
        )
        await node.clock.settle()
        (one,) = await node.slices()

    assert one["metadata"]["ownerReferences"][0]["uid"] == came_back["metadata"]["uid"]


async def test_node_that_does_not_exist_yet_is_waited_for(node: DriverNode) -> None:
    stored = await node.client.get(NODES, "worker-1")
    await node.client.delete(NODES, "worker-1")
    async with node.running():
        assert await node.slices() == []

        await node.client.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker-1"}})
        await node.clock.settle()
        (one,) = await node.slices()

    assert one["metadata"]["ownerReferences"][0]["uid"] != stored["metadata"]["uid"]
