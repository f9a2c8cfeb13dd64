from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import drayman

if TYPE_CHECKING:
    from .conftest import Objects


def explanation(objects: Objects, nodes: dict[str, int], count: int) -> drayman.Explanation:
    slices = [objects.slice(node, devices) for node, devices in nodes.items()]
    cluster = drayman.Cluster.from_objects([*slices, objects.device_class(), objects.claim("train", count=count)])
    outcome = cluster.allocate("default/train")
    assert isinstance(outcome, drayman.Unallocatable)
    return outcome.explanation


def test_line_is_about_the_node_that_lacks_the_fewest_devices(objects: Objects) -> None:
    assert explanation(objects, {"a": 1, "b": 3, "c": 2}, 4).line() == (
        "nearest node `b`: "
        "claim `default/train`, request `devices` needs 4 devices of class `gpu`, 3 of 3 can be used; "
        "hint: ask for at most 3 devices in request `devices` of claim `default/train`"
    )


def test_nodes_for_which_the_same_holds_are_told_together(objects: Objects) -> None:
    told = explanation(objects, {"a": 1, "b": 1, "big": 2, "c": 1, "d": 1}, 3)
    assert told.tree() == (
        "no allocation on 4 nodes: `a`, `b`, `c`, …\n"
        "├─ claim `default/train`, request `devices` needs 3 devices of class `gpu`, 1 of 1 can be used\n"
        "└─ hint: this makes it fit on `a`:\n"
        "   └─ ask for at most 1 device in request `devices` of claim `default/train`\n"
        "no allocation on node `big`\n"
        "├─ claim `default/train`, request `devices` needs 3 devices of class `gpu`, 2 of 2 can be used\n"
        "└─ hint: this makes it fit:\n"
        "   └─ ask for at most 2 devices in request `devices` of claim `default/train`"
    )
    groups = told.json()["groups"]
    assert [group["nodes"] for group in groups] == [["a", "b", "c", "d"], ["big"]]


def test_json_has_a_version_and_stable_codes(objects: Objects) -> None:
    slices = objects.slice("worker-1", 2)
    cluster = drayman.Cluster.from_objects(
        [slices, objects.device_class("gpu", 'device.driver == "other"'), objects.claim("train")]
    )
    outcome = cluster.allocate("default/train", node="worker-1")
    assert isinstance(outcome, drayman.Unallocatable)
    told = outcome.explanation.json()
    assert told["version"] == 1
    facts = told["groups"][0]["requests"][0]["facts"]
    assert [(fact["code"], fact["devices"]["count"]) for fact in facts] == [("class-selector-false", 2)]


def test_cluster_without_nodes_says_so(objects: Objects) -> None:
    told = explanation(objects, {}, 1)
    assert (told.line(), told.tree(), told.json()) == (
        "there is no node",
        "there is no node",
        {"version": 1, "compatibility": "1.37", "claims": ["default/train"], "groups": []},
    )


def test_same_input_gives_the_same_text(objects: Objects) -> None:
    texts = {explanation(objects, {"b": 1, "a": 1}, 2).tree() for _ in range(3)}
    assert len(texts) == 1


def test_error_that_is_raised_has_an_explanation(objects: Objects) -> None:
    cluster = drayman.Cluster.from_objects([objects.slice("worker-1", 1), objects.claim("train")])
    with pytest.raises(drayman.DeviceClassNotFoundError) as caught:
        cluster.allocate("default/train")
    (group,) = caught.value.explanation.json()["groups"]
    assert (group["error"]["code"], group["error"]["text"]) == ("class-missing", str(caught.value))


def test_failed_outcome_has_the_explanation_of_its_error(objects: Objects) -> None:
    cluster = drayman.Cluster.from_objects(
        [objects.slice("worker-1", 1), objects.device_class("gpu", 'device.attributes["d"].x'), objects.claim("train")],
        compatibility="fixed",
    )
    outcome = cluster.evaluate("default/train")["worker-1"]
    assert isinstance(outcome, drayman.Failed)
    assert outcome.explanation is outcome.error.explanation
    (group,) = outcome.explanation.json()["groups"]
    assert group["error"]["code"] == "selector-failed"
    assert [hint["change"] for hint in group["hints"]] == []


def test_hint_names_a_change_that_makes_it_fit(objects: Objects) -> None:
    (group,) = explanation(objects, {"a": 3}, 4).json()["groups"]
    change = {"kind": "reduce-count", "claim": "default/train", "request": "devices", "alternative": None, "count": 3}
    assert [hint["change"] for hint in group["hints"]] == [change]
    assert drayman.Cluster.from_objects(
        [objects.slice("a", 3), objects.device_class(), objects.claim("train", count=3)]
    ).allocate("default/train")
