from __future__ import annotations

from typing import Any

import pytest

from drayman.testing.state import claim_state, claim_view, event_line, pod_view

ALLOCATION: dict[str, Any] = {
    "devices": {
        "results": [
            {"driver": "d", "pool": "p/q", "device": "gpu-0", "request": "gpu", "shareID": "s"},
            {"driver": "d", "pool": "p/q", "device": "gpu-1", "request": "gpu/small", "adminAccess": True},
        ],
        "config": [{"source": "FromClass"}],
    },
    "nodeSelector": {
        "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]
    },
}
DEVICES = [
    {"device": "d/p/q/gpu-0", "request": "gpu", "share": True, "shareID": "s"},
    {"device": "d/p/q/gpu-1", "request": "gpu/small", "adminAccess": True},
]


def claim(**status: Any) -> dict[str, Any]:
    return {"metadata": {"namespace": "ns", "name": "c"}, "status": status}


@pytest.mark.parametrize(
    ("status", "deleted", "expected"),
    [
        ({}, False, "pending"),
        ({"allocation": ALLOCATION}, False, "allocated"),
        ({"allocation": ALLOCATION, "reservedFor": [{}]}, False, "allocated,reserved"),
        ({"allocation": ALLOCATION, "reservedFor": [{}]}, True, "deleted,allocated,reserved"),
        ({}, True, "deleted"),
    ],
)
def test_claim_state_is_what_kubectl_prints(status: dict[str, Any], deleted: bool, expected: str) -> None:
    obj = claim(**status)
    if deleted:
        obj["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert claim_state(obj) == expected


def test_allocated_claim_shows_devices_in_order_node_selector_and_consumers() -> None:
    reserved = [{"resource": "pods", "name": "p", "uid": "u"}]
    assert claim_view(claim(allocation=ALLOCATION, reservedFor=reserved)) == {
        "devices": DEVICES,
        "nodeSelector": "metadata.name In n1",
        "configs": 1,
        "reservedFor": ["pods/p"],
        "state": "allocated,reserved",
    }


def test_pending_claim_has_an_empty_list_of_devices() -> None:
    assert claim_view(claim()) == {"devices": [], "state": "pending"}


def test_node_selector_with_an_operator_without_values_keeps_the_blank() -> None:
    requirement = {"key": "cd.example.com/domain", "operator": "Exists"}
    allocation = {"devices": {}, "nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}}
    assert claim_view(claim(allocation=allocation))["nodeSelector"] == "cd.example.com/domain Exists "


def test_refused_pod_shows_reason_message_and_the_claims_of_its_entries() -> None:
    pod = {
        "metadata": {"namespace": "ns", "name": "p"},
        "spec": {
            "resourceClaims": [
                {"name": "shared", "resourceClaimName": "c"},
                {"name": "own", "resourceClaimTemplateName": "t"},
            ]
        },
        "status": {
            "phase": "Pending",
            "conditions": [
                {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes"}
            ],
        },
    }
    assert pod_view(pod, {"ns/c": claim(allocation=ALLOCATION)}) == {
        "phase": "Pending",
        "reason": "Unschedulable",
        "message": "0/1 nodes",
        "claims": {
            "shared": {"name": "c", "devices": DEVICES, "nodeSelector": "metadata.name In n1", "configs": 1},
            "own": {"devices": []},
        },
    }


def test_event_line_names_reason_object_and_note() -> None:
    event = {"reason": "Scheduled", "regarding": {"namespace": "ns", "name": "p"}, "note": "on n1"}
    assert event_line(event) == "Scheduled ns/p: on n1"
