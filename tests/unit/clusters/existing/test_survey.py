"""What a cluster lacks is said all at once, from reading alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.unit.clusters.existing.world import REVIEWS, World

from drayman.errors import InputError
from drayman.kube.http import Response
from drayman.testing.clusters.existing import plan
from drayman.testing.clusters.existing.request import Request
from drayman.testing.clusters.existing.run import HOST, LABEL, STARTED
from drayman.testing.clusters.existing.survey import Survey, survey

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

PLAYED = Request(scenarios=True)
INSTALLED = Request(driver_image="docker.io/drayman/driver:1")


def surveyed(world: World, request: Request = PLAYED, *acts: Callable[[], Awaitable[None]]) -> Survey:
    async def act() -> Survey:
        for one in acts:
            await one()
        return await survey(world.client, request)

    return world.run(act)


def test_cluster_that_is_fit_lacks_nothing_and_is_only_read() -> None:
    world = World()
    found = surveyed(world, PLAYED, lambda: world.furnish("a", "b"))

    assert found.missing == []
    assert (found.nodes, found.narrowed, found.accounts, found.kubernetes) == (("a", "b"), False, True, "1.37")
    assert world.gate.written == []
    assert any(one.path.endswith(REVIEWS) for one in world.gate.requests)


def test_more_nodes_than_scenarios_count_on_are_left_out() -> None:
    world = World()
    found = surveyed(world, PLAYED, lambda: world.furnish("a", "b", "c"))
    assert (found.nodes, found.narrowed) == (("a", "b"), True)


def test_nodes_that_take_no_pods_are_left_out() -> None:
    world = World()
    taint = [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]
    found = surveyed(
        world,
        PLAYED,
        lambda: world.furnish("a", taints=taint),
        lambda: world.furnish("b", unschedulable=True),
        lambda: world.furnish("c", ready=False),
        lambda: world.furnish("d"),
    )
    assert (found.missing, found.nodes, found.narrowed) == ([], ("d",), True)


def test_node_whose_devices_others_use_is_left_out() -> None:
    world = World()
    found = surveyed(world, PLAYED, lambda: world.furnish("a", "b", "c"), lambda: world.use("team-a", "b"))
    assert (found.missing, found.nodes) == ([], ("a", "c"))


def test_devices_that_another_run_uses_count_as_free() -> None:
    world = World()
    found = surveyed(
        world,
        PLAYED,
        lambda: world.furnish("a"),
        lambda: world.labelled_namespace("demo-xyz", {LABEL: "xyz"}),
        lambda: world.use("demo-xyz", "a"),
    )
    assert (found.missing, found.nodes) == ([], ("a",))


def test_other_runs_are_told_with_their_hosts() -> None:
    world = World()
    notes = {HOST: "laptop (process 7)", STARTED: "2026-01-01T00:00:00Z"}
    found = surveyed(
        world,
        PLAYED,
        lambda: world.furnish("a"),
        lambda: world.labelled_namespace("drayman-xyz", {LABEL: "xyz"}, **notes),
        lambda: world.labelled_namespace("demo-xyz", {LABEL: "xyz"}),
    )
    assert found.runs == ("`xyz` of laptop (process 7), started 2026-01-01T00:00:00Z",)


def version_of(version: str) -> Response:
    return Response(200, json.dumps({"gitVersion": version}).encode())


async def nothing() -> None:
    pass


@pytest.mark.parametrize(
    ("furnish", "request_", "missing"),
    [
        (lambda world: nothing(), PLAYED, ["the cluster has no nodes", "there is no DeviceClass `gpu.example.com`",
            "no driver `gpu.example.com` publishes devices: `--driver install` brings one for the run"]),
        (lambda world: world.furnish("a", ready=False), PLAYED, ["no node takes pods: `a` is not ready"]),
        (lambda world: world.furnish("a", unschedulable=True), INSTALLED, ["no node takes pods: `a` is cordoned"]),
        (lambda world: world.node("a"), INSTALLED, ["1 of 2 nodes are ready for pods"]),
        (
            lambda world: world.furnish("a", devices=3),
            PLAYED,
            ["scenarios count on 8 devices of `gpu.example.com` on a node: `a` has 3"],
        ),
    ],
)  # fmt: skip
def test_what_is_missing_is_told(
    furnish: Callable[[World], Awaitable[None]], request_: Request, missing: list[str]
) -> None:
    world = World()
    assert surveyed(world, request_, lambda: furnish(world)).missing == missing


def test_devices_need_not_be_free_where_no_scenario_is_played() -> None:
    world = World()
    found = surveyed(world, Request(), lambda: world.furnish("a", devices=3), lambda: world.use("team-a", "a"))
    assert (found.missing, found.nodes) == ([], ("a",))


def test_devices_that_others_use_are_told_with_their_claims() -> None:
    world = World()
    found = surveyed(world, PLAYED, lambda: world.furnish("a"), lambda: world.use("team-a", "a"))
    assert found.missing == [
        "others use the devices of `gpu.example.com`: claim `team-a/train` on `a`;"
        " `--driver install` brings devices of its own"
    ]


def test_nodes_with_devices_that_take_no_pods_are_told() -> None:
    world = World()
    found = surveyed(world, PLAYED, lambda: world.furnish("a", ready=False), lambda: world.node("b"))
    assert found.missing == ["the nodes with devices of `gpu.example.com` take no pods: `a`"]


def test_api_that_is_not_served_is_told_and_the_rest_is_still_looked_at() -> None:
    world = World(runtime_config={"resource.k8s.io/v1": False})
    world.gate.about = version_of("v1.33.4")
    found = surveyed(world)
    assert found.missing == [
        "the server is Kubernetes v1.33.4, and 1.34 or newer is needed",
        "the API does not serve `resource.k8s.io/v1 DeviceClass`, `resource.k8s.io/v1 ResourceClaim`,"
        " `resource.k8s.io/v1 ResourceClaimTemplate`, `resource.k8s.io/v1 ResourceSlice`",
        "the cluster has no nodes",
    ]


@pytest.mark.parametrize(("version", "known"), [("v1.36.1-gke.7", "1.36"), ("v1.34+", "1.34"), ("v1.40.0", "1.37")])
def test_version_is_taken_for_one_whose_gates_are_known(version: str, known: str) -> None:
    world = World()
    world.gate.about = version_of(version)
    found = surveyed(world, PLAYED, lambda: world.furnish("a"))
    assert (found.missing, found.kubernetes) == ([], known)


def test_rights_that_are_missing_are_told_by_resource() -> None:
    world = World()
    world.gate.denied = {
        ("create", "namespaces"),
        ("delete", "namespaces"),
        ("get", "pods/log"),
        ("create", "deviceclasses"),
        ("list", "nodes"),
        ("update", "leases"),
        ("create", "serviceaccounts/token"),
    }
    found = surveyed(world, PLAYED, lambda: world.furnish("a"))
    assert found.missing == [
        "you may not create, delete `namespaces`",
        "you may not list `nodes`",
        "you may not get `pods/log`",
        "you may not create `serviceaccounts/token`",
        "you may not update `leases.coordination.k8s.io` in namespace `default`",
        "you may not create `deviceclasses.resource.k8s.io`",
    ]


def test_role_cannot_be_given_by_who_does_not_have_its_rights() -> None:
    world = World()
    world.gate.denied = {("escalate", "clusterroles"), ("create", "pods/binding"), ("watch", "nodes")}
    found = surveyed(world, PLAYED, lambda: world.furnish("a"))
    assert found.missing == ["you may not watch `nodes`", "you may not create `pods/binding`"]

    world.gate.denied -= {("escalate", "clusterroles")}
    assert surveyed(world).missing == []


@pytest.mark.parametrize(
    ("request_", "right"),
    [
        (Request(scheduler=False), ("create", "clusterroles")),
        (Request(scheduler=False, driver_image="i"), ("create", "serviceaccounts/token")),
        (Request(), ("create", "daemonsets")),
        (Request(), ("get", "pods/log")),
        (Request(driver_image="i", scenarios=True), ("create", "leases")),
    ],
)
def test_rights_that_are_not_used_are_not_asked_for(request_: Request, right: tuple[str, str]) -> None:
    world = World()
    world.gate.denied = {right}
    assert surveyed(world, request_, lambda: world.furnish("a", "b")).missing == []


def test_no_account_is_wanted_where_the_server_makes_no_tokens() -> None:
    world = World()
    world.gate.accounts = False
    world.gate.denied = {("create", "clusterroles")}
    found = surveyed(world, PLAYED, lambda: world.furnish("a"))
    assert (found.missing, found.accounts) == ([], False)


def test_everything_is_refused_in_one_message() -> None:
    world = World()
    world.gate.denied = {("create", "namespaces")}
    with pytest.raises(InputError) as refused:
        surveyed(world).refuse()
    assert str(refused.value) == (
        "the cluster lacks what this run needs:\n"
        "- you may not create `namespaces`\n"
        "- the cluster has no nodes\n"
        "- there is no DeviceClass `gpu.example.com`\n"
        "- no driver `gpu.example.com` publishes devices: `--driver install` brings one for the run"
    )


@pytest.mark.parametrize(
    ("request_", "accounts", "lines"),
    [
        (
            PLAYED,
            True,
            [
                "- Namespace `drayman-ID`",
                "- ServiceAccount `drayman-ID/drayman-scheduler-ID`, with ClusterRole and ClusterRoleBinding"
                " `drayman-scheduler-ID`",
                "- Lease `default/drayman-gpu.example.com`, while a scenario has the driver's devices",
                "- for 20 scenarios, one after the other, each removed before the next: 1 DeviceClass, 1 Job,"
                " 20 Namespaces, 38 Pods, 11 ResourceClaims, 15 ResourceClaimTemplates",
            ],
        ),
        (Request(scheduler=False), True, ["- Namespace `drayman-ID`"]),
        (
            Request(scheduler=False, driver_image="i"),
            True,
            [
                "- Namespace `drayman-ID`",
                "- ServiceAccount `drayman-ID/drayman-driver-ID`, with ClusterRole and ClusterRoleBinding"
                " `drayman-driver-ID`",
                "- DaemonSet `drayman-ID/drayman-driver-ID`: 2 pods that mount folders of the node",
                "- DeviceClass `gpu-ID.example.com`, and a ResourceSlice for each node",
            ],
        ),
        (Request(), False, ["- Namespace `drayman-ID`"]),
    ],
)
def test_plan_names_everything_that_would_be_created(request_: Request, accounts: bool, lines: list[str]) -> None:
    world = World()
    world.gate.accounts = accounts
    found = surveyed(world, request_, lambda: world.furnish("a", "b"))

    told = list(plan.lines("https://there", request_, found))
    assert [line for line in told if line.startswith("- ")] == lines
    assert told[0] == "cluster: https://there, Kubernetes v1.37.0+drayman"
    assert told[-1] == "afterwards all of it is removed; nothing has been written"
    assert ("image: docker.io/drayman/testbox:1" in "".join(told)) is request_.scenarios


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Response(200, b"<html>hello"), "no API server of Kubernetes answers there: <html>hello"),
        (Response(200, b"[]"), "no API server of Kubernetes answers there: []"),
        (
            Response(401, b'{"kind": "Status", "message": "Unauthorized"}'),
            "the server does not say its version: Unauthorized",
        ),
        (Response(502, b"bad gateway"), "the server does not say its version: bad gateway"),
    ],
)
def test_server_that_does_not_say_its_version_is_refused(answer: Response, message: str) -> None:
    world = World()
    world.gate.about = answer
    with pytest.raises(InputError) as refused:
        surveyed(world)
    assert str(refused.value) == message
