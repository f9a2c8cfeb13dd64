from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

import drayman

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Objects


def devices(outcome: drayman.Outcome) -> list[str]:
    assert isinstance(outcome, drayman.Allocated)
    return [
        "{driver}/{pool}/{device}".format(**result)
        for allocation in outcome.allocations
        for result in allocation["devices"]["results"]
    ]


def test_claim_gets_the_first_devices_of_the_node(objects: Objects) -> None:
    cluster = drayman.Cluster.from_objects([objects.slice("worker-1"), objects.device_class(), objects.claim("train")])
    outcome = cluster.allocate("default/train", node="worker-1")
    assert isinstance(outcome, drayman.Allocated)
    assert outcome.claims == ("default/train",)
    assert outcome.node == "worker-1"
    assert outcome.allocations == [
        {
            "devices": {
                "results": [
                    {"request": "devices", "driver": "gpu.example.com", "pool": "worker-1", "device": "gpu-0"},
                ]
            },
            "nodeSelector": {
                "nodeSelectorTerms": [
                    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["worker-1"]}]}
                ]
            },
        }
    ]


def test_first_node_in_byte_order_that_fits_is_taken(objects: Objects) -> None:
    cluster = drayman.Cluster.from_objects(
        [
            objects.slice("b"),
            objects.slice("Z", 1),
            objects.slice("a", 1),
            objects.device_class(),
            objects.claim("pair", count=2),
        ]
    )
    assert devices(cluster.allocate("default/pair")) == ["gpu.example.com/b/gpu-0", "gpu.example.com/b/gpu-1"]


def test_only_the_given_nodes_are_tried(objects: Objects) -> None:
    cluster = drayman.Cluster.from_objects(
        [*(objects.slice(node, 1) for node in "abc"), objects.device_class(), objects.claim("one")]
    )
    assert devices(cluster.allocate("default/one", node=["c", "b"])) == ["gpu.example.com/b/gpu-0"]
    refused = cluster.allocate("default/one", node=[])
    assert isinstance(refused, drayman.Unallocatable)
    assert refused.explanation.line() == "there is no node"


def test_evaluate_answers_for_every_node(objects: Objects) -> None:
    cluster = drayman.Cluster.from_objects(
        [objects.slice("small", 1), objects.slice("big"), objects.device_class(), objects.claim("pair", count=2)]
    )
    outcomes = cluster.evaluate(["default/pair"])
    assert list(outcomes) == ["big", "small"]
    assert isinstance(outcomes["big"], drayman.Allocated)
    assert isinstance(outcomes["small"], drayman.Unallocatable)
    assert list(outcomes.fitting) == ["big"]
    assert outcomes["big"] is outcomes["big"]
    with pytest.raises(KeyError):
        outcomes["absent"]


def test_node_objects_win_over_the_names_in_slices(objects: Objects) -> None:
    shared = objects.slice("shared")
    del shared["spec"]["nodeName"]
    shared["spec"]["nodeSelector"] = {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "rack", "operator": "In", "values": ["r1"]}]}]
    }
    cluster = drayman.Cluster.from_objects(
        [
            objects.node("inside", rack="r1"),
            objects.node("outside", rack="r2"),
            shared,
            objects.device_class(),
            objects.claim("train"),
        ]
    )
    outcomes = cluster.evaluate("default/train")
    assert {name: type(outcome) for name, outcome in outcomes.items()} == {
        "inside": drayman.Allocated,
        "outside": drayman.Unallocatable,
    }


def test_claims_are_allocated_together_or_not_at_all(objects: Objects) -> None:
    claims = [objects.claim("one"), objects.claim("two", count=2)]
    cluster = drayman.Cluster.from_objects([objects.slice("worker-1", 2), objects.device_class(), *claims])
    assert isinstance(cluster.allocate("default/two"), drayman.Allocated)
    assert isinstance(cluster.allocate(["default/one", "default/two"]), drayman.Unallocatable)


