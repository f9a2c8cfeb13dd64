from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.unit.cli.manifests import GPU, claim, device_class, files, node, pod, slice_, template

if TYPE_CHECKING:
    from tests.unit.cli.conftest import CommandLine

WITH = ("--with", GPU)


def test_claim_gets_the_first_devices_of_the_catalogue(drayman: CommandLine) -> None:
    drayman.write("claim.yaml", claim(more=", count: 2"))
    result = drayman.run("allocate", "claim.yaml", *WITH)
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        "CLAIM          NODE     REQUEST   DEVICE\n"
        "team-a/train   node-1   gpu       gpu.example.com/node-1/gpu-0\n"
        "                        gpu       gpu.example.com/node-1/gpu-1\n"
    )


def test_yaml_is_a_list_of_claims_with_their_status(drayman: CommandLine) -> None:
    drayman.write("claim.yaml", claim())
    result = drayman.run("allocate", "claim.yaml", *WITH, "-o", "yaml")
    assert result.code == 0
    assert (
        result.out
        == """\
apiVersion: v1
kind: List
items:
- apiVersion: resource.k8s.io/v1
  kind: ResourceClaim
  metadata:
    name: train
    namespace: team-a
  spec:
    devices:
      requests:
      - exactly:
          deviceClassName: gpu.example.com
        name: gpu
  status:
    allocation:
      devices:
        results:
        - request: gpu
          driver: gpu.example.com
          pool: node-1
          device: gpu-0
      nodeSelector:
        nodeSelectorTerms:
        - matchFields:
          - key: metadata.name
            operator: In
            values:
            - node-1
"""
    )


def test_json_has_the_allocations_and_names_the_compatibility(drayman: CommandLine) -> None:
    drayman.write("claim.yaml", claim())
    result = drayman.run("allocate", "claim.yaml", *WITH, "-o", "json", "--compatibility", "fixed")
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}]
    device = {"request": "gpu", "driver": GPU, "pool": "node-1", "device": "gpu-0"}
    assert json.loads(result.out) == {
        "version": 1,
        "kubernetes": "1.37",
        "compatibility": "fixed",
        "results": [
            {
                "claims": ["team-a/train"],
                "node": "node-1",
                "allocations": [
                    {"devices": {"results": [device]}, "nodeSelector": {"nodeSelectorTerms": terms}},
                ],
            }
        ],
    }


def test_claims_are_allocated_in_order_until_none_is_left(drayman: CommandLine) -> None:
    drayman.write("cluster.yaml", files(slice_("worker-1"), device_class()))
    drayman.write("claims.yaml", files(claim("c"), claim("a"), claim("b")))
    result = drayman.run("allocate", "cluster.yaml", "claims.yaml")
    assert (result.code, result.err) == (3, "")
    assert result.out == (
        "CLAIM      NODE       REQUEST   DEVICE\n"
        "team-a/c   worker-1   gpu       gpu.example.com/worker-1/gpu-0\n"
        "team-a/a   worker-1   gpu       gpu.example.com/worker-1/gpu-1\n"
        "\n"
        "claim team-a/b: cannot allocate all claims\n"
        "no allocation on node `worker-1`\n"
        "├─ claim `team-a/b`, request `gpu` needs 1 device of class `gpu.example.com`, 0 of 2 can be used\n"
        "│  └─ 2 devices: in use (gpu.example.com/worker-1/gpu-0, gpu-1)\n"
        "│     ├─ 1 device held by claim `team-a/a`\n"
        "│     └─ 1 device held by claim `team-a/c`\n"
        "└─ hint: each of these alone makes it fit:\n"
        "   ├─ free claim `team-a/a`\n"
        "   └─ free claim `team-a/c`\n"
    )


FAILING = (
    "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: wrong, namespace: team-a}\n"
    "spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com,"
    " selectors: [{cel: {expression: 'device.attributes[\"a\"].b == 1'}}]}}]}}\n"
)
FAILURE = (
    "claims.yaml:1: ResourceClaim team-a/wrong: claim team-a/wrong: selector #0 on device"
    " gpu.example.com/node-1/gpu-0: CEL runtime error: no such key: b. consider using CEL optional chaining (.?"
    " followed by orValue()) or guarding the check with has() for optional fields"
)


def test_claim_that_ends_in_an_error_does_not_hide_the_others(drayman: CommandLine) -> None:
    drayman.write("claims.yaml", f"{FAILING}---\n{files(claim('good'))}")
    result = drayman.run("allocate", "claims.yaml", *WITH)
    assert (result.code, result.err) == (1, f"error: {FAILURE}\n")
    assert result.out == (
        "CLAIM         NODE     REQUEST   DEVICE\nteam-a/good   node-1   gpu       gpu.example.com/node-1/gpu-0\n"
    )


def test_claim_that_ends_in_an_error_says_so_in_json_and_is_left_out_of_yaml(drayman: CommandLine) -> None:
    drayman.write("claims.yaml", f"{FAILING}---\n{files(claim('good'))}")
    result = drayman.run("allocate", "claims.yaml", *WITH, "-o", "json")
    wrong, good = json.loads(result.out)["results"]
    assert wrong == {"claims": ["team-a/wrong"], "error": FAILURE}
    assert good["node"] == "node-1"
    result = drayman.run("allocate", "claims.yaml", *WITH, "-o", "yaml")
    assert (result.code, result.err) == (1, f"error: {FAILURE}\n")
    assert ("name: good" in result.out, "name: wrong" in result.out) == (True, False)


