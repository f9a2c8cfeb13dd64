"""What the comparison with an expectation finds."""

from __future__ import annotations

from typing import Any

import pytest

from drayman.testing.compare import compare


def device(name: str, request: str = "gpu", **members: Any) -> dict[str, Any]:
    return {"device": f"gpu.example.com/n1/{name}", "request": request, **members}


def pod(*devices: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"node": "n1", "phase": "Running", "claims": {"gpu": {"devices": list(devices)}}, **members}


RUNNING = {"pods": {"a/p": pod(device("gpu-0"), device("gpu-1", "gpu/two"))}}
PENDING = {"pods": {"a/p": {"phase": "Pending", "reason": "Unschedulable", "message": "0/1 nodes: in use"}}}


@pytest.mark.parametrize(
    "expect",
    [
        {},
        {"pods": {"a/p": {"node": "n1"}}},
        {"pods": {"a/p": {"node": ["n2", "n1"], "phase": "Running"}}},
        {"pods": {"a/p": {"claims": {"gpu": {"devices": ["gpu.example.com/n1/gpu-1", "gpu.example.com/n1/gpu-0"]}}}}},
        {"pods": {"a/p": {"claims": {"gpu": {"deviceNames": ["gpu-0", "gpu-1"], "count": 2, "configs": 0}}}}},
        {"pods": {"a/p": {"claims": {"gpu": {"requests": ["gpu", "gpu/two"], "nodeSelector": None}}}}},
        {"groups": {"a/.*": {"count": 1, "phase": "Running"}}, "scheduledCount": 1},
    ],
)
def test_expected_result_has_no_deviations(expect: dict[str, Any]) -> None:
    assert compare(expect, RUNNING) == []


@pytest.mark.parametrize(
    ("expect", "deviation"),
    [
        ({"pods": {"a/q": {}}}, "a/q: no such pod (rejected: None)"),
        ({"pods": {"a/p": {"node": "n2"}}}, "a/p: node n1 instead of n2 ( )"),
        ({"pods": {"a/p": {"phase": "Succeeded"}}}, "a/p: phase Running instead of Succeeded"),
        ({"pods": {"a/p": {"claims": {"nic": {}}}}}, "a/p: claim nic missing"),
        ({"pods": {"a/p": {"claims": {"gpu": {"count": 1}}}}}, "a/p/gpu: 2 devices instead of 1"),
        (
            {"pods": {"a/p": {"claims": {"gpu": {"requests": ["gpu/two", "gpu"]}}}}},
            "a/p/gpu: requests ['gpu', 'gpu/two'] instead of ['gpu/two', 'gpu']",
        ),
        (
            {"pods": {"a/p": {"claims": {"gpu": {"anyOf": [["gpu.example.com/n1/gpu-0"]]}}}}},
            "a/p/gpu: devices ['gpu.example.com/n1/gpu-0', 'gpu.example.com/n1/gpu-1'] "
            "not in [['gpu.example.com/n1/gpu-0']]",
        ),
        (
            {"pods": {"a/p": {"claims": {"gpu": {"deviceNames": ["gpu-7"]}}}}},
            "a/p/gpu: deviceNames ['gpu-0', 'gpu-1'] instead of ['gpu-7']",
        ),
        ({"groups": {"a/p.*": {"count": 2}}}, "a/p.*: 1 pods instead of 2"),
        ({"unschedulable": {"a/p": "in use"}}, "a/p: scheduled to n1 but should be unschedulable"),
        ({"unbound": ["a/p"]}, "a/p: bound to n1"),
        ({"evicted": ["a/p"]}, "a/p: not evicted"),
        ({"scheduledCount": 2}, "1 pods scheduled instead of 2"),
        ({"claims": {"a/c": {"allocated": True}}}, "claim a/c: does not exist"),
        ({"eventsContain": ["Failed.*"]}, "no event matches 'Failed.*'"),
        ({"firstVerdict": {"a/p": "Unschedulable"}}, "a/p: no FailedScheduling event before it was scheduled"),
        ({"maxVerdictMs": {"a/p": 5}}, "a/p: verdict after None ms, should be under 5 ms"),
    ],
)
def test_deviation_is_told(expect: dict[str, Any], deviation: str) -> None:
    assert compare(expect, RUNNING) == [deviation]