def test_next_snapshot_holds_the_devices_and_the_old_one_does_not(objects: Objects) -> None:
    cluster = drayman.Cluster.from_objects(
        [objects.slice("worker-1"), objects.device_class(), objects.claim("first"), objects.claim("second")]
    )
    first = cluster.allocate("default/first")
    assert isinstance(first, drayman.Allocated)
    after = cluster.with_allocation(first)
    assert devices(after.allocate("default/second")) == ["gpu.example.com/worker-1/gpu-1"]
    assert devices(cluster.allocate("default/second")) == ["gpu.example.com/worker-1/gpu-0"]
    with pytest.raises(drayman.InputError) as caught:
        after.allocate("default/first")
    assert str(caught.value) == "claim `default/first` is allocated already"


def test_allocated_claim_holds_its_devices(objects: Objects) -> None:
    holder = objects.claim("holder")
    holder["status"] = {
        "allocation": {
            "devices": {
                "results": [{"request": "r", "driver": "gpu.example.com", "pool": "worker-1", "device": "gpu-0"}]
            }
        }
    }
    cluster = drayman.Cluster.from_objects(
        [objects.slice("worker-1"), objects.device_class(), holder, objects.claim("train")]
    )
    assert devices(cluster.allocate("default/train")) == ["gpu.example.com/worker-1/gpu-1"]


def test_claim_without_namespace_is_in_the_default_one(objects: Objects) -> None:
    claim = objects.claim("train")
    del claim["metadata"]["namespace"]
    cluster = drayman.Cluster.from_objects([claim])
    assert cluster.claims == ("default/train",)


def test_lists_are_taken_apart_and_other_kinds_passed_over(objects: Objects) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
    items = [pod, objects.slice("worker-1"), objects.device_class(), objects.claim("train")]
    cluster = drayman.Cluster.from_objects([{"apiVersion": "v1", "kind": "List", "items": items}])
    assert devices(cluster.allocate("default/train")) == ["gpu.example.com/worker-1/gpu-0"]


def test_beta_objects_are_read_as_their_successors(objects: Objects) -> None:
    beta = objects.slice("worker-1")
    beta["apiVersion"] = "resource.k8s.io/v1beta1"
    beta["spec"]["devices"] = [{"name": "gpu-9", "basic": {"attributes": {"index": {"int": 9}}}}]
    claim = objects.claim("train")
    claim["apiVersion"] = "resource.k8s.io/v1beta1"
    claim["spec"]["devices"]["requests"] = [
        {
            "name": "devices",
            "deviceClassName": "gpu",
            "selectors": [{"cel": {"expression": 'device.attributes["gpu.example.com"].index == 9'}}],
        }
    ]
    cluster = drayman.Cluster.from_objects([beta, objects.device_class(), claim])
    assert devices(cluster.allocate("default/train")) == ["gpu.example.com/worker-1/gpu-9"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda slice_: slice_.pop("kind"), "kind: object has no `kind`"),
        (
            lambda slice_: slice_["spec"]["devices"][1].update(name=7),
            "ResourceSlice worker-1-gpu.example.com: spec.devices[1].name: "
            "invalid type: integer `7`, expected a string",
        ),
        (
            lambda slice_: slice_.update(kind="ResourceSlize"),
            "resource.k8s.io/v1, Kind=ResourceSlize is not a kind that the allocator reads",
        ),
        (lambda slice_: slice_["spec"].update(driver={1}), "not JSON: Object of type set is not JSON serializable"),
        (lambda slice_: slice_["spec"].update(driver=float("nan")), "not JSON: Out of range float values are not JSON"),
    ],
)
def test_object_that_cannot_be_read_is_named(objects: Objects, change: Any, message: str) -> None:
    broken = objects.slice("worker-1")
    change(broken)
    with pytest.raises(drayman.InputError) as caught:
        drayman.Cluster.from_objects([broken])
    assert str(caught.value).startswith(message)


def test_unknown_claim_is_told_with_those_that_exist(objects: Objects) -> None:
    cluster = drayman.Cluster.from_objects([objects.claim("a"), objects.claim("b", "team")])
    with pytest.raises(drayman.InputError) as caught:
        cluster.allocate("team/a")
    assert str(caught.value) == "claim `team/a` does not exist; there are: `default/a`, `team/b`"


