from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from drayman.errors import APIStatusError
from drayman.kube.resources import CLAIM_TEMPLATES, CLAIMS, NODES, PODS
from drayman.testing.controllers.resourceclaim.generate import generate_name

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

FROM_TEMPLATE = {"gpu": {"resourceClaimTemplateName": "gpu"}}
FINALIZER = "resource.kubernetes.io/delete-protection"


@pytest.fixture
async def running(cluster: Any) -> AsyncIterator[Any]:
    async with cluster.controllers(names={"resourceclaim-controller"}):
        yield cluster


async def test_template_yields_a_claim_owned_by_the_pod_and_recorded_in_it(running: Any) -> None:
    await running.template(labels={"team": "a"}, annotations={"note": "b"})
    pod = await running.pod("p", FROM_TEMPLATE)
    await running.settle()

    [claim] = await running.list(CLAIMS)
    assert claim["metadata"]["name"].startswith("p-gpu-")
    assert claim["metadata"]["labels"] == {"team": "a"}
    assert claim["metadata"]["annotations"] == {"note": "b", "resource.kubernetes.io/pod-claim-name": "gpu"}
    assert claim["metadata"]["ownerReferences"] == [
        {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": pod["metadata"]["uid"], "controller": True}
    ]
    statuses = (await running.get(PODS, "p"))["status"]["resourceClaimStatuses"]
    assert statuses == [{"name": "gpu", "resourceClaimName": claim["metadata"]["name"]}]


async def test_two_entries_of_one_template_yield_two_claims_in_order_of_name(running: Any) -> None:
    await running.template()
    source = {"resourceClaimTemplateName": "gpu"}
    await running.pod("p", {"b": source, "a": source})
    await running.settle()

    statuses = (await running.get(PODS, "p"))["status"]["resourceClaimStatuses"]
    assert [status["name"] for status in statuses] == ["a", "b"]
    assert sorted(status["resourceClaimName"] for status in statuses) == sorted(await running.names(CLAIMS))


async def test_missing_template_is_told_once_in_a_series_and_healed_when_it_comes(running: Any) -> None:
    await running.pod("p", FROM_TEMPLATE)
    await running.settle()
    assert await running.events() == [
        'FailedResourceClaimCreation p: PodResourceClaim gpu: resource claim template "gpu": '
        'resourceclaimtemplate.resource.k8s.io "gpu" not found'
    ]

    await running.template()
    await running.settle()
    assert len(await running.list(CLAIMS)) == 1


async def test_claim_deleted_by_accident_is_replaced_by_a_new_one(running: Any) -> None:
    await running.template()
    await running.pod("p", FROM_TEMPLATE)
    await running.settle()
    [first] = await running.names(CLAIMS)

    await running.client.delete(CLAIMS, first, "default")
    await running.settle()

    [second] = await running.names(CLAIMS)
    assert second != first
    statuses = (await running.get(PODS, "p"))["status"]["resourceClaimStatuses"]
    assert statuses == [{"name": "gpu", "resourceClaimName": second}]


async def test_orphan_of_a_controller_that_stopped_half_way_is_adopted(cluster: Any) -> None:
    await cluster.template()
    pod = await cluster.pod("p", FROM_TEMPLATE)
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": pod["metadata"]["uid"], "controller": True}
    annotations = {"resource.kubernetes.io/pod-claim-name": "gpu"}
    await cluster.claim("orphan", ownerReferences=[owner], annotations=annotations)

    async with cluster.controllers(names={"resourceclaim-controller"}):
        await cluster.settle()

    assert await cluster.names(CLAIMS) == ["orphan"]
    statuses = (await cluster.get(PODS, "p"))["status"]["resourceClaimStatuses"]
    assert statuses == [{"name": "gpu", "resourceClaimName": "orphan"}]


async def test_finished_pod_frees_its_device_and_its_generated_claim_goes(running: Any) -> None:
    await running.template()
    pod = await running.pod("p", FROM_TEMPLATE, nodeName="n1")
    await running.settle()
    [name] = await running.names(CLAIMS)
    await running.allocate(name, pod)
    await running.phase("p", "Succeeded")
    await running.settle()

    assert await running.names(CLAIMS) == []


async def test_shared_claim_is_deallocated_after_its_last_user(running: Any) -> None:
    await running.claim("shared")
    entry = {"gpu": {"resourceClaimName": "shared"}}
    first, second = [await running.pod(name, entry, nodeName="n1") for name in ("p", "q")]
    await running.allocate("shared", first, second)
    await running.phase("p", "Succeeded")
    await running.settle()
    claim = await running.get(CLAIMS, "shared")
    assert [user["name"] for user in claim["status"]["reservedFor"]] == ["q"]
    assert claim["metadata"]["finalizers"] == [FINALIZER]

    await running.phase("q", "Failed")
    await running.settle()
    claim = await running.get(CLAIMS, "shared")
    assert claim.get("status", {}) == {}
    assert "finalizers" not in claim["metadata"]


async def test_reservation_of_a_pod_replaced_under_the_same_name_is_dropped(running: Any) -> None:
    await running.claim("shared")
    pod = await running.pod("p", {"gpu": {"resourceClaimName": "shared"}})
    stale = {"metadata": {"name": "p", "uid": "00000000-0000-0000-0000-000000000001"}}
    await running.allocate("shared", stale, pod)
    await running.settle()

    claim = await running.get(CLAIMS, "shared")
    assert [user["uid"] for user in claim["status"]["reservedFor"]] == [pod["metadata"]["uid"]]


async def test_reservation_of_an_unknown_kind_is_kept(running: Any) -> None:
    await running.claim("shared")
    await running.allocate("shared")
    claim = await running.get(CLAIMS, "shared")
    user = {"apiGroup": "example.com", "resource": "things", "name": "t", "uid": "1"}
    claim["status"]["reservedFor"] = [user]
    await running.client.update(CLAIMS, claim, subresource="status")
    await running.settle()

    assert (await running.get(CLAIMS, "shared"))["status"]["reservedFor"] == [user]


async def test_deleted_claim_without_users_loses_allocation_and_finalizer(running: Any) -> None:
    await running.claim("c")
    await running.allocate("c")
    await running.client.delete(CLAIMS, "c", "default")
    await running.settle()

    with pytest.raises(APIStatusError) as refusal:
        await running.get(CLAIMS, "c")
    assert refusal.value.reason == "NotFound"


async def test_bound_pod_without_reservation_gets_one(running: Any) -> None:
    await running.client.create(NODES, {"metadata": {"name": "n1"}})
    await running.claim("c")
    await running.allocate("c")
    pod = await running.pod("p", {"gpu": {"resourceClaimName": "c"}}, nodeName="n1")
    await running.settle()

    claim = await running.get(CLAIMS, "c")
    assert claim["status"]["reservedFor"] == [{"resource": "pods", "name": "p", "uid": pod["metadata"]["uid"]}]


async def test_template_with_a_feature_that_is_off_is_refused(cluster: Any) -> None:
    await cluster.template()
    template = {"devices": {"requests": [{"name": "gpu", "firstAvailable": [{"name": "a", "deviceClassName": "c"}]}]}}
    await cluster.client.create(
        CLAIM_TEMPLATES,
        {"metadata": {"name": "list", "namespace": "default"}, "spec": {"spec": template}},
    )
    await cluster.pod("p", {"gpu": {"resourceClaimTemplateName": "list"}})
    async with cluster.controllers(gates=frozenset()):
        await cluster.settle()

    assert await cluster.events() == [
        "FailedResourceClaimCreation p: PodResourceClaim gpu: "
        "template includes a prioritized list of subrequests, but the feature is disabled"
    ]


@pytest.mark.parametrize(
    ("pod", "entry", "expected"),
    [
        ("p", "gpu", "p-gpu-"),
        ("a" * 50, "gpu", "a" * 50 + "-gpu-"),
        ("a" * 60, "gpu", "a" * 52 + "-gp"),
        ("a" * 40, "b" * 40, "a" * 27 + "-" + "b" * 27),
    ],
)
def test_generate_name_cuts_both_parts_in_proportion(pod: str, entry: str, expected: str) -> None:
    assert generate_name(pod, entry) == expected
