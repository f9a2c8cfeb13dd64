"""Plugins of users, in the scheduler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from drayman import scheduler
from drayman.errors import InputError
from drayman.framework import CycleState, Handle, NodeInfo, Object, Status
from drayman.scheduler import Configuration, Profile

if TYPE_CHECKING:
    from conftest import Cluster


class OnlyEven:
    """A plugin as the documentation shows it: a class with the methods that it needs."""

    name = "OnlyEven"

    def __init__(self, arguments: Mapping[str, Any], _handle: Handle) -> None:
        self._divisor = arguments.get("divisor", 2)

    def filter_nodes(self, _state: CycleState, _pod: Object, nodes: Sequence[NodeInfo]) -> Sequence[bool]:
        return [int(node.name.removeprefix("n")) % self._divisor == 0 for node in nodes]


class Failing:
    name = "Failing"

    def __init__(self, _arguments: Mapping[str, Any], _handle: Handle) -> None:
        pass

    async def pre_bind(self, _state: CycleState, _pod: Object, _node_name: str) -> Status:
        from drayman.framework import failed

        return failed("the disk is not there")


async def test_given_plugin_takes_part(cluster: Cluster) -> None:
    await cluster.node("n1")
    await cluster.node("n2")
    await cluster.pod("p")

    async with cluster.scheduler(plugins=[OnlyEven]):
        await cluster.settle()

    assert await cluster.node_of("p") == "n2"


async def test_plugin_gets_its_arguments(cluster: Cluster) -> None:
    await cluster.node("n1")
    await cluster.node("n2")
    await cluster.pod("p")
    profile = Profile("default-scheduler", arguments={"OnlyEven": {"divisor": 1}})

    async with cluster.scheduler(Configuration(profiles=(profile,)), plugins=[OnlyEven]):
        await cluster.settle()

    assert await cluster.node_of("p") == "n1"


async def test_failure_before_binding_gives_the_device_back(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node(devices=1)
    await cluster.claim("c")
    await cluster.pod("p", "c")

    async with cluster.scheduler(plugins=[Failing]):
        await cluster.settle(0.5)

    message = 'running PreBind plugin "Failing": the disk is not there'
    assert await cluster.verdict("p") == ("SchedulerError", message)
    assert await cluster.devices("c") == ["n1/gpu-0"]
    assert await cluster.reserved_for("c") == []


@pytest.mark.parametrize("profile", [Profile(enabled=("Unknown",)), Profile(arguments={"Unknown": {}})])
async def test_unknown_plugin_is_refused(cluster: Cluster, profile: Profile) -> None:
    with pytest.raises(InputError, match='plugin "Unknown" does not exist'):
        await scheduler.run(cluster.client, Configuration(profiles=(profile,)), cluster.clock, random=None)


async def test_configuration_of_an_upstream_plugin_that_is_not_built_is_accepted(cluster: Cluster) -> None:
    await cluster.node()
    await cluster.pod("p")
    profile = Profile("default-scheduler", disabled=frozenset({"PodTopologySpread"}))

    async with cluster.scheduler(Configuration(profiles=(profile,))):
        await cluster.settle()

    assert await cluster.node_of("p") == "n1"
