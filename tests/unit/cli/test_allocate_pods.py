"""Pods some of whose claims are allocated already, or that are on a node already."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.unit.cli.manifests import GPU, claim, device_class, files, node, pod, slice_, template

if TYPE_CHECKING:
    from tests.unit.cli.conftest import CommandLine

OWN = "{name: own, resourceClaimTemplateName: one-gpu}"
SHARED = "{name: shared, resourceClaimName: shared}"


def on_node(name: str) -> str:
    return f"{{nodeSelectorTerms: [{{matchFields: [{{key: metadata.name, operator: In, values: [{name}]}}]}}]}}"


def allocated(name: str, selector: str, *, device: str = "gpu-0", pool: str = "worker-2") -> str:
    """Return a claim that is allocated on the nodes of `selector`."""
    result = f"{{request: gpu, driver: {GPU}, pool: {pool}, device: {device}}}"
    return claim(name) + f"status: {{allocation: {{devices: {{results: [{result}]}}, nodeSelector: {selector}}}}}\n"


def cluster(*nodes: str, **options: Any) -> str:
    return files(*(slice_(name, **options) for name in nodes), device_class(), template())


def nodes_of(out: str) -> list[str]:
    return [answer.get("node", "") for answer in json.loads(out)["results"]]


def test_pod_goes_where_its_allocated_claim_is(drayman: CommandLine) -> None:
    drayman.write(
        "all.yaml",
        files(cluster("worker-1", "worker-2"), allocated("shared", on_node("worker-2")), pod("p", OWN, SHARED)),
    )
    result = drayman.run("allocate", "all.yaml")
    assert (result.code, result.out) == (
        0,
        "CLAIM          NODE       REQUEST   DEVICE\n"
        "team-a/p-own   worker-2   gpu       gpu.example.com/worker-2/gpu-1\n",
    )


def test_pod_goes_where_an_earlier_pod_got_the_claim_that_they_share(drayman: CommandLine) -> None:
    drayman.write("cluster.yaml", files(cluster("worker-1"), slice_("worker-2", devices=3)))
    # The first pod needs three devices, which only the second node has; the second pod would fit on the first.
    first = pod("first", OWN, SHARED, "{name: more, resourceClaimTemplateName: one-gpu}")
    drayman.write("pods.yaml", files(claim("shared"), first, pod("second", SHARED)))
    result = drayman.run("allocate", "cluster.yaml", "pods.yaml")
    assert (result.code, result.out) == (
        0,
        "CLAIM               NODE       REQUEST   DEVICE\n"
        "team-a/first-own    worker-2   gpu       gpu.example.com/worker-2/gpu-0\n"
        "team-a/shared       worker-2   gpu       gpu.example.com/worker-2/gpu-1\n"
        "team-a/first-more   worker-2   gpu       gpu.example.com/worker-2/gpu-2\n",
    )
    drayman.write("pods.yaml", files(claim("shared"), first, pod("second", SHARED, OWN)))
    result = drayman.run("allocate", "cluster.yaml", "pods.yaml")
    assert result.code == 3
    assert result.out.splitlines()[5:] == [
        "pod team-a/second: cannot allocate all claims",
        "no allocation on node `worker-2`",
        "├─ claim `team-a/second-own`, request `gpu` needs 1 device of class `gpu.example.com`, 0 of 3 can be",
        "│  │  used",
        "│  └─ 3 devices: in use (gpu.example.com/worker-2/gpu-0, gpu-1, gpu-2)",
        "│     ├─ 1 device held by claim `team-a/first-more`",
        "│     ├─ 1 device held by claim `team-a/first-own`",
        "│     └─ 1 device held by claim `team-a/shared`",
        "└─ hint: each of these alone makes it fit:",
        "   ├─ free claim `team-a/first-more`",
        "   ├─ free claim `team-a/first-own`",
        "   └─ free claim `team-a/shared`",
    ]


def test_node_selector_of_labels_leaves_the_nodes_that_match(drayman: CommandLine) -> None:
    selector = "{nodeSelectorTerms: [{matchExpressions: [{key: rack, operator: In, values: [b]}]}]}"
    drayman.write(
        "all.yaml",
        files(
            *(node(name, rack=rack) for name, rack in (("worker-1", "a"), ("worker-2", "b"), ("worker-3", "b"))),
            cluster("worker-1", "worker-2", "worker-3", devices=1),
            allocated("shared", selector),
            pod("p", OWN, SHARED),
        ),
    )
    result = drayman.run("allocate", "all.yaml", "-o", "json")
    assert (result.code, nodes_of(result.out)) == (0, ["worker-3"])


def test_pod_that_is_on_a_node_gets_devices_there(drayman: CommandLine) -> None:
    drayman.write("all.yaml", files(cluster("worker-1", "worker-2"), pod("p", OWN, spec="nodeName: worker-2")))
    result = drayman.run("allocate", "all.yaml", "-o", "json")
    assert (result.code, nodes_of(result.out)) == (0, ["worker-2"])


def test_pod_on_another_node_than_its_claim_gets_nothing(drayman: CommandLine) -> None:
    shared = allocated("shared", on_node("worker-2"))
    drayman.write("all.yaml", files(cluster("worker-1"), shared, pod("p", OWN, SHARED, spec="nodeName: worker-1")))
    result = drayman.run("allocate", "all.yaml")
    assert (result.code, result.out) == (
        3,
        "pod team-a/p: cannot allocate all claims\n"
        "no node can be tried: claim `team-a/shared` is allocated where metadata.name In worker-2, "
        "the pod is on node `worker-1`\n",
    )
    asked = drayman.run("allocate", "all.yaml", "--node", "worker-3", "-o", "json")
    assert json.loads(asked.out)["results"] == [
        {
            "claims": ["team-a/p-own"],
            "pod": "team-a/p",
            "message": "no node can be tried: claim `team-a/shared` is allocated where metadata.name In worker-2, "
            "node `worker-3` is asked for",
        }
    ]


def test_claims_on_different_nodes_leave_none(drayman: CommandLine) -> None:
    drayman.write(
        "all.yaml",
        files(
            cluster("worker-1", "worker-2"),
            allocated("shared", on_node("worker-1"), pool="worker-1"),
            allocated("other", on_node("worker-2")),
            pod("p", OWN, SHARED, "{name: other, resourceClaimName: other}"),
        ),
    )
    result = drayman.run("allocate", "all.yaml")
    assert (result.code, result.out) == (
        3,
        "pod team-a/p: cannot allocate all claims\n"
        "no node can be tried: claim `team-a/shared` is allocated where metadata.name In worker-1, "
        "claim `team-a/other` is allocated where metadata.name In worker-2\n",
    )


def test_allocated_claim_is_shown_as_such_when_it_is_named(drayman: CommandLine) -> None:
    drayman.write("all.yaml", files(cluster("worker-2"), allocated("shared", on_node("worker-2"))))
    result = drayman.run("allocate", "all.yaml", "--claim", "team-a/shared")
    assert (result.code, result.out, result.err) == (
        0,
        "CLAIM           NODE       REQUEST   DEVICE\n"
        "team-a/shared   worker-2   gpu       gpu.example.com/worker-2/gpu-0\n",
        "note: claim team-a/shared is allocated already\n",
    )
    in_json = json.loads(drayman.run("allocate", "all.yaml", "--claim", "team-a/shared", "-o", "json").out)
    assert [answer["allocatedAlready"] for answer in in_json["results"]] == [True]


def test_allocated_claims_alone_leave_nothing_to_do(drayman: CommandLine) -> None:
    drayman.write("all.yaml", files(cluster("worker-2"), allocated("shared", on_node("worker-2"))))
    result = drayman.run("allocate", "all.yaml")
    assert (result.code, result.out) == (0, "")
    assert result.err == "note: nothing to allocate: all claims are allocated already\n"


def test_claim_that_the_cluster_made_for_a_pod_is_used(drayman: CommandLine) -> None:
    made = pod("p", OWN, status="resourceClaimStatuses: [{name: own, resourceClaimName: p-own-x7k2p}]")
    drayman.write("dump.yaml", files(slice_("worker-1"), device_class(), claim("p-own-x7k2p"), made))
    result = drayman.run("allocate", "dump.yaml")
    assert (result.code, result.out.splitlines()[1].split()[0]) == (0, "team-a/p-own-x7k2p")


def test_pods_that_have_ended_need_no_claims(drayman: CommandLine) -> None:
    drayman.write("dump.yaml", files(cluster("worker-1"), pod("p", OWN, status="phase: Succeeded")))
    result = drayman.run("allocate", "dump.yaml")
    assert (result.code, result.err) == (0, "note: nothing to allocate: there are no claims\n")


def test_made_claim_does_not_take_the_name_of_another(drayman: CommandLine) -> None:
    drayman.write("all.yaml", files(cluster("worker-1"), claim("p-own"), pod("p", OWN)))
    result = drayman.run("allocate", "all.yaml")
    assert [line.split()[0] for line in result.out.splitlines()] == ["CLAIM", "team-a/p-own", "team-a/p-own-2"]
