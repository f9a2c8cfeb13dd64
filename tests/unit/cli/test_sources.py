"""Files, snapshots and live clusters as the source of a verb's objects."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.unit.cli.manifests import GPU, claim, device_class, files, slice_
from tests.unit.cli.test_main import SHOW_MODULES
from tests.unit.servers import LiveServer, canned_server, live_server

from drayman import manifest, snapshots

if TYPE_CHECKING:
    from tests.unit.cli.conftest import CommandLine

CLUSTER = files(slice_("node-1", devices=1), device_class(), claim("one"))
ALLOCATED = f"""\
CLAIM        NODE     REQUEST   DEVICE
team-a/one   node-1   gpu       {GPU}/node-1/gpu-0
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with live_server(tmp_path_factory.mktemp("live")) as running:
        running.apply(*(one.object for one in manifest.parse(CLUSTER)))
        yield running


def test_objects_come_from_a_live_cluster(drayman: CommandLine, server: LiveServer) -> None:
    result = drayman.run("allocate", "--kubeconfig", str(server.kubeconfig))
    assert (result.code, result.out, result.err) == (0, ALLOCATED, "")


def test_object_of_a_file_stands_for_that_of_the_cluster(drayman: CommandLine, server: LiveServer) -> None:
    drayman.write("claim.yaml", claim("one", more=", count: 2"))
    result = drayman.run("allocate", "claim.yaml", "--kubeconfig", str(server.kubeconfig), "-o", "json")
    assert result.code == 3
    (answer,) = json.loads(result.out)["results"]
    assert answer["claims"] == ["team-a/one"]


@pytest.mark.parametrize("arguments", [("--snapshot", "taken"), ("taken",)])
def test_snapshot_is_read_with_fields_that_this_version_does_not_know(
    drayman: CommandLine, arguments: tuple[str, ...]
) -> None:
    objects = [{**one.object, "newer": True} for one in manifest.parse(CLUSTER)]
    snapshots.write("taken", objects, {})
    result = drayman.run("allocate", *arguments)
    assert (result.code, result.out, result.err) == (0, ALLOCATED, "")


def test_folder_that_is_no_snapshot_is_refused(drayman: CommandLine) -> None:
    drayman.write("folder/a.yaml", claim())
    for folder, why in (("folder", "not a snapshot"), ("missing", "no such folder")):
        result = drayman.run("allocate", "--snapshot", folder)
        assert (result.code, result.err) == (1, f"error: {folder}: {why}\nhint: drayman snapshot DIR writes one\n")


def kubeconfig_for(drayman: CommandLine, url: str) -> None:
    document = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c"}}],
        "clusters": [{"name": "c", "cluster": {"server": url}}],
    }
    drayman.write("config", json.dumps(document))


def test_server_that_cannot_be_reached_is_an_error(drayman: CommandLine) -> None:
    kubeconfig_for(drayman, "http://127.0.0.1:1")
    result = drayman.run("allocate", "--kubeconfig", "config")
    assert (result.code, result.err) == (
        1,
        "error: http://127.0.0.1:1 cannot be reached: connection refused\n",
    )


def test_live_verbs_import_neither_aiohttp_nor_the_kubernetes_package(drayman: CommandLine, server: LiveServer) -> None:
    script = SHOW_MODULES.format(arguments=["allocate", "--kubeconfig", str(server.kubeconfig)])
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert {"aiohttp", "grpc", "kubernetes", "cryptography", "asyncio"} & set(json.loads(done.stderr)) == set()
    assert done.stdout == ALLOCATED
    assert drayman.folder.is_dir()


@pytest.mark.parametrize(
    ("arguments", "paths"),
    [
        (("claims", "-n", "x"), ["/namespaces/x/resourceclaims"]),
        (("claims",), ["/namespaces/default/resourceclaims"]),
        (("claims", "-A"), ["/resourceclaims"]),
        (("classes", "-n", "x"), ["/deviceclasses", "/resourceclaims"]),
    ],
)
def test_server_is_asked_for_no_more_than_is_needed(
    drayman: CommandLine, arguments: tuple[str, ...], paths: list[str]
) -> None:
    group = "/apis/resource.k8s.io"
    kinds = {"ResourceClaim": ("resourceclaims", True), "DeviceClass": ("deviceclasses", False)}
    entries = [{"kind": kind, "name": name, "namespaced": own} for kind, (name, own) in kinds.items()]
    answers: dict[str, tuple[int, object]] = {
        "/apis": (200, {"groups": [{"name": "resource.k8s.io", "versions": [{"version": "v1"}]}]}),
        f"{group}/v1": (200, {"resources": entries}),
        "/api/v1/nodes": (200, {"items": []}),
        **{f"{group}/v1{path}": (200, {"items": []}) for path in paths},
    }
    with canned_server(answers) as canned:
        kubeconfig_for(drayman, canned.url)
        assert drayman.run(*arguments, "--kubeconfig", "config").code == 0
        asked = [path.partition("?")[0].removeprefix(f"{group}/v1") for path in canned.asked]
    assert [path for path in asked if path.endswith(("claims", "classes"))] == paths
