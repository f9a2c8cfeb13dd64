"""The invariants on states made by hand, and the watch that checks them in a running cluster."""

from __future__ import annotations

from typing import Any

import pytest

from drayman.clock import RealClock
from drayman.kube.client import Client
from drayman.kube.resources import CLAIMS, NAMESPACES
from drayman.testing import invariants
from drayman.testing.apiserver import APIServer, InProcessTransport

Object = dict[str, Any]


def result(device: str, **extra: Any) -> Object:
    return {"request": "gpu", "driver": "gpu.example.com", "pool": "n1", "device": device, **extra}


def claim(name: str, *results: Object, pods: tuple[str, ...] = ()) -> Object:
    reserved = [{"resource": "pods", "name": pod, "uid": f"uid-{pod}"} for pod in pods]
    status: Object = {"reservedFor": reserved} if reserved else {}
    if results:
        status["allocation"] = {"devices": {"results": list(results)}}
    return {"metadata": {"namespace": "ns", "name": name}, "status": status}


def pod(name: str, *claims: str, node: str = "n1", phase: str = "Running") -> Object:
    entries = [{"name": one, "resourceClaimName": one} for one in claims]
    spec = {"resourceClaims": entries, **({"nodeName": node} if node else {})}
    return {
        "metadata": {"namespace": "ns", "name": name, "uid": f"uid-{name}"},
        "spec": spec,
        "status": {"phase": phase},
    }


def test_device_of_two_claims_is_shared() -> None:
    claims = [claim("b", result("gpu-0")), claim("a", result("gpu-0"), result("gpu-1")), claim("c", result("gpu-2"))]

    assert invariants.shared_devices(claims) == ["device gpu.example.com/n1/gpu-0 is allocated to ns/a and ns/b"]


def test_device_of_two_requests_is_shared() -> None:
    twice = claim("a", result("gpu-0"), result("gpu-0", request="other"))

    assert invariants.shared_devices([twice]) == ["device gpu.example.com/n1/gpu-0 is allocated to ns/a and ns/a"]


@pytest.mark.parametrize(
    ("second", "is_shared"),
    [
        (result("gpu-0", adminAccess=True), False),
        (result("gpu-0", pool="n2"), False),
        (result("gpu-0", driver="fpga.example.com"), False),
        (result("gpu-0", shareID="two"), True),
    ],
    ids=["for administration", "of another pool", "of another driver", "a share of what is held whole"],
)
def test_what_counts_as_shared(second: Object, is_shared: bool) -> None:
    found = invariants.shared_devices([claim("a", result("gpu-0")), claim("b", second)])

    assert bool(found) == is_shared


def test_shares_have_one_owner_each() -> None:
    one, two = (claim(name, result("gpu-0", shareID=name)) for name in ("one", "two"))
    again = claim("again", result("gpu-0", shareID="two"))

    assert invariants.shared_devices([one, two]) == []
    assert invariants.shared_devices([one, two, again]) != []


def test_claims_without_a_status_have_nothing() -> None:
    bare = {"metadata": {"namespace": "ns", "name": "bare"}}

    assert invariants.shared_devices([bare]) == []
    assert invariants.stale_reservations([bare], []) == []


def test_reservations_for_pods_that_are_gone_or_over_are_stale() -> None:
    claims = [claim("c", result("gpu-0"), pods=("running", "over", "gone"))]
    pods = [pod("running", "c"), pod("over", "c", phase="Succeeded")]

    assert invariants.stale_reservations(claims, pods) == [
        "claim ns/c is reserved for pod over, which is gone or has ended",
        "claim ns/c is reserved for pod gone, which is gone or has ended",
    ]


def test_reservations_of_others_than_pods_are_left_alone() -> None:
    group = claim("c", result("gpu-0"))
    group["status"]["reservedFor"] = [
        {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "u"}
    ]

    assert invariants.stale_reservations([group], []) == []


def test_bound_pod_has_what_it_asks_for() -> None:
    claims = [
        claim("whole", result("gpu-0"), pods=("good", "bad")),
        claim("bare", pods=("bad",)),
        claim("another", result("gpu-1"), pods=("good",)),
    ]
    pods = [
        pod("good", "whole", "another"),
        pod("bad", "whole", "bare", "another", "missing"),
        pod("waiting", "bare", node=""),
        pod("over", "missing", phase="Failed"),
    ]

    assert invariants.unfounded_pods(pods, claims) == [
        "pod ns/bad is bound to n1, and its claim bare is not allocated",
        "pod ns/bad is bound to n1, and its claim another is not reserved for it",
        "pod ns/bad is bound to n1, and its claim missing does not exist",
    ]


def test_bound_pod_whose_claim_was_not_made_has_not() -> None:
    templated = pod("p")
    templated["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "t"}]
    excused = {**templated, "status": {"phase": "Running", "resourceClaimStatuses": [{"name": "gpu"}]}}

    assert invariants.unfounded_pods([templated], []) == ["pod ns/p is bound to n1, and its claim gpu does not exist"]
    assert invariants.unfounded_pods([excused], []) == []


class Claims:
    """Claims of a fake API server, which a test allocates as it likes."""

    def __init__(self) -> None:
        self.client = Client(InProcessTransport(APIServer(clock=RealClock())))

    async def create(self, *names: str) -> None:
        await self.client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}})
        request = {"name": "gpu", "exactly": {"deviceClassName": "gpu"}}
        kind = {"apiVersion": CLAIMS.api_version, "kind": CLAIMS.kind}
        for name in names:
            metadata = {"namespace": "ns", "name": name}
            await self.client.create(
                CLAIMS, {**kind, "metadata": metadata, "spec": {"devices": {"requests": [request]}}}
            )

    async def allocate(self, name: str, device: str | None) -> None:
        stored = await self.client.get(CLAIMS, name, "ns")
        allocation = {"devices": {"results": [result(device)]}} if device else None
        status = {"allocation": allocation} if allocation else {}
        await self.client.update(CLAIMS, {**stored, "status": status}, subresource="status")


async def test_watch_sees_what_was_wrong_only_for_a_moment() -> None:
    claims = Claims()
    await claims.create("a", "b")

    async with invariants.watched(claims.client, RealClock()) as watched:
        await claims.allocate("a", "gpu-0")
        await claims.allocate("b", "gpu-0")
        await claims.allocate("b", None)
        await claims.allocate("b", "gpu-1")

    assert dict(watched.violations) == {"device gpu.example.com/n1/gpu-0 is allocated to ns/a and ns/b": 1}
    assert watched.states == 6


async def test_watch_of_claims_in_order_finds_nothing() -> None:
    claims = Claims()
    await claims.create("a", "b")

    async with invariants.watched(claims.client, RealClock()) as watched:
        await claims.allocate("a", "gpu-0")
        await claims.allocate("a", None)
        await claims.allocate("b", "gpu-0")
        await claims.client.delete(CLAIMS, "a", "ns")

    assert watched.violations == {}


async def test_error_in_the_block_is_raised_as_it_is() -> None:
    claims = Claims()

    with pytest.raises(ZeroDivisionError):
        async with invariants.watched(claims.client, RealClock()):
            _ = 1 / 0