def test_unknown_node_is_an_input_error(objects: Objects) -> None:
    cluster = drayman.Cluster.from_objects(
        [objects.node("worker-1"), objects.slice("worker-1"), objects.device_class(), objects.claim("train")]
    )
    with pytest.raises(drayman.InputError) as caught:
        cluster.allocate("default/train", node="worker-9")
    assert str(caught.value) == "node `worker-9` does not exist; there are: `worker-1`"


def test_missing_class_is_upstreams_error(objects: Objects) -> None:
    cluster = drayman.Cluster.from_objects([objects.slice("worker-1"), objects.claim("train")])
    with pytest.raises(drayman.DeviceClassNotFoundError) as caught:
        cluster.allocate("default/train")
    assert str(caught.value) == (
        "claim default/train, request devices: could not retrieve device class gpu: "
        'deviceclass.resource.k8s.io "gpu" not found'
    )
    assert caught.value.node_local is False


def test_unallocatable_unwraps_to_an_error_with_its_explanation(objects: Objects) -> None:
    cluster = drayman.Cluster.from_objects(
        [objects.slice("worker-1", 1), objects.device_class(), objects.claim("pair", count=2)]
    )
    outcome = cluster.allocate("default/pair")
    assert isinstance(outcome, drayman.Unallocatable)
    assert outcome.claims == ("default/pair",)
    assert outcome.node is None
    with pytest.raises(drayman.UnallocatableError) as caught:
        outcome.unwrap()
    assert caught.value.explanation is outcome.explanation
    assert str(caught.value) == outcome.explanation.line()


def test_objects_are_not_changed_and_answers_are_repeated(objects: Objects) -> None:
    given = [objects.slice("worker-1"), objects.device_class(), objects.claim("train", count=2)]
    before = copy.deepcopy(given)
    cluster = drayman.Cluster.from_objects(given)
    answers = [json.dumps(cluster.allocate("default/train").unwrap()) for _ in range(2)]
    assert answers[0] == answers[1]
    assert given == before


def test_change_of_an_answer_does_not_reach_the_cluster(objects: Objects) -> None:
    cluster = drayman.Cluster.from_objects([objects.slice("worker-1"), objects.device_class(), objects.claim("train")])
    cluster.allocate("default/train").unwrap()[0]["devices"]["results"].clear()
    assert devices(cluster.allocate("default/train")) == ["gpu.example.com/worker-1/gpu-0"]


def test_files_are_read_strictly_and_errors_name_file_line_and_field(tmp_path: Path) -> None:
    file = tmp_path / "claims.yaml"
    file.write_text(
        "apiVersion: resource.k8s.io/v1\n"
        "kind: ResourceClaim\n"
        "metadata: {name: train}\n"
        "spec:\n"
        "  devices:\n"
        "    requests:\n"
        "    - name: r\n"
        "      exactly: {deviceClas: gpu}\n"
    )
    with pytest.raises(drayman.InputError) as caught:
        drayman.Cluster.from_yaml(file)
    assert str(caught.value) == (
        f"{file}:8: ResourceClaim train: spec.devices.requests[0].exactly.deviceClas: unknown field"
    )


def test_cluster_from_files_answers(tmp_path: Path, objects: Objects) -> None:
    (tmp_path / "cluster.json").write_text(json.dumps([objects.slice("worker-1")][0]))
    (tmp_path / "claims.yaml").write_text(
        "\n---\n".join(json.dumps(obj) for obj in (objects.device_class(), objects.claim("train")))
    )
    cluster = drayman.Cluster.from_yaml(tmp_path / "cluster.json", tmp_path / "claims.yaml")
    assert devices(cluster.allocate("default/train")) == ["gpu.example.com/worker-1/gpu-0"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"compatibility": "1.36"}, "compatibility `1.36` is not known; known are `1.37`, `fixed`"),
        ({"kubernetes_version": "1.2"}, "Kubernetes version `1.2` is not known; known are 1.34, 1.35, 1.36, 1.37"),
        ({"features": ["DRADeviceTaint"]}, "unrecognized feature gate: DRADeviceTaint"),
    ],
)
def test_unknown_option_is_refused(options: Any, message: str) -> None:
    with pytest.raises(drayman.InputError) as caught:
        drayman.Cluster.from_objects([], **options)
    assert str(caught.value) == message
