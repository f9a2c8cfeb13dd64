"""What a pod that is not scheduled says, in its condition and in an event, to the letter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from drayman import scheduler
from drayman.kube.resources import NODES, PODS

if TYPE_CHECKING:
    from conftest import Cluster

LIKE_UPSTREAM = scheduler.Configuration(serve_all=True, compatibility="1.37")

NOT_HELPFUL = "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."


async def test_claim_that_fits_nowhere_under_upstream_compatibility(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node(devices=1)
    await cluster.claim("c", count=2)
    await cluster.pod("p", "c")

    async with cluster.scheduler(LIKE_UPSTREAM):
        await cluster.settle()

    message = f"0/1 nodes are available: 1 cannot allocate all claims. {NOT_HELPFUL}"
    assert await cluster.verdict("p") == ("Unschedulable", message)
    assert await cluster.events("p") == [f"FailedScheduling: {message}"]


async def test_explanation_follows_upstreams_text(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node(devices=1)
    await cluster.claim("c", count=2)
    await cluster.pod("p", "c")

    async with cluster.scheduler():
        await cluster.settle()

    reason, message = await cluster.verdict("p")
    upstream, _, line = message.partition(" drayman: ")
    assert reason == "Unschedulable"
    assert upstream == f"0/1 nodes are available: 1 cannot allocate all claims. {NOT_HELPFUL}"
    assert line
    assert await cluster.events("p") == [f"FailedScheduling: {message}"]


async def test_claim_that_is_allocated_for_other_nodes_is_named(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node("n1", devices=1)
    await cluster.node("n2", unschedulable=True)
    await cluster.claim("c")
    await cluster.pod("first", "c")

    async with cluster.scheduler():
        await cluster.settle()
        await cluster.client.patch(NODES, "n1", None, {"spec": {"unschedulable": True}})
        await cluster.client.patch(NODES, "n2", None, {"spec": {"unschedulable": None}})
        await cluster.pod("p", "c")
        await cluster.settle()

    _, message = await cluster.verdict("p")
    assert message.partition(" drayman: ")[2] == (
        "claim `default/c` is allocated already, for nodes where `metadata.name` is `n1`"
    )


async def test_missing_device_class_is_named(cluster: Cluster) -> None:
    await cluster.node(devices=1)
    await cluster.claim("c")
    await cluster.pod("p", "c")

    async with cluster.scheduler():
        await cluster.settle()

    message = f"0/1 nodes are available: request gpu: device class gpu.example.com does not exist. {NOT_HELPFUL}"
    assert await cluster.verdict("p") == ("Unschedulable", message)


async def test_reasons_of_different_nodes_are_counted(cluster: Cluster) -> None:
    await cluster.node("full")
    await cluster.node("small")
    await cluster.node("cordoned", unschedulable=True)
    await cluster.node("tainted", taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}])
    await cluster.node("labelled")
    affinity = {"key": "kubernetes.io/hostname", "operator": "NotIn", "values": ["labelled"]}
    await cluster.client.patch(
        NODES, "labelled", None, {"metadata": {"labels": {"kubernetes.io/hostname": "labelled"}}}
    )
    await cluster.pod("resident", nodeName="full", requests={"cpu": "3"})
    await cluster.pod(
        "p",
        requests={"cpu": "4", "memory": "9Gi"},
        affinity={
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [affinity]}]
                }
            }
        },
    )

    async with cluster.scheduler():
        await cluster.settle()

    assert await cluster.verdict("p") == (
        "Unschedulable",
        "0/5 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector, "
        "1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 Insufficient memory. "
        "preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling.",
    )


async def test_lack_of_room_that_no_preemption_could_make(cluster: Cluster) -> None:
    await cluster.node("n1")
    await cluster.pod("resident", nodeName="n1", requests={"cpu": "3"})
    await cluster.pod("p", requests={"cpu": "2"})

    async with cluster.scheduler():
        await cluster.settle()

    assert await cluster.verdict("p") == (
        "Unschedulable",
        "0/1 nodes are available: 1 Insufficient cpu. "
        "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
    )


async def test_cluster_without_nodes(cluster: Cluster) -> None:
    await cluster.pod("p")

    async with cluster.scheduler():
        await cluster.settle()

    assert await cluster.verdict("p") == ("Unschedulable", "no nodes available to schedule pods")


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        (
            {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]},
            "spec.volumes[0].persistentVolumeClaim",
        ),
        (
            {
                "topologySpreadConstraints": [
                    {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
                ]
            },
            "spec.topologySpreadConstraints",
        ),
        (
            {
                "affinity": {
                    "podAntiAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", "labelSelector": {}}]
                    }
                }
            },
            "spec.affinity.podAntiAffinity",
        ),
    ],
)
async def test_unsupported_field_is_refused_by_name(cluster: Cluster, spec: dict[str, Any], field: str) -> None:
    await cluster.node()
    await cluster.pod("p", **spec)

    async with cluster.scheduler():
        await cluster.settle()

    message = f"0/1 nodes are available: `{field}`: not supported by drayman. {NOT_HELPFUL}"
    assert await cluster.verdict("p") == ("Unschedulable", message)


async def test_missing_claim_is_reported_at_once(cluster: Cluster) -> None:
    await cluster.node()
    await cluster.pod("p", "nowhere")

    async with cluster.scheduler():
        await cluster.settle(5)

    message = 'could not find ResourceClaim "default/nowhere"'
    assert await cluster.verdict("p") == ("ResourceClaimNotFound", message)
    assert await cluster.events("p") == [f"FailedScheduling: {message}"]


async def test_missing_claim_of_a_template_is_reported_after_ten_seconds(cluster: Cluster) -> None:
    await cluster.node()
    await cluster.pod("p", resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "t"}])

    async with cluster.scheduler():
        await cluster.clock.advance(9)
        assert await cluster.events("p") == []
        await cluster.clock.advance(2)

    message = 'pod "default/p": ResourceClaim not created yet'
    assert await cluster.verdict("p") == ("ResourceClaimNotFound", message)


async def test_scheduler_that_was_stopped_says_nothing_of_a_missing_claim_later(cluster: Cluster) -> None:
    await cluster.node()
    await cluster.pod("p", "nowhere")

    async with cluster.scheduler():
        await cluster.settle(0)
    await cluster.settle()

    assert await cluster.events("p") == []


async def test_missing_claim_is_passed_over_in_silence_under_upstream_compatibility(cluster: Cluster) -> None:
    await cluster.node()
    await cluster.pod("p", "nowhere")

    async with cluster.scheduler(LIKE_UPSTREAM):
        await cluster.settle()

    assert await cluster.events("p") == []
    assert "conditions" not in (await cluster.get(PODS, "p"))["status"]


async def test_claim_that_two_entries_name_is_two_claims_under_upstream_compatibility(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node(devices=1)
    await cluster.claim("c")
    await cluster.pod("p", resourceClaims=[{"name": name, "resourceClaimName": "c"} for name in ("first", "second")])

    async with cluster.scheduler(LIKE_UPSTREAM):
        await cluster.settle()

    assert await cluster.verdict("p") == (
        "Unschedulable",
        f"0/1 nodes are available: 1 cannot allocate all claims. {NOT_HELPFUL}",
    )


async def test_claim_that_is_shared_by_as_many_pods_as_can_be(cluster: Cluster) -> None:
    await cluster.device_class()
    await cluster.node(devices=1)
    await cluster.claim("c")
    others = [{"metadata": {"name": f"p{index}", "uid": f"uid-{index}"}} for index in range(256)]
    await cluster.allocate("c", *others)
    await cluster.pod("p", "c")

    async with cluster.scheduler():
        await cluster.settle()

    assert await cluster.verdict("p") == (
        "Unschedulable",
        "0/1 nodes are available: resource claim default/c is in use: at most 256 pods can share a claim. "
        f"{NOT_HELPFUL}",
    )


async def test_pods_of_other_schedulers_are_left_alone(cluster: Cluster) -> None:
    await cluster.node()
    await cluster.pod("theirs")
    await cluster.pod("ours", schedulerName="drayman")

    async with cluster.scheduler(scheduler.Configuration()):
        await cluster.settle()

    assert await cluster.node_of("theirs") is None
    assert await cluster.node_of("ours") == "n1"


async def test_same_verdict_is_written_once(cluster: Cluster) -> None:
    await cluster.pod("p")

    async with cluster.scheduler():
        await cluster.settle()
        await cluster.settle()

    assert cluster.transport.writes == ["PATCH pods/p/status 200"]
