from __future__ import annotations

import json
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.cli.manifests import GPU, claim, device_class, files, node, pod, slice_
from tests.unit.cli.test_views import allocated
from tests.unit.servers import LiveServer, live_server

import drayman as library
from drayman import manifest, snapshots
from drayman.redaction import Redactor

if TYPE_CHECKING:
    from tests.unit.cli.conftest import CommandLine

SCENARIOS = sorted((Path(__file__).parents[3] / "e2e" / "scenarios").glob("*/input.yaml"))
ROOMY = node("node-1") + "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}\n"
CLUSTER = files(
    node("secret-node", zone="secret-zone", size="'3'"),
    slice_("secret-node").replace(
        "[{name: gpu-0}",
        "[{name: gpu-0, attributes: {uuid: {string: secret-uuid}, model: {string: a100}}}",
    ),
    device_class("secret-class"),
    allocated("secret-claim", "gpu-1", where="secret-node", pods="secret-pod"),
    claim(
        "by-uuid",
        device_class="secret-class",
        more=(
            ", selectors: [{cel: {expression: \"device.attributes['gpu.example.com'].uuid == 'secret-uuid'"
            " && device.attributes['gpu.example.com'].model == 'a100'\"}}]"
        ),
    ),
    pod(
        "secret-pod",
        "{name: own, resourceClaimName: secret-claim}",
        spec=(
            "schedulingGroup: {podGroupName: secret-group}\n  nodeName: secret-node\n"
            "  nodeSelector: {zone: secret-zone, size: '3'}"
        ),
    ),
)
CLUSTER = CLUSTER.replace("uid: secret-pod", "uid: u").replace("team-a", "secret-team")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LiveServer]:
    with live_server(tmp_path) as running:
        applied = "kubectl.kubernetes.io/last-applied-configuration"
        running.apply(*(one.object for one in manifest.parse(files(ROOMY, slice_("node-1"), device_class(), claim()))))
        running.apply(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "p", "namespace": "team-a", "annotations": {applied: "{}", "mine": "kept"}},
                "spec": {"containers": [{"name": "c", "image": "i", "env": [{"name": "PASSWORD", "value": "x"}]}]},
            }
        )
        yield running


def test_snapshot_of_a_live_cluster_stands_for_it(drayman: CommandLine, server: LiveServer) -> None:
    taken = drayman.run("snapshot", "dir", "--kubeconfig", str(server.kubeconfig))
    assert (taken.code, taken.err) == (0, "")
    assert taken.out.startswith(
        "10 objects in dir: resourceslice.json, deviceclass.json, resourceclaim.json, namespace"
    )
    marker = json.loads((drayman.folder / "dir" / snapshots.MARKER).read_text())
    assert (marker["version"], marker["redacted"], marker["objects"]["Node"]) == (1, False, 1)
    pod_ = json.loads((drayman.folder / "dir" / "pod.json").read_text())["items"][0]
    assert pod_["metadata"]["annotations"] == {"mine": "kept"}
    assert "managedFields" not in pod_["metadata"]
    assert "env" not in pod_["spec"]["containers"][0]
    assert stat.S_IMODE((drayman.folder / "dir" / "pod.json").stat().st_mode) == 0o600
    live = drayman.run("devices", "--kubeconfig", str(server.kubeconfig), "-o", "json")
    assert drayman.run("devices", "--snapshot", "dir", "-o", "json").out == live.out
    assert drayman.run("devices", "dir", "-o", "json").out == live.out
    answer = drayman.run("allocate", "dir")
    assert answer.out.splitlines()[1].split() == ["team-a/train", "node-1", "gpu", f"{GPU}/node-1/gpu-0"]
    assert library.Cluster.from_snapshot("dir").claims == ("team-a/train",)


def test_snapshot_can_be_simulated(drayman: CommandLine, server: LiveServer) -> None:
    drayman.run("snapshot", "dir", "--kubeconfig", str(server.kubeconfig))
    result = drayman.run("simulate", "dir", "-o", "json")
    assert (result.code, result.err) == (0, "")
    assert "rejected" not in json.loads(result.out)
    assert json.loads(result.out)["pods"]["team-a/p"]["node"] == "node-1"


