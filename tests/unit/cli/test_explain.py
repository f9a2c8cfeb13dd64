from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.unit.cli.manifests import GPU, claim, device_class, files, pod, slice_, template
from tests.unit.cli.test_main import SHOW_MODULES
from tests.unit.reasons.clusters import node
from tests.unit.servers import LiveServer, live_server

from drayman import manifest, snapshots

if TYPE_CHECKING:
    from tests.unit.cli.conftest import CommandLine

PAGE = Path(__file__).parents[3] / "docs/explain.md"
OWN = "{name: own, resourceClaimTemplateName: one-gpu}"
CLUSTER = files(slice_("n1", devices=1), device_class(), template())
TWICE = "{name: a, resourceClaimName: shared}, {name: b, resourceClaimName: shared}"


@pytest.fixture
def written(drayman: CommandLine) -> CommandLine:
    drayman.write("cluster.yaml", CLUSTER)
    drayman.write("pods.yaml", files(pod("first", OWN), pod("second", OWN)))
    return drayman


def test_pod_that_fits_ends_well(written: CommandLine) -> None:
    result = written.run("explain", "pod", "team-a/first", "cluster.yaml", "pods.yaml")
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        "pod team-a/first fits on 1 of 1 node\n"
        "├─ `own`: claim `team-a/first-own`, to be made from template `one-gpu`\n"
        f"└─ fits on node `n1`: `own` gets {GPU}/n1/gpu-0\n"
    )


def test_pod_that_does_not_fit_exits_with_no(written: CommandLine) -> None:
    result = written.run("explain", "pod", "team-a/second", "cluster.yaml", "pods.yaml")
    assert result.code == 3
    lines = result.out.splitlines()
    assert lines[:3] == [
        "pod team-a/second cannot be scheduled: it does not fit on node `n1`",
        "├─ `own`: claim `team-a/second-own`, to be made from template `one-gpu`",
        "├─ pods that come before are placed first: `team-a/first` on `n1`",
    ]
    assert max(map(len, lines)) <= 100


def test_example_of_the_page_is_what_is_printed(drayman: CommandLine) -> None:
    tainted = node("n2", spec="taints: [{key: dedicated, value: ml, effect: NoSchedule}]")
    slices = (slice_(name, devices=1) for name in ("n1", "n2"))
    named = (device_class("gpu", driver=GPU), template(device_class="gpu"))
    drayman.write("cluster.yaml", files(node("n1"), tainted, *slices, *named))
    entry = "{name: gpu, resourceClaimTemplateName: one-gpu}"
    drayman.write("pods.yaml", files(pod("first", entry), pod("second", entry)))
    result = drayman.run("explain", "pod", "team-a/second", "cluster.yaml", "pods.yaml")
    command = "$ drayman explain pod team-a/second cluster.yaml pods.yaml\n"
    assert result.out == PAGE.read_text().split(command)[1].split("```")[0]


@pytest.mark.parametrize(
    "arguments",
    [
        ("pod/second", "-n", "team-a", "cluster.yaml", "pods.yaml"),
        ("po", "second", "--namespace", "team-a", "cluster.yaml", "-f", "pods.yaml"),
        ("pods", "team-a/second", "--node", "n1", "cluster.yaml", "--compatibility", "fixed", "pods.yaml"),
    ],
)
def test_objects_are_named_as_kubectl_names_them(written: CommandLine, arguments: tuple[str, ...]) -> None:
    result = written.run("explain", *arguments, "-o", "line")
    assert (result.code, result.err) == (3, "")
    assert result.out.count("\n") == 1
    assert "team-a/first-own" in result.out


def test_json_of_one_object(written: CommandLine) -> None:
    result = written.run("explain", "pod", "team-a/second", "cluster.yaml", "pods.yaml", "-o", "json")
    document = json.loads(result.out)
    assert [document[name] for name in ("version", "kubernetes", "compatibility", "pod", "verdict")] == [
        1,
        "1.37",
        "1.37",
        "team-a/second",
        "unschedulable",
    ]
    assert [(group["nodes"], group["verdict"]) for group in document["groups"]] == [(["n1"], "unallocatable")]


def test_all_pending_pods_are_explained_in_their_order(written: CommandLine) -> None:
    result = written.run("explain", "--all", "cluster.yaml", "pods.yaml", "-o", "json")
    document = json.loads(result.out)
    assert (result.code, document["compatibility"]) == (3, "1.37")
    assert [(answer["pod"], answer["verdict"]) for answer in document["answers"]] == [
        ("team-a/first", "fits"),
        ("team-a/second", "unschedulable"),
    ]
    lines = written.run("explain", "--all", "cluster.yaml", "pods.yaml", "-o", "line").out.splitlines()
    assert lines[0] == "team-a/first: pod team-a/first fits on 1 of 1 node"
    assert lines[1].startswith("team-a/second: claim `team-a/second-own`")


def test_all_pods_of_a_namespace(written: CommandLine) -> None:
    result = written.run("explain", "--all", "-n", "other", "cluster.yaml", "pods.yaml")
    assert (result.code, result.out, result.err) == (0, "", "note: no pod is pending\n")


