"""What probes are told about a driver."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from drayman.driver import Driver, vitals
from drayman.driver.proto import pluginregistration_v1_pb2, pluginregistration_v1_pb2_grpc
from drayman.errors import APIStatusError
from drayman.testing.kubelet import plugins

if TYPE_CHECKING:
    import pytest
    from tests.unit.driver.conftest import DriverNode


async def ask(node: DriverNode, driver: Driver, path: str) -> tuple[int, str]:
    answer = await vitals.probes(driver, node.clock).answer(path, verbose=True)
    assert answer is not None
    return answer.status, answer.text


async def register(node: DriverNode) -> None:
    with plugins.open_channel(str(node.registration)) as channel:
        stub = pluginregistration_v1_pb2_grpc.RegistrationStub(channel)
        status = pluginregistration_v1_pb2.RegistrationStatus(plugin_registered=True)
        await plugins.call(node.clock, stub.NotifyRegistrationStatus, status, 5)


async def test_running_driver_is_live_and_ready_once_a_kubelet_has_taken_it(node: DriverNode) -> None:
    async with node.running() as driver:
        live = await ask(node, driver, "/livez")
        before = await ask(node, driver, "/readyz")
        await register(node)
        after = await ask(node, driver, "/readyz")

    assert live == (200, "[+]ping ok\n[+]plugin ok\n[+]registration ok\nlivez check passed\n")
    assert before == (500, "[+]ping ok\n[-]kubelet failed: reason withheld\n[+]slices ok\nreadyz check failed\n")
    assert after == (200, "[+]ping ok\n[+]kubelet ok\n[+]slices ok\nreadyz check passed\n")


async def test_driver_whose_socket_was_removed_is_not_live(node: DriverNode) -> None:
    async with node.running() as driver:
        node.registration.unlink()
        status, text = await ask(node, driver, "/livez")
        _, reason = await ask(node, driver, "/livez/registration")

    assert (status, text.splitlines()[1:3]) == (500, ["[+]plugin ok", "[-]registration failed: reason withheld"])
    assert str(node.registration) in reason


async def test_driver_that_does_not_run_is_not_live(node: DriverNode) -> None:
    status, text = await ask(node, node.driver(), "/livez")
    assert (status, text.splitlines()[1]) == (500, "[-]plugin failed: reason withheld")


async def test_driver_is_not_ready_while_its_slices_are_refused(
    node: DriverNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = {"code": 403, "reason": "Forbidden", "message": "slices are forbidden"}

    async def refuse(*_: object) -> None:
        raise APIStatusError(refusal)

    monkeypatch.setattr(node.client, "create", refuse)
    driver = node.driver()
    task = asyncio.create_task(driver.run())
    await node.clock.settle(0.5)
    refused = await ask(node, driver, "/readyz/slices")
    monkeypatch.undo()
    await node.clock.settle(60)
    published = await ask(node, driver, "/readyz/slices")
    task.cancel()
    await asyncio.wait([task])

    assert refused == (500, "internal server error: the slices are not published\n")
    assert published == (200, "ok")


async def test_driver_without_devices_has_nothing_to_publish(node: DriverNode) -> None:
    async with node.running(devices=0) as driver:
        assert await ask(node, driver, "/readyz/slices") == (200, "ok")