def test_explanation_in_json_has_the_facts(drayman: CommandLine) -> None:
    drayman.write("claim.yaml", claim(more=", count: 9"))
    result = drayman.run("allocate", "claim.yaml", *WITH, "-o", "json")
    assert result.code == 3
    (answer,) = json.loads(result.out)["results"]
    assert answer["claims"] == ["team-a/train"]
    assert answer["explanation"]["version"] == 1
    assert [group["nodes"] for group in answer["explanation"]["groups"]] == [["node-1"]]


def test_named_node_is_the_only_one_that_is_tried(drayman: CommandLine) -> None:
    drayman.write("all.yaml", files(slice_("worker-1"), slice_("worker-2"), device_class(), claim()))
    result = drayman.run("allocate", "all.yaml", "--node", "worker-2", "-o", "json")
    (answer,) = json.loads(result.out)["results"]
    assert answer["node"] == "worker-2"


def test_node_that_is_not_among_the_nodes_is_refused(drayman: CommandLine) -> None:
    drayman.write("all.yaml", files(node("worker-1"), slice_("worker-1"), device_class(), claim()))
    result = drayman.run("allocate", "all.yaml", "--node", "worker-2")
    assert (result.code, result.err) == (1, "error: node `worker-2` does not exist; there are: `worker-1`\n")


def test_named_claims_are_the_only_ones_that_are_allocated(drayman: CommandLine) -> None:
    drayman.write("claims.yaml", files(claim("a"), claim("b"), claim("c", namespace="default")))
    result = drayman.run("allocate", "claims.yaml", *WITH, "--claim", "c", "--claim", "team-a/b")
    assert result.out == (
        "CLAIM       NODE     REQUEST   DEVICE\n"
        "team-a/b    node-1   gpu       gpu.example.com/node-1/gpu-0\n"
        "default/c   node-1   gpu       gpu.example.com/node-1/gpu-1\n"
    )


def test_named_claim_that_is_not_there_is_refused_with_those_that_are(drayman: CommandLine) -> None:
    drayman.write("claims.yaml", files(claim("a"), claim("b")))
    result = drayman.run("allocate", "claims.yaml", *WITH, "--claim", "c")
    assert result.code == 1
    assert result.err == "error: claim `default/c` is not in the given files; there are: `team-a/a`, `team-a/b`\n"


def test_claims_of_a_pod_are_made_from_its_templates(drayman: CommandLine) -> None:
    drayman.write(
        "pod.yaml",
        files(
            template(),
            claim(),
            pod("p", "{name: own, resourceClaimTemplateName: one-gpu}", "{name: shared, resourceClaimName: train}"),
        ),
    )
    result = drayman.run("allocate", "pod.yaml", *WITH)
    assert result.out == (
        "CLAIM          NODE     REQUEST   DEVICE\n"
        "team-a/p-own   node-1   gpu       gpu.example.com/node-1/gpu-0\n"
        "team-a/train   node-1   gpu       gpu.example.com/node-1/gpu-1\n"
    )


def test_standard_input_and_filename_option_are_read(drayman: CommandLine) -> None:
    drayman.write("class.yaml", device_class())
    drayman.write("slice.yaml", slice_("worker-1"))
    result = drayman.run("allocate", "class.yaml", "-", "-f", "slice.yaml", stdin=claim().encode())
    assert (result.code, result.err) == (0, "")
    assert "gpu.example.com/worker-1/gpu-0" in result.out


def test_folder_and_pattern_stand_for_their_files(drayman: CommandLine) -> None:
    drayman.write("cluster/class.yml", device_class())
    drayman.write("cluster/slice.yaml", slice_("worker-1"))
    drayman.write("cluster/README.md", "not a manifest")
    drayman.write("claim-1.yaml", claim("a"))
    drayman.write("claim-2.yaml", claim("b"))
    result = drayman.run("allocate", "cluster", "claim-*.yaml")
    assert (result.code, [line.split()[0] for line in result.out.splitlines()]) == (
        0,
        ["CLAIM", "team-a/a", "team-a/b"],
    )


def test_context_may_be_a_file(drayman: CommandLine) -> None:
    drayman.write("cluster.yaml", files(slice_("worker-1"), device_class()))
    drayman.write("claim.yaml", claim())
    result = drayman.run("allocate", "claim.yaml", "--with", "cluster.yaml")
    assert "gpu.example.com/worker-1/gpu-0" in result.out


def test_kinds_that_are_not_used_are_skipped_with_one_note(drayman: CommandLine) -> None:
    others = [f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: x}}\n" for kind in ("Service", "ConfigMap", "Service")]
    drayman.write("all.yaml", files(*others, claim()))
    result = drayman.run("allocate", "all.yaml", *WITH)
    assert (result.code, result.err) == (0, "note: `allocate` does not use ConfigMap, Service: skipped\n")


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_older_versions_of_the_api_are_accepted(drayman: CommandLine, version: str) -> None:
    text = claim().replace("resource.k8s.io/v1", f"resource.k8s.io/{version}")
    if version == "v1beta1":
        text = text.replace("exactly: {deviceClassName: gpu.example.com}", "deviceClassName: gpu.example.com")
    drayman.write("claim.yaml", text)
    assert drayman.run("allocate", "claim.yaml", *WITH).code == 0


def test_nothing_to_allocate_is_said(drayman: CommandLine) -> None:
    drayman.write("cluster.yaml", files(slice_("worker-1"), device_class()))
    result = drayman.run("allocate", "cluster.yaml")
    assert (result.code, result.out, result.err) == (0, "", "note: nothing to allocate: there are no claims\n")
