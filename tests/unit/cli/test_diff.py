from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.unit.cli.manifests import claim, files, slice_
from tests.unit.cli.test_views import TAINT_RULE, allocated
from tests.unit.servers import live_server

from drayman import manifest

if TYPE_CHECKING:
    from tests.unit.cli.conftest import CommandLine

BEFORE = files(
    slice_("node-1").replace("{name: gpu-0}", "{name: gpu-0, attributes: {model: {string: a}}}"),
    slice_("node-2", devices=1),
    claim("pending"),
    claim("gone"),
    allocated("freed", "gpu-0"),
    allocated("moved", "gpu-0", pods="p"),
    allocated("same", "gpu-1"),
)
AFTER = files(
    slice_("node-1", devices=3).replace("{name: gpu-0}", "{name: gpu-0, attributes: {model: {string: b}}}"),
    TAINT_RULE,
    allocated("pending", "gpu-0"),
    claim("freed"),
    allocated("moved", "gpu-1"),
    allocated("same", "gpu-1"),
    claim("new"),
)
CHANGES = """\
~ device gpu.example.com/node-1/gpu-0: changed
    attribute model: a → b
~ device gpu.example.com/node-1/gpu-1: changed
    taint broken:NoExecute: <none> → fan
+ device gpu.example.com/node-1/gpu-2: added
- device gpu.example.com/node-2/gpu-0: removed
~ claim team-a/freed: freed
    state: allocated → pending
    devices: gpu: gpu.example.com/node-1/gpu-0 → <none>
- claim team-a/gone: removed
    state: pending → <none>
~ claim team-a/moved: moved
    state: allocated,reserved → allocated
    devices: gpu: gpu.example.com/node-1/gpu-0 → gpu: gpu.example.com/node-1/gpu-1
    reservedFor: pods/p → <none>
+ claim team-a/new: added
    state: <none> → pending
~ claim team-a/pending: allocated
    state: pending → allocated
    devices: <none> → gpu: gpu.example.com/node-1/gpu-0
"""


def test_changes_of_devices_and_claims_are_told(drayman: CommandLine) -> None:
    drayman.write("before.yaml", BEFORE)
    drayman.write("after.yaml", AFTER)
    result = drayman.run("diff", "before.yaml", "after.yaml")
    assert (result.code, result.out, result.err) == (3, CHANGES, "")


def test_equal_states_do_not_differ(drayman: CommandLine) -> None:
    drayman.write("before.yaml", BEFORE)
    drayman.run("snapshot", "dir", "-f", "before.yaml")
    result = drayman.run("diff", "before.yaml", "dir")
    assert (result.code, result.out) == (0, "no device and no claim has changed\n")


def test_json_has_both_sides(drayman: CommandLine) -> None:
    drayman.write("before.yaml", claim("one"))
    drayman.write("after.yaml", files(allocated("one", "gpu-0"), claim("two", namespace="other")))
    result = drayman.run("diff", "before.yaml", "after.yaml", "-o", "json", "-n", "team-a")
    assert result.code == 3
    assert json.loads(result.out) == {
        "version": 1,
        "kubernetes": "1.37",
        "compatibility": "1.37",
        "devices": [],
        "claims": [
            {
                "claim": "team-a/one",
                "change": "allocated",
                "fields": {
                    "state": {"before": "pending", "after": "allocated"},
                    "devices": {"before": None, "after": ["gpu: gpu.example.com/node-1/gpu-0"]},
                },
            }
        ],
    }


def test_snapshot_is_compared_with_the_live_cluster(drayman: CommandLine) -> None:
    with live_server(drayman.folder) as server:
        kubeconfig = ("--kubeconfig", str(server.kubeconfig))
        server.apply(*(one.object for one in manifest.parse(files(slice_("node-1"), claim()))))
        drayman.run("snapshot", "dir", *kubeconfig)
        assert drayman.run("diff", "dir", *kubeconfig).code == 0
        server.delete("resourceclaims", "team-a/train")
        result = drayman.run("diff", "dir", *kubeconfig)
    assert (result.code, result.out.splitlines()[0]) == (3, "- claim team-a/train: removed")
