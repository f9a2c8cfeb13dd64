"""The fake kubelet with the mock driver, both on one virtual clock."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import pytest

from drayman.driver import Driver, catalogue
from drayman.driver.faults import Fault
from drayman.kube.resources import SLICES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

DEADLINE = "NodePrepareResources: rpc error: code = DeadlineExceeded desc = context deadline exceeded"


@pytest.fixture
async def driver(node: Any) -> AsyncIterator[Driver]:
    """A mock driver on the node, registered."""
    driver = Driver(
        node.client,
        node.clock,
        "n1",
        profile=catalogue.profile("gpu.example.com"),
        plugins_dir=node.root / "plugins",
        registry_dir=node.root / "plugins_registry",
        cdi_dir=node.cdi_dir,
    )
    task = asyncio.create_task(driver.run())
    await node.settle()
    await node.kubelet.scan_plugins()
    await node.settle()
    yield driver
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def test_pod_gets_the_environment_of_its_device(node: Any, driver: Driver) -> None:
    await node.gpu_pod("p")
    await node.settle()

    assert driver.registered.is_set()
    assert "GPU_DEVICE_0=gpu-0" in (await node.log("p")).splitlines()


async def test_pod_waits_for_a_slow_driver(node: Any, driver: Driver) -> None:
    driver.faults.add(Fault("prepare", delay=30, times=1))
    await node.gpu_pod("p")
    await node.clock.advance(29)
    assert await node.phase("p") == "Pending"

    await node.clock.advance(2)
    assert await node.phase("p") == "Running"


async def test_driver_that_takes_too_long_is_called_again(node: Any, driver: Driver) -> None:
    driver.faults.add(Fault("prepare", delay=60, times=1))
    await node.gpu_pod("p")
    await node.clock.advance(50)

    assert await node.phase("p") == "Running"
    note = f"Failed to prepare dynamic resources: prepare dynamic resources: {DEADLINE}"
    assert await node.events() == [f"FailedPrepareDynamicResources: {note}"]


async def test_failed_unprepare_holds_up_the_end_of_the_pod(node: Any, driver: Driver) -> None:
    driver.faults.add(Fault("unprepare", error="stuck", times=1))
    await node.gpu_pod("p", script="sleep 5", restartPolicy="Never")
    await node.clock.advance(5.5)
    assert await node.phase("p") == "Running"

    await node.clock.advance(1)
    assert await node.phase("p") == "Succeeded"


async def test_slices_of_the_driver_are_published(node: Any, driver: Driver) -> None:
    [published] = (await node.client.list(SLICES))[0]
    assert published["spec"]["nodeName"] == "n1"
