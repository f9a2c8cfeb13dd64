"""A driver of the run's own shares no name with one that is there, and says why it does not come up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.clusters.existing.world import World

from drayman.driver import catalogue
from drayman.errors import DraymanError
from drayman.kube.resources import PODS, SLICES
from drayman.testing.clusters.existing import driver, removal
from drayman.testing.clusters.existing.renaming import DRIVER
from drayman.testing.clusters.existing.run import LABEL, Run

if TYPE_CHECKING:
    from drayman.kube.client import Object

RUN = Run("abc234")
OBJECTS = driver.objects(RUN, "registry.example/driver:7", 4, ("a", "b"))
DAEMON_SET = next(one for one in OBJECTS if one["kind"] == "DaemonSet")


async def create_namespace(world: World) -> None:
    await world.labelled_namespace(RUN.namespace, RUN.labels)


def test_everything_is_labelled_and_named_after_the_run() -> None:
    kinds = ["ServiceAccount", "ClusterRole", "ClusterRoleBinding", "DaemonSet", "DeviceClass"]
    assert [one["kind"] for one in OBJECTS] == kinds
    for one in OBJECTS:
        assert one["metadata"]["labels"][LABEL] == RUN.id
        assert one["metadata"].get("namespace", RUN.namespace) == RUN.namespace
        assert RUN.id in one["metadata"]["name"]


def test_driver_has_the_hardware_that_scenarios_know_under_another_name() -> None:
    (container,) = DAEMON_SET["spec"]["template"]["spec"]["containers"]
    options = dict(argument.split("=", 1) for argument in container["args"])
    assert container["image"] == "registry.example/driver:7"
    assert (options["--driver-name"], options["--hardware"]) == ("gpu-abc234.example.com", DRIVER)
    assert options["--devices"] == "4"
    assert "/var/lib/kubelet/plugins/gpu-abc234.example.com" in repr(DAEMON_SET)


def test_driver_runs_on_the_chosen_nodes() -> None:
    affinity = DAEMON_SET["spec"]["template"]["spec"]["affinity"]
    assert affinity == {"nodeAffinity": driver.only_on(("a", "b"))}


def test_installed_driver_is_removed_as_a_whole() -> None:
    world = World()

    async def act() -> list[str]:
        await create_namespace(world)
        await publish(world, "a", "b")
        await driver.install(world.client, world.clock, RUN, OBJECTS, ("a", "b"))
        await removal.everything(world.client, world.clock, RUN)
        left = [one for kind in {one["kind"] for one in OBJECTS} for one in await world.access.list(kind)]
        return [one["metadata"]["name"] for one in [*left, *await world.access.list("resourceslices")]]

    assert world.run(act) == []


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (
            {"containerStatuses": [{
                "name": "driver", "image": "i", "imageID": "", "ready": False, "restartCount": 0,
                "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}]},
            "pod `driver-x`: ImagePullBackOff: no such image",
        ),
        (
            {"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/2 nodes are available"}]},
            "pod `driver-x`: 0/2 nodes are available",
        ),
        ({"phase": "Running"}, "no pod of it waits for anything"),
    ],
)  # fmt: skip
def test_driver_that_does_not_come_up_says_what_its_pods_wait_for(status: Object, why: str) -> None:
    world = World()

    async def act() -> None:
        await create_namespace(world)
        await publish(world, "a")
        pod = {"metadata": {"name": "driver-x", "namespace": RUN.namespace}}
        spec = {"containers": [{"name": "driver", "image": "i"}]}
        await world.access.apply([{"apiVersion": "v1", "kind": PODS.kind, **pod, "spec": spec, "status": status}])
        await driver.install(world.client, world.clock, RUN, OBJECTS, ("a", "b"))

    with pytest.raises(DraymanError) as failed:
        world.run(act)
    assert str(failed.value) == f"the driver has no devices on `b` after 120 s: {why}"


def test_driver_that_crashes_is_quoted() -> None:
    world = World()
    world.gate.printed = b"".join(b"line %d\n" % number for number in range(9))

    async def act() -> None:
        await create_namespace(world)
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "driver-x", "namespace": RUN.namespace}}
        await world.access.apply([{**pod, "spec": {"containers": [{"name": "driver", "image": "i"}]}}])
        await driver.install(world.client, world.clock, RUN, OBJECTS, ("a",))

    with pytest.raises(DraymanError) as failed:
        world.run(act)
    assert str(failed.value).endswith("; it said:\nline 4\nline 5\nline 6\nline 7\nline 8")


async def publish(world: World, *nodes: str) -> None:
    """Do what the driver's pods would do."""
    profile = catalogue.profile(DRIVER)
    for node in nodes:
        for one in profile.slices(node):
            name = one["metadata"]["name"].replace(DRIVER, RUN.driver)
            spec = {**one["spec"], "driver": RUN.driver}
            await world.access.client.create(SLICES, {**one, "metadata": {"name": name}, "spec": spec})
