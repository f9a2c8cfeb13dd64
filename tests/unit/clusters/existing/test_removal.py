"""Only what carries the label of a run is removed, and all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.clusters.existing.world import World

from drayman.errors import APIStatusError, DraymanError
from drayman.testing.clusters.existing import removal
from drayman.testing.clusters.existing.run import LABEL, Run

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

RUN = Run("abc234")
KINDS = ("namespaces", "deviceclasses", "clusterroles", "clusterrolebindings", "resourceslices", "leases", "pods")
BUILT_IN = {"default", "kube-node-lease", "kube-public", "kube-system"}


def obj(kind: str, name: str, labels: dict[str, str] | None = None, group: str = "", **members: Any) -> dict[str, Any]:
    namespace = {"namespace": members.pop("namespace")} if "namespace" in members else {}
    metadata = {"name": name, **namespace, **({"labels": labels} if labels else {})}
    return {"apiVersion": f"{group}/v1" if group else "v1", "kind": kind, "metadata": metadata, **members}


def of_a_run(labels: dict[str, str] | None, suffix: str, driver: str) -> list[dict[str, Any]]:
    """Return one object of each kind that a run has."""
    rbac = "rbac.authorization.k8s.io"
    role = {"apiGroup": rbac, "kind": "ClusterRole", "name": "x"}
    pool = {"name": "n", "generation": 1, "resourceSliceCount": 1}
    return [
        obj("Namespace", f"drayman-{suffix}", labels),
        obj("Namespace", f"demo-{suffix}", labels),
        obj("Pod", "p", labels, namespace=f"demo-{suffix}", spec={"containers": [{"name": "m", "image": "i"}]}),
        obj("DeviceClass", f"any-{suffix}", labels, "resource.k8s.io", spec={}),
        obj("ClusterRole", f"r-{suffix}", labels, rbac, rules=[]),
        obj("ClusterRoleBinding", f"b-{suffix}", labels, rbac, roleRef=role),
        obj("Lease", f"l-{suffix}", labels, "coordination.k8s.io", namespace="default", spec={}),
        obj("ResourceSlice", f"s-{suffix}", None, "resource.k8s.io",
            spec={"driver": driver, "pool": pool, "nodeName": "n", "devices": []}),
    ]  # fmt: skip


async def left(world: World) -> set[str]:
    objects = [one for kind in KINDS for one in await world.access.list(kind)]
    return {f"{one['kind']} {one['metadata']['name']}" for one in objects} - {f"Namespace {name}" for name in BUILT_IN}


def removed(
    world: World, *objects: dict[str, Any], remove: Callable[..., Awaitable[None]] = removal.everything
) -> set[str]:
    """Return what is left of `objects` afterwards."""

    async def act() -> set[str]:
        await world.access.apply(objects)
        await remove(world.client, world.clock, RUN)
        return await left(world)

    return world.run(act)


def named(objects: list[dict[str, Any]]) -> set[str]:
    return {f"{one['kind']} {one['metadata']['name']}" for one in objects}


def test_everything_of_the_run_goes_and_nothing_else() -> None:
    mine = of_a_run(RUN.labels, "mine", RUN.driver)
    others = of_a_run({LABEL: "other"}, "theirs", "gpu-other.example.com")
    foreign = of_a_run(None, "abc234", "gpu.example.com")
    assert removed(World(), *mine, *others, *foreign) == named([*others, *foreign])


def test_what_is_installed_stays_while_scenarios_are_removed() -> None:
    mine = of_a_run(RUN.labels, "abc234", RUN.driver)
    own_class = obj("DeviceClass", RUN.driver, RUN.labels, "resource.k8s.io", spec={})
    remaining = removed(World(), *mine, own_class, remove=removal.played)
    assert remaining == {
        "Namespace drayman-abc234",
        f"DeviceClass {RUN.driver}",
        "ClusterRole r-abc234",
        "ClusterRoleBinding b-abc234",
        "ResourceSlice s-abc234",
    }


def test_kinds_that_may_not_be_listed_were_not_created() -> None:
    world = World()
    kinds = ("clusterroles", "clusterrolebindings", "leases", "resourceslices", "pods")
    world.gate.denied = {("list", kind) for kind in kinds}
    assert removed(world, *of_a_run(RUN.labels, "mine", "d.example.com")[:2]) == set()


def test_removal_that_is_refused_is_told() -> None:
    world = World()
    world.gate.denied = {("delete", "namespaces")}
    with pytest.raises(APIStatusError, match="is forbidden"):
        removed(world, *of_a_run(RUN.labels, "mine", RUN.driver)[:1])


def test_namespace_that_does_not_go_away_is_told_after_a_while() -> None:
    world = World()
    held = obj("ConfigMap", "c", namespace="demo-mine")
    held["metadata"]["finalizers"] = ["example.com/never"]
    with pytest.raises(DraymanError, match="run `abc234` is not gone after 90 s: namespace `demo-mine`"):
        removed(world, obj("Namespace", "demo-mine", RUN.labels), held)
