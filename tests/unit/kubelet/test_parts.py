"""The kubelet's smaller parts: environment, node selectors, checkpoint."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from drayman.node_selector import matches
from drayman.testing.kubelet.checkpoint import FILE_NAME, Checkpoint, CheckpointError, ClaimState
from drayman.testing.kubelet.environment import VariableError, environment, expand
from drayman.testing.kubelet.plugins import ClaimId, Device

if TYPE_CHECKING:
    from pathlib import Path

POD = {"metadata": {"name": "p", "namespace": "ns", "uid": "u", "labels": {"app": "a"}}, "spec": {"nodeName": "n1"}}


def variable(path: str) -> dict[str, Any]:
    return {"env": [{"name": "X", "valueFrom": {"fieldRef": {"fieldPath": path}}}]}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.name", "p"),
        ("metadata.labels['app']", "a"),
        ("metadata.annotations['absent']", ""),
        ("spec.nodeName", "n1"),
        ("status.podIP", "10.0.0.1"),
    ],
)
def test_variable_from_a_field_of_the_pod(path: str, value: str) -> None:
    assert environment(POD, variable(path), host_ip="h", pod_ip="10.0.0.1")["X"] == value


def test_variable_from_an_unknown_field_is_refused() -> None:
    with pytest.raises(VariableError) as error:
        environment(POD, variable("spec.containers"), host_ip="h", pod_ip="p")
    assert str(error.value) == "unsupported fieldPath: spec.containers"


def test_references_to_variables_are_expanded() -> None:
    assert expand("$(A)-$$(A)-$(UNKNOWN)-$A", {"A": "1"}) == "1-$(A)-$(UNKNOWN)-$A"


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        ({"key": "zone", "operator": "In", "values": ["a", "b"]}, True),
        ({"key": "zone", "operator": "NotIn", "values": ["a"]}, False),
        ({"key": "rack", "operator": "NotIn", "values": ["a"]}, True),
        ({"key": "zone", "operator": "Exists"}, True),
        ({"key": "rack", "operator": "DoesNotExist"}, True),
        ({"key": "size", "operator": "Gt", "values": ["4"]}, True),
        ({"key": "size", "operator": "Lt", "values": ["4"]}, False),
        ({"key": "zone", "operator": "Gt", "values": ["4"]}, False),
    ],
)
def test_requirement_on_a_label(requirement: dict[str, Any], expected: bool) -> None:
    node = {"metadata": {"name": "n1", "labels": {"zone": "a", "size": "8"}}}
    assert matches({"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}, node) is expected


def test_one_matching_term_is_enough_and_an_empty_one_matches_nothing() -> None:
    node = {"metadata": {"name": "n1"}}
    by_name = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
    assert matches({"nodeSelectorTerms": [{}, by_name]}, node)
    assert not matches({"nodeSelectorTerms": [{}]}, node)


def test_checkpoint_is_read_as_it_was_written(tmp_path: Path) -> None:
    device = Device("pool", "gpu-0", ("gpu",), ("example.com/gpu=a",), "share")
    state = ClaimState(
        ClaimId("ns", "uid", "c"), {"pod"}, {"d": [device]}, prepared=True, exclusive=frozenset({"d/pool/gpu-0"})
    )
    checkpoint = Checkpoint(tmp_path)
    checkpoint.claims[state.key] = state
    checkpoint.save()

    [read] = Checkpoint(tmp_path).claims.values()
    assert (read.claim, read.pods, read.drivers, read.exclusive) == (
        state.claim,
        state.pods,
        state.drivers,
        state.exclusive,
    )
    assert not read.prepared


def test_corrupt_checkpoint_is_refused(tmp_path: Path) -> None:
    Checkpoint(tmp_path).save()
    path = tmp_path / FILE_NAME
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "Checksum": 1}))

    with pytest.raises(CheckpointError) as error:
        Checkpoint(tmp_path)
    assert str(error.value) == f"checkpoint `{path}` is corrupt: its checksum does not match"