@pytest.mark.parametrize(
    ("pattern", "deviations"),
    [
        ("IN USE", []),
        ("", []),
        ("taint", ["a/p: message '0/1 nodes: in use' does not mention 'taint'"]),
    ],
)
def test_message_of_an_unschedulable_pod_is_matched(pattern: str, deviations: list[str]) -> None:
    assert compare({"unschedulable": {"a/p": pattern}}, PENDING) == deviations


def test_pending_takes_a_pod_without_a_message() -> None:
    actual = {"pods": {"a/p": {"phase": "Pending"}}}

    assert compare({"unschedulable": {"a/p": "binding|pending"}}, actual) == []
    assert compare({"unschedulable": {"a/p": "binding"}}, actual) == ["a/p: message '' does not mention 'binding'"]


def test_deleted_pod_is_not_pending() -> None:
    actual = {"pods": {"a/p": {"deleted": True}}}

    assert compare({"unschedulable": {"a/p": ""}}, actual) == ["a/p: deleted, should be pending"]
    assert compare({"notEvicted": ["a/p"]}, actual) == ["a/p: evicted"]
    assert compare({"evicted": ["a/p"]}, actual) == []


def test_refusals_are_expected_or_deviations() -> None:
    actual = {"rejected": {"Pod a/p": "spec.containers: Required value"}}

    assert compare({"rejected": {"Pod a/p": "required"}}, actual) == []
    assert compare({"rejected": {"Pod a/p": "forbidden"}}, actual) == [
        "Pod a/p: rejected with 'spec.containers: Required value', expected 'forbidden'"
    ]
    assert compare({}, actual) == ["Pod a/p: unexpectedly rejected: spec.containers: Required value"]
    assert compare({"rejected": {"Pod a/q": "x"}}, {}) == ["Pod a/q: accepted, should be rejected (x)"]


def test_claims_are_compared_with_their_end() -> None:
    held = {"devices": [device("gpu-0")], "reservedFor": ["pods/p"], "state": "allocated,reserved"}
    actual = {"claims": {"a/c": held}}

    assert compare({"claims": {"a/c": {**held, "devices": ["gpu.example.com/n1/gpu-0"]}}}, actual) == []
    assert compare({"claims": {"a/c": None}}, actual) == ["claim a/c: still exists"]
    assert compare({"claims": {"a/c": {"reservedFor": []}}}, actual) == ["claim a/c: reservedFor ['pods/p']"]
    assert compare({"claims": {"a/c": {"state": "pending"}}}, actual) == [
        "claim a/c: state allocated,reserved instead of pending"
    ]


def test_device_that_two_claims_hold_is_told() -> None:
    actual = {"claims": {"a/c": {"devices": [device("gpu-0")]}, "a/d": {"devices": [device("gpu-0")]}}}

    assert compare({"uniqueDevices": True}, actual) == ["a device is allocated twice"]


def test_output_is_matched_line_by_line() -> None:
    actual = {"pods": {"a/p": pod(device("gpu-0"), logs={"main": "HOME=/root\nGPU_DEVICE_0=gpu-0\n"})}}

    assert compare({"pods": {"a/p": {"env": {"main": [r"GPU_DEVICE_\d=gpu-\d"]}}}}, actual) == []
    assert compare({"pods": {"a/p": {"env": {"main": ["GPU_DEVICE_0=gpu"]}}}}, actual) == [
        "a/p: no variable of container main matches 'GPU_DEVICE_0=gpu'"
    ]
    assert compare({"pods": {"a/p": {"logs": {"side": ["done"]}}}}, actual) == [
        "a/p: no output of container side matches 'done'"
    ]


def test_pods_that_belong_together_are_compared() -> None:
    actual = {
        "pods": {
            "a/p": pod(device("gpu-0")),
            "a/q": pod(device("gpu-0")),
            "a/r": {**pod(device("gpu-1")), "node": "n2"},
        }
    }
    labels = {"n1": {"zone": "x"}, "n2": {"zone": "y"}}
    expect = {
        "sameNode": [["a/p", "a/q"], ["a/p", "a/r"]],
        "sameDevices": [["a/p", "a/q"], ["a/p", "a/r"]],
        "sameDomain": {"label": "zone", "groups": [["a/p", "a/q"], ["a/p", "a/r"]]},
    }

    assert compare(expect, actual, node_labels=labels) == [
        "['a/p', 'a/r']: not on one node",
        "['a/p', 'a/r']: not on the same devices",
        "['a/p', 'a/r']: in different domains",
    ]
