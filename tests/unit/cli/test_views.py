"""The viewing verbs on files: whole texts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from tests.unit.cli.manifests import GPU, claim, device_class, files, node, pod, slice_

if TYPE_CHECKING:
    from tests.unit.cli.conftest import CommandLine


def allocated(
    name: str, *devices: str, pods: str = "", driver: str = GPU, where: str = "node-1", more: str = "", spec: str = ""
) -> str:
    """Return a claim that has devices of the pool of a node; `more` are members of every result."""
    reserved = ", ".join(f"{{resource: pods, name: {one}, uid: {one}}}" for one in pods.split())
    results = ", ".join(
        f"{{request: gpu, driver: {driver}, pool: {where}, device: {device}{more}}}" for device in devices
    )
    terms = f"{{matchFields: [{{key: metadata.name, operator: In, values: [{where}]}}]}}"
    return claim(name, more=spec) + (
        f"status: {{allocation: {{devices: {{results: [{results}]}}, nodeSelector: {{nodeSelectorTerms: [{terms}]}}}},"
        f" reservedFor: [{reserved}]}}\n"
    )


CLUSTER = files(
    node("node-1", zone="a"),
    node("node-2", zone="b"),
    slice_("node-1"),
    slice_("node-2"),
    device_class(),
    device_class("other", driver="other.example.com"),
    allocated("train", "gpu-0", pods="p1 p2"),
    claim("waiting"),
    pod("p1", "{name: own, resourceClaimName: train}", spec="nodeName: node-1", status="phase: Running"),
    pod(
        "p3",
        "{name: own, resourceClaimName: waiting}",
        status=(
            "phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable,"
            " message: '0/2 nodes are available: 2 cannot allocate all claims.'}]"
        ),
    ),
    pod("none"),
)


def table(*lines: str) -> str:
    return "\n".join(lines) + "\n"


@pytest.fixture
def cluster(drayman: CommandLine) -> CommandLine:
    drayman.write("cluster.yaml", CLUSTER)
    return drayman


def test_devices_say_their_state_and_who_uses_them(cluster: CommandLine) -> None:
    result = cluster.run("devices", "cluster.yaml")
    assert (result.code, result.err) == (0, "")
    assert result.out == table(
        "DEVICE                         NODE     STATE   USED BY",
        "gpu.example.com/node-1/gpu-0   node-1   used    team-a/train (p1, p2)",
        "gpu.example.com/node-1/gpu-1   node-1   free",
        "gpu.example.com/node-2/gpu-0   node-2   free",
        "gpu.example.com/node-2/gpu-1   node-2   free",
    )


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (("--state", "used"), ["node-1/gpu-0"]),
        (("--node", "node-2"), ["node-2/gpu-0", "node-2/gpu-1"]),
        (("-l", "zone in (a),!nope"), ["node-1/gpu-0", "node-1/gpu-1"]),
        (("--driver", "nope"), []),
    ],
)
def test_devices_can_be_chosen(cluster: CommandLine, options: tuple[str, ...], shown: list[str]) -> None:
    result = cluster.run("devices", "cluster.yaml", "-o", "name", *options)
    assert result.out.splitlines() == [f"device/{GPU}/{name}" for name in shown]


def test_slices_count_used_and_free_devices_by_pool(cluster: CommandLine) -> None:
    assert cluster.run("slices", "cluster.yaml").out == table(
        "SLICE                    POOL                     GENERATION   DEVICES   USED   FREE   STATE",
        "node-1-gpu.example.com   gpu.example.com/node-1   1            2         1      1      current",
        "node-2-gpu.example.com   gpu.example.com/node-2   1            2         0      2      current",
        "",
        "POOL                     NODE     DEVICES   USED   FREE   OTHER   STATE",
        "gpu.example.com/node-1   node-1   2         1      1      0       complete",
        "gpu.example.com/node-2   node-2   2         0      2      0       complete",
    )


def test_claims_say_state_devices_and_users(cluster: CommandLine) -> None:
    assert cluster.run("claims", "cluster.yaml").out == table(
        "CLAIM            STATE                NODE     DEVICES                             RESERVED FOR",
        "team-a/train     allocated,reserved   node-1   gpu: gpu.example.com/node-1/gpu-0   p1",
        "                                                                                   p2",
        "team-a/waiting   pending",
    )


def test_classes_count_what_they_select(cluster: CommandLine) -> None:
    assert cluster.run("classes", "cluster.yaml").out == table(
        "CLASS             DEVICES   USED   FREE   OTHER   PENDING CLAIMS",
        "gpu.example.com   4         1      3      0       1",
        "other             0         0      0      0       0",
    )


def test_pods_say_why_they_wait(cluster: CommandLine) -> None:
    assert cluster.run("pods", "cluster.yaml").out == table(
        "POD         NODE     PHASE     CLAIMS",
        "team-a/p1   node-1   Running   own: gpu.example.com/node-1/gpu-0",
        "team-a/p3   <none>   Pending   own: pending",
        "",
        "team-a/p3 is not scheduled: 0/2 nodes are available: 2 cannot allocate all claims.",
    )


def test_nothing_to_show_is_said(cluster: CommandLine) -> None:
    result = cluster.run("claims", "cluster.yaml", "-n", "other")
    assert (result.code, result.out, result.err) == (0, "", "note: no claims in namespace `other`\n")


@pytest.mark.parametrize("verb", ["slices", "devices", "claims", "classes", "pods"])
def test_json_and_yaml_say_the_same(cluster: CommandLine, verb: str) -> None:
    document = json.loads(cluster.run(verb, "cluster.yaml", "-o", "json").out)
    assert yaml.safe_load(cluster.run(verb, "cluster.yaml", "-o", "yaml").out) == document
    assert (document["version"], document["kubernetes"], document["compatibility"]) == (1, "1.37", "1.37")
    assert document[verb]


def test_json_of_devices_names_holders(cluster: CommandLine) -> None:
    devices = json.loads(cluster.run("devices", "cluster.yaml", "-o", "json").out)["devices"]
    assert devices[0] == {
        "device": "gpu.example.com/node-1/gpu-0",
        "node": "node-1",
        "state": "used",
        "holders": [{"claim": "team-a/train", "request": "gpu", "pods": ["p1", "p2"]}],
    }


def mig() -> str:
    """Return a card with four slots; partitions of one or two, and the whole."""

    def partition(name: str, *slots: int) -> dict[str, Any]:
        counters = {f"memory-slice-{slot}": {"value": "1"} for slot in slots}
        consumed = {"counterSet": "card", "counters": {**counters, "memory": {"value": f"{10 * len(slots)}Gi"}}}
        return {"name": name, "consumesCounters": [consumed]}

    pool = {"name": "node-1", "generation": 2, "resourceSliceCount": 2}
    sizes = {**{f"memory-slice-{slot}": {"value": "1"} for slot in range(4)}, "memory": {"value": "40Gi"}}
    devices = [partition("small-0", 0), partition("small-3", 3), partition("big-0", 0, 1), partition("all", 0, 1, 2, 3)]
    common = {"driver": "mig.example.com", "nodeName": "node-1", "pool": pool}
    specs = {
        "counters": {**common, "sharedCounters": [{"name": "card", "counters": sizes}]},
        "partitions": {**common, "devices": devices},
        "old": {**common, "pool": {**pool, "generation": 1}, "devices": [{"name": "gone"}]},
    }
    return files(
        *(
            yaml.safe_dump(
                {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec}
            )
            for name, spec in specs.items()
        )
    )


def test_slots_of_a_card_show_who_has_them(drayman: CommandLine) -> None:
    drayman.write("cluster.yaml", files(mig(), allocated("train", "big-0", "gone", driver="mig.example.com")))
    result = drayman.run("devices", "cluster.yaml")
    assert result.out == table(
        "DEVICE                           NODE     STATE     USED BY",
        "mig.example.com/node-1/small-0   node-1   blocked",
        "mig.example.com/node-1/small-3   node-1   free",
        "mig.example.com/node-1/big-0     node-1   used      team-a/train",
        "mig.example.com/node-1/all       node-1   blocked",
        "mig.example.com/node-1/gone               gone      team-a/train",
        "",
        "CARD                          SLOTS               PARTITIONS IN USE       COUNTERS",
        "mig.example.com/node-1 card   memory-slice AA..   A big-0: team-a/train   memory 20Gi of 40Gi",
    )
    document = json.loads(drayman.run("devices", "cluster.yaml", "-o", "json").out)
    (card,) = document["counterSets"]
    assert card["slots"] == {"memory-slice": ["big-0", "big-0", None, None]}
    assert card["counters"]["memory"] == {"size": "40Gi", "used": "20Gi"}
    assert document["devices"][0]["shortCounter"] == "card/memory-slice-0"


def test_outdated_slices_are_told_apart(drayman: CommandLine) -> None:
    drayman.write("cluster.yaml", mig())
    lines = drayman.run("slices", "cluster.yaml").out.splitlines()
    assert [line.split()[-1] for line in lines[1:4]] == ["current", "current", "outdated"]
    assert lines[-1].endswith("complete, 1 outdated")


def test_devices_of_a_pool_with_missing_slices_are_incomplete(drayman: CommandLine) -> None:
    drayman.write("cluster.yaml", slice_("node-1").replace("resourceSliceCount: 1", "resourceSliceCount: 2"))
    assert drayman.run("devices", "cluster.yaml", "--state", "incomplete", "-o", "name").out.count("\n") == 2
    assert drayman.run("slices", "cluster.yaml").out.endswith(" 2       1 of 2 slices\n")


TAINT_RULE = """\
apiVersion: resource.k8s.io/v1
kind: DeviceTaintRule
metadata: {name: broken}
spec: {deviceSelector: {pool: node-1, device: gpu-1}, taint: {key: broken, value: fan, effect: NoExecute}}
"""


def test_taints_of_rules_count(drayman: CommandLine) -> None:
    drayman.write("cluster.yaml", files(slice_("node-1"), TAINT_RULE))
    result = drayman.run("devices", "cluster.yaml", "-o", "wide")
    assert result.out == table(
        "DEVICE                         NODE     STATE     TAINTS",
        "gpu.example.com/node-1/gpu-0   node-1   free",
        "gpu.example.com/node-1/gpu-1   node-1   tainted   broken=fan:NoExecute",
    )


def test_shares_say_how_much_of_a_device_is_used(drayman: CommandLine) -> None:
    shared = slice_("node-1", devices=1).replace(
        "{name: gpu-0}", "{name: gpu-0, allowMultipleAllocations: true, capacity: {memory: {value: 80Gi}}}"
    )
    shares = [
        allocated(name, "gpu-0", more=f", shareID: '{uid}', consumedCapacity: {{memory: {used}}}")
        for name, uid, used in (("a", "0" * 8, "10Gi"), ("b", "1" * 8, "20Gi"))
    ]
    drayman.write("cluster.yaml", files(shared, *shares))
    assert drayman.run("devices", "cluster.yaml").out == table(
        "DEVICE                         NODE     STATE    USED BY                CAPACITY IN USE",
        "gpu.example.com/node-1/gpu-0   node-1   shared   team-a/a memory=10Gi   memory 30Gi of 80Gi",
        "                                                 team-a/b memory=20Gi",
    )


def test_administrator_leaves_the_device_free(drayman: CommandLine) -> None:
    drayman.write(
        "cluster.yaml", files(slice_("node-1", devices=1), allocated("look", "gpu-0", more=", adminAccess: true"))
    )
    assert drayman.run("devices", "cluster.yaml").out == table(
        "DEVICE                         NODE     STATE   USED BY",
        "gpu.example.com/node-1/gpu-0   node-1   free    team-a/look as administrator",
    )


def test_class_whose_selector_fails_is_said(drayman: CommandLine) -> None:
    bad = device_class("bad").replace(f"device.driver == '{GPU}'", "device.nope")
    missing = device_class("missing").replace(f"device.driver == '{GPU}'", "device.attributes['x.example.com'].y == 1")
    drayman.write("cluster.yaml", files(slice_("node-1"), bad, missing))
    classes = json.loads(drayman.run("classes", "cluster.yaml", "-o", "json").out)["classes"]
    assert "undefined field 'nope'" in classes[0]["error"]
    assert classes[1]["error"] == "fails on 2 devices: no such key: y"


def test_long_names_are_broken_to_fit_a_hundred_columns(drayman: CommandLine) -> None:
    long = "-".join(["long"] * 12)
    drayman.write("cluster.yaml", files(slice_(long, devices=1), allocated(long, "gpu-0", where=long, pods=long)))
    for verb in ("devices", "slices", "claims"):
        lines = drayman.run(verb, "cluster.yaml").out.splitlines()
        assert max(map(len, lines)) <= 100
    assert max(map(len, drayman.run("claims", "cluster.yaml", "-o", "wide").out.splitlines())) > 100


def test_label_selector_that_is_none_is_refused(cluster: CommandLine) -> None:
    result = cluster.run("claims", "cluster.yaml", "-l", "a in b")
    assert (result.code, result.err) == (
        1,
        "error: unable to parse requirement: found 'b', expected: '('\n",
    )


def test_watching_files_is_wrong_usage(cluster: CommandLine) -> None:
    result = cluster.run("claims", "cluster.yaml", "--watch")
    assert (result.code, result.err.splitlines()[-1]) == (2, "drayman claims: error: --watch is for live clusters")


@pytest.mark.parametrize(
    ("text", "left_out", "line", "message"),
    [
        (
            slice_("node-1"),
            "  driver: gpu.example.com\n",
            4,
            "ResourceSlice node-1-gpu.example.com: spec.driver: not set",
        ),
        (slice_("node-1"), "name: gpu-0", 8, "ResourceSlice node-1-gpu.example.com: spec.devices[0].name: not set"),
        (
            allocated("c", "gpu-0"),
            "pool: node-1, ",
            9,
            "ResourceClaim team-a/c: status.allocation.devices.results[0].pool: not set",
        ),
        (
            allocated("c", "gpu-0", pods="p"),
            "name: p, ",
            9,
            "ResourceClaim team-a/c: status.reservedFor[0].name: not set",
        ),
    ],
)
@pytest.mark.parametrize("verb", ["devices", "classes", "diff", "snapshot"])
def test_object_without_what_is_shown_is_refused_with_its_place(
    drayman: CommandLine, verb: str, text: str, left_out: str, line: int, message: str
) -> None:
    assert left_out in text
    drayman.write("bad.yaml", text.replace(left_out, ""))
    arguments = {"diff": ("bad.yaml", "bad.yaml"), "snapshot": ("dir", "-f", "bad.yaml")}.get(verb, ("bad.yaml",))
    result = drayman.run(verb, *arguments)
    assert (result.code, result.out, result.err) == (1, "", f"error: bad.yaml:{line}: {message}\n")


def test_what_has_no_namespace_is_not_missed_in_one(drayman: CommandLine) -> None:
    drayman.write("claim.yaml", claim())
    assert drayman.run("devices", "claim.yaml", "-n", "other").err == "note: no devices\n"
    assert drayman.run("claims", "claim.yaml", "-n", "other").err == "note: no claims in namespace `other`\n"
