"""Registration, health, and the sockets that they run over."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, json_format

from drayman.clock import VirtualClock
from drayman.driver import Driver, catalogue
from drayman.driver.proto import (
    dra_health_v1_pb2,
    dra_health_v1_pb2_grpc,
    pluginregistration_v1_pb2,
    pluginregistration_v1_pb2_grpc,
)
from drayman.errors import InputError
from drayman.testing.kubelet import plugins

if TYPE_CHECKING:
    from tests.unit.driver.conftest import DriverNode


async def test_driver_tells_the_kubelet_who_it_is(node: DriverNode) -> None:
    async with node.running():
        with plugins.open_channel(str(node.registration)) as channel:
            stub = pluginregistration_v1_pb2_grpc.RegistrationStub(channel)
            info = await plugins.call(node.clock, stub.GetInfo, pluginregistration_v1_pb2.InfoRequest(), 5)

    assert json_format.MessageToDict(info) == {
        "type": "DRAPlugin",
        "name": "gpu.example.com",
        "endpoint": str(node.socket),
        "supportedVersions": ["v1.DRAPlugin", "v1beta1.DRAPlugin", "v1.DRAResourceHealth"],
    }


async def test_registered_is_set_when_the_kubelet_has_taken_the_driver(node: DriverNode) -> None:
    async with node.running() as driver:
        before = driver.registered.is_set()
        with plugins.open_channel(str(node.registration)) as channel:
            stub = pluginregistration_v1_pb2_grpc.RegistrationStub(channel)
            status = pluginregistration_v1_pb2.RegistrationStatus(plugin_registered=True)
            await plugins.call(node.clock, stub.NotifyRegistrationStatus, status, 5)

        assert (before, driver.registered.is_set()) == (False, True)


async def test_stopped_driver_leaves_no_socket(node: DriverNode) -> None:
    async with node.running():
        assert node.registration.is_socket()
        assert node.socket.is_socket()

    assert not node.registration.exists()
    assert not node.socket.exists()


async def test_socket_of_a_killed_driver_is_replaced(node: DriverNode) -> None:
    for path in (node.socket, node.registration):
        path.parent.mkdir(parents=True)
        path.touch()

    async with node.running():
        assert node.registration.is_socket()


async def test_socket_path_that_is_too_long_is_refused(node: DriverNode) -> None:
    deep = node.root / ("d" * 80)
    node.root = deep
    with pytest.raises(InputError) as caught:
        node.driver()

    path = deep / "plugins" / "gpu.example.com" / "dra.sock"
    assert str(caught.value) == (f"socket path `{path}` has {len(str(path))} bytes; a unix socket can have 107")


@pytest.mark.parametrize("name", ["../worker", "a/b", ""])
async def test_node_name_that_is_a_path_is_refused(node: DriverNode, name: str) -> None:
    with pytest.raises(InputError, match="cannot be part of a file name"):
        Driver(
            node.client,
            VirtualClock(),
            name,
            profile=catalogue.profile("gpu.example.com"),
            plugins_dir=Path("p"),
            registry_dir=Path("r"),
            cdi_dir=Path("c"),
        )


async def test_health_is_streamed_at_once_on_change_and_again_before_it_gets_old(node: DriverNode) -> None:
    async with node.running(devices=1) as driver:
        with plugins.open_channel(str(node.socket)) as channel:
            stub = dra_health_v1_pb2_grpc.DRAResourceHealthStub(channel)
            stream = stub.NodeWatchResources(dra_health_v1_pb2.NodeWatchResourcesRequest())
            first = await asyncio.to_thread(next, stream)
            waiting = asyncio.ensure_future(asyncio.to_thread(next, stream))
            while not waiting.done():
                await node.clock.advance(1)
            again = await waiting
            driver.health.set("gpu-0", healthy=False, message="too hot")
            while (changed := await asyncio.to_thread(next, stream)).devices[0].message != "too hot":
                assert changed.devices[0].health == dra_health_v1_pb2.HEALTHY
            stream.cancel()

    assert json_format.MessageToDict(first) == {
        "devices": [
            {
                "device": {"poolName": "worker-1", "deviceName": "gpu-0"},
                "health": "HEALTHY",
                "lastUpdatedTime": "1767225600",
            }
        ]
    }
    assert again.devices[0].health == dra_health_v1_pb2.HEALTHY
    assert again.devices[0].last_updated_time >= 1767225610
    assert changed.devices[0].health == dra_health_v1_pb2.UNHEALTHY


def test_equal_message_names_of_other_packages_do_not_clash() -> None:
    theirs = descriptor_pb2.FileDescriptorProto(name="podresources/api.proto", package="v1", syntax="proto3")
    theirs.message_type.add(name="DeviceHealth").field.add(
        name="something_else", number=1, type=descriptor_pb2.FieldDescriptorProto.TYPE_STRING
    )
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(theirs.SerializeToString())

    assert pool.FindMessageTypeByName("v1.DeviceHealth").fields[0].name == "something_else"
    assert dra_health_v1_pb2.DeviceHealth.DESCRIPTOR.fields[0].name == "device"