def test_selector_is_evaluated_on_the_devices_of_a_snapshot(drayman: CommandLine, server: LiveServer) -> None:
    drayman.run("snapshot", "dir", "--kubeconfig", str(server.kubeconfig))
    result = drayman.run("cel", "true", "--device", "dir", "-o", "json")
    assert (result.code, result.err) == (0, "")
    assert [one["device"] for one in json.loads(result.out)["devices"]] == [f"{GPU}/node-1/gpu-{n}" for n in range(2)]


def test_older_snapshot_is_replaced_and_another_folder_is_not(drayman: CommandLine) -> None:
    drayman.write("all.yaml", files(slice_("node-1"), claim()))
    drayman.write("claim.yaml", claim())
    assert drayman.run("snapshot", "dir", "-f", "all.yaml").code == 0
    assert drayman.run("snapshot", "dir", "-f", "claim.yaml").out == "1 objects in dir: resourceclaim.json\n"
    assert sorted(path.name for path in (drayman.folder / "dir").iterdir()) == ["SNAPSHOT", "resourceclaim.json"]
    drayman.write("mine/notes.txt", "")
    result = drayman.run("snapshot", "mine", "-f", "claim.yaml")
    assert (result.code, result.err) == (1, "error: mine: the folder is not empty, and is no snapshot\n")


def test_redacted_snapshot_holds_no_name_and_gives_the_same_answers(drayman: CommandLine) -> None:
    drayman.write("cluster.yaml", CLUSTER)
    result = drayman.run("snapshot", "dir", "-f", "cluster.yaml", "--redact")
    assert (result.code, result.err.startswith("note: kept as they are: names of drivers")) == (0, True)
    assert "secret" not in "".join(path.read_text() for path in (drayman.folder / "dir").iterdir())
    devices = json.loads(drayman.run("devices", "dir", "-o", "json").out)["devices"]
    assert devices[1]["holders"] == [{"claim": "namespace-1/claim-1", "request": "gpu", "pods": ["pod-1"]}]
    pod_ = json.loads((drayman.folder / "dir" / "pod.json").read_text())["items"][0]
    nodes = json.loads((drayman.folder / "dir" / "node.json").read_text())["items"]
    assert nodes[0]["metadata"]["labels"] == {"zone": "value-1", "size": "3"}
    assert pod_["spec"]["nodeSelector"] == {"zone": "value-1", "size": "3"}
    assert (pod_["spec"]["nodeName"], pod_["spec"]["schedulingGroup"]) == ("node-1", {"podGroupName": "podgroup-1"})
    (allocation,) = library.Cluster.from_snapshot("dir").allocate("namespace-1/claim-2").unwrap()
    assert [result["device"] for result in allocation["devices"]["results"]] == ["gpu-0"]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: path.parent.name)
def test_redacted_claims_get_the_same_devices(scenario: Path) -> None:
    given = [manifest.check(one).object for one in manifest.load([scenario])]
    base = [
        one.object
        for one in manifest.parse(
            files(node("b-node"), node("a-node"), slice_("b-node", devices=8), slice_("a-node", devices=8))
        )
    ]
    claims = [
        {**one, "kind": "ResourceClaim", "spec": one["spec"]["spec"]} if one["kind"] == "ResourceClaimTemplate" else one
        for one in given
        if one["kind"] in ("ResourceClaim", "ResourceClaimTemplate", "DeviceClass")
    ]
    objects = [_named(one) for one in [*base, *claims]]
    assert _answers(Redactor().redact(objects)) == _answers(objects)


def _named(obj: Mapping[str, Any]) -> dict[str, Any]:
    metadata = obj["metadata"]
    return (
        {**obj, "metadata": {**metadata, "namespace": metadata.get("namespace", "default")}}
        if obj["kind"] == "ResourceClaim"
        else dict(obj)
    )


def _answers(objects: list[dict[str, Any]]) -> list[object]:
    cluster = library.Cluster.from_objects(objects)
    answers: list[object] = []
    for key in cluster.claims:
        try:
            outcome = cluster.allocate(key)
        except library.AllocationError as error:
            answers.append(type(error).__name__)
        else:
            found = outcome.allocations if isinstance(outcome, library.Allocated) else ()
            answers.append([result["device"] for one in found for result in one["devices"]["results"]])
    return answers
