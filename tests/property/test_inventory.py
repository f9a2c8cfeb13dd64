"""An inventory that was fed objects, and changes of them, answers for all nodes at once as upstream does for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hack.oracle.client import expectation
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.conformance.allocation import Case, described, failure
from tests.property.strategies import cases
from tests.property.support import agree, comparison
from tests.property.test_allocator import SEARCH_LIMIT

import drayman

if TYPE_CHECKING:
    from hack.oracle.client import Oracle
    from tests.property.inventories import Object

SHARING = "DRAConsumableCapacity"


@st.composite
def clusters(draw: st.DrawFn) -> tuple[Case, list[Object]]:
    """Draw a case for three nodes, and its objects in the order in which an inventory hears of them."""
    case = draw(cases())
    case["nodes"] = [case.pop("node"), node("node-2", zone="b", rack="r1"), node("node-3")]
    if SHARING not in case["features"]:
        case["allocated"] = {"devices": sorted(held_devices(case["allocated"]))}
    case["slices"] = draw(st.permutations(case["slices"]))
    others = [*case["classes"], *case["nodes"], *holders(case["allocated"])]
    return case, [*draw(st.permutations(others)), *case["slices"]] if draw(st.booleans()) else [
        *case["slices"],
        *others,
    ]


@comparison()
@given(cluster=clusters())
def test_all_nodes_are_answered_as_upstream(oracle: Oracle, cluster: tuple[Case, list[Object]]) -> None:
    case, objects = cluster
    answers = oracle.allocate({**case, "limit": SEARCH_LIMIT})["nodes"]
    assume(not any(answer.get("interrupted") for answer in answers.values()))
    upstream = {name: expectation(answer) for name, answer in answers.items()}
    fatal = [answer for answer in upstream.values() if "error" in answer and not answer["error"]["nodeLocal"]]
    drayman = evaluated(case, objects)
    if fatal and drayman in fatal:
        return
    agree("inventory", case, drayman, fatal[0] if fatal else upstream)


def evaluated(case: Case, objects: list[Object]) -> dict[str, Any]:
    """Return the answers by node, or the error that ends the attempt."""
    inventory = drayman.Inventory(features=case["features"])
    for obj in objects:
        inventory.apply(earlier(obj))
    answers(inventory, case)  # what is kept of this must not show later
    for obj in objects:
        inventory.apply(obj)
    return answers(inventory, case)


def answers(inventory: drayman.Inventory, case: Case) -> dict[str, Any]:
    try:
        outcomes = inventory.evaluate(case["claims"], [node["metadata"]["name"] for node in case["nodes"]])
    except drayman.AllocationError as error:
        return failure(error)
    return {name: described(outcome) for name, outcome in outcomes.items()}


def earlier(obj: Object) -> Object:
    """Return an object as it may have been before: no labels, devices, selectors or allocation."""
    if obj["kind"] == "ResourceSlice":
        return {**obj, "spec": {**obj["spec"], "devices": []}}
    if obj["kind"] == "Node":
        return {**obj, "metadata": {"name": obj["metadata"]["name"]}}
    return {**obj, "status": {}} if obj["kind"] == "ResourceClaim" else {**obj, "spec": {}}


def node(name: str, **labels: str) -> Object:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def held_devices(state: Object) -> set[str]:
    """Return what is allocated where shares do not count as such."""
    return {*state["devices"], *("{driver}/{pool}/{device}".format(**share) for share in state["shared"])}


def holders(state: Object) -> list[Object]:
    """Return claims that hold what `state` says, one for each device."""
    results = []
    for name in state["devices"]:
        driver, pool, device = name.split("/")
        results.append({"driver": driver, "pool": pool, "device": device})
    for share in state.get("shared", ()):
        consumed = state["consumedCapacity"].get("{driver}/{pool}/{device}".format(**share))
        results.append({**share, **({"consumedCapacity": consumed} if consumed else {})})
    return [holder(f"holder-{index}", result) for index, result in enumerate(results)]


def holder(name: str, result: Object) -> Object:
    request = {"name": "held", "exactly": {"deviceClassName": "any"}}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"namespace": "default", "name": name},
        "spec": {"devices": {"requests": [request]}},
        "status": {"allocation": {"devices": {"results": [{"request": "held", **result}]}}},
    }