def test_answers_under_both_compatibilities_are_compared(drayman: CommandLine) -> None:
    drayman.write("all.yaml", files(CLUSTER, claim("shared"), pod("p", TWICE)))
    result = drayman.run("explain", "pod", "team-a/p", "all.yaml", "--compare")
    assert result.code == 3
    table, first, second = result.out.split("\n\n")
    rows = [line.split()[:3] for line in table.splitlines() if line[0] != " "]
    assert rows == [
        ["NAME", "COMPATIBILITY", "VERDICT"],
        ["team-a/p", "1.37", "unschedulable"],
        ["team-a/p", "fixed", "fits"],
    ]
    assert max(map(len, table.splitlines())) <= 100
    assert first.startswith("compatibility 1.37:\npod team-a/p cannot be scheduled: it does not fit on node `n1`\n")
    assert second.startswith("compatibility fixed:\npod team-a/p fits on 1 of 1 node\n")
    lines = drayman.run("explain", "pod", "team-a/p", "all.yaml", "--compare", "-o", "line").out
    assert lines == f"{table}\n"
    document = json.loads(drayman.run("explain", "pod", "team-a/p", "all.yaml", "--compare", "-o", "json").out)
    assert {each: answer["verdict"] for each, answer in document["compare"].items()} == {
        "1.37": "unschedulable",
        "fixed": "fits",
    }


def test_answers_that_are_equal_are_told_once(written: CommandLine) -> None:
    alone = written.run("explain", "pod", "team-a/second", "cluster.yaml", "pods.yaml")
    compared = written.run("explain", "pod", "team-a/second", "cluster.yaml", "pods.yaml", "--compare")
    assert (compared.out, compared.err) == (alone.out, "note: the answer is the same under 1.37 and fixed\n")


def test_gates_count(drayman: CommandLine) -> None:
    tainted = slice_("n1", devices=1).replace("gpu-0}", "gpu-0, taints: [{key: k, effect: NoSchedule}]}")
    drayman.write("all.yaml", files(tainted, device_class(), claim("c")))
    command = ("explain", "claim", "team-a/c", "all.yaml")
    assert drayman.run(*command).code == 3
    assert drayman.run(*command, "--kubernetes-version", "1.35").code == 0
    assert drayman.run(*command, "--kubernetes-version", "1.36", "--feature-gates", "DRADeviceTaints=false").code == 0


def test_hardware_of_the_catalogue_is_lent(drayman: CommandLine) -> None:
    drayman.write("claim.yaml", claim("c", more=", count: 9"))
    result = drayman.run("explain", "claim", "team-a/c", "claim.yaml", "--with", GPU)
    assert (result.code, result.out.splitlines()[0]) == (3, "claim team-a/c cannot be allocated on node `node-1`")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "say what to explain: KIND NS/NAME, or --all"),
        (("pod",), "say what to explain: KIND NS/NAME, or --all"),
        (("node", "n1"), "`node` cannot be explained"),
        (("pod", "a", "b.yaml", "--nonsense"), "unrecognized arguments: --nonsense"),
    ],
)
def test_wrong_usage(drayman: CommandLine, arguments: tuple[str, ...], message: str) -> None:
    result = drayman.run("explain", *arguments)
    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_errors(written: CommandLine) -> None:
    missing = written.run("explain", "pod", "team-a/secnd", "cluster.yaml", "pods.yaml")
    assert (missing.code, missing.err) == (
        1,
        "error: pod `team-a/secnd` does not exist; there are: `team-a/first`, `team-a/second`\n"
        "hint: did you mean `team-a/second`?\n",
    )
    node = written.run("explain", "pod", "team-a/second", "cluster.yaml", "pods.yaml", "--node", "n2")
    assert (node.code, node.err) == (1, "error: node `n2` does not exist; there are: `n1`\n")


def test_snapshot_is_explained(drayman: CommandLine) -> None:
    pending = pod("p", OWN, status="phase: Pending")
    snapshots.write("taken", [one.object for one in manifest.parse(files(CLUSTER, pending))], {})
    result = drayman.run("explain", "pod", "team-a/p", "--snapshot", "taken", "-o", "line")
    assert (result.code, result.out) == (
        3,
        "claim entry `own`: the claim of template `team-a/one-gpu` is not created yet\n",
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with live_server(tmp_path_factory.mktemp("live")) as running:
        running.apply(*(one.object for one in manifest.parse(files(CLUSTER, pod("p", OWN)))))
        yield running


def test_live_cluster_is_explained(drayman: CommandLine, server: LiveServer) -> None:
    result = drayman.run("explain", "pod", "team-a/p", "--kubeconfig", str(server.kubeconfig), "-o", "line")
    assert (result.code, result.err) == (3, "")
    assert result.out == "claim entry `own`: the claim of template `team-a/one-gpu` is not created yet\n"


def test_explaining_imports_nothing_that_servers_need(written: CommandLine) -> None:
    script = SHOW_MODULES.format(arguments=["explain", "pod", "team-a/first", "cluster.yaml", "pods.yaml"])
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert {"aiohttp", "asyncio", "grpc", "kubernetes", "cryptography", "ssl"} & set(json.loads(done.stderr)) == set()
