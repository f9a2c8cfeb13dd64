"""What `kubectl get` prints."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from drayman.testing.apiserver.kinds import KINDS
from drayman.testing.apiserver.tables import columns
from drayman.testing.apiserver.tables.column import duration
from drayman.testing.apiserver.tables.resource import claim_state

NOW = dt.datetime(2026, 1, 1, 1, tzinfo=dt.UTC)
CREATED = "2026-01-01T00:00:00Z"


def row(kind: str, obj: dict[str, Any], *, wide: bool = False) -> dict[str, Any]:
    metadata = {"name": "x", "creationTimestamp": CREATED, **obj.pop("metadata", {})}
    found = next(row for row in KINDS if row.kind == kind)
    return {
        column.name: column.cell({"metadata": metadata, **obj}, NOW)
        for column in columns(found)
        if wide or not column.wide
    }


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-2, "<invalid>"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (185, "3m5s"),
        (3599, "59m"),
        (3 * 3600, "3h"),
        (4 * 3600 + 300, "4h5m"),
        (30 * 3600, "30h"),
        (3 * 86400, "3d"),
        (3 * 86400 + 3600, "3d1h"),
        (400 * 86400, "400d"),
        (3 * 365 * 86400, "3y"),
        (3 * 365 * 86400 + 86400, "3y1d"),
        (9 * 365 * 86400, "9y"),
    ],
)
def test_durations(seconds: int, text: str) -> None:
    assert duration(dt.timedelta(seconds=seconds)) == text


@pytest.mark.parametrize(
    ("claim", "state"),
    [
        ({"metadata": {}}, "pending"),
        ({"metadata": {}, "status": {"allocation": {}}}, "allocated"),
        ({"metadata": {}, "status": {"allocation": {}, "reservedFor": [{}]}}, "allocated,reserved"),
        ({"metadata": {"deletionTimestamp": CREATED}, "status": {"allocation": {}}}, "deleted,allocated"),
        ({"metadata": {"deletionTimestamp": CREATED}}, "deleted"),
    ],
)
def test_states_of_claims(claim: dict[str, Any], state: str) -> None:
    assert claim_state(claim) == state


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"phase": "Pending"}, ("0/1", "Pending", "0")),
        (
            {"phase": "Running", "containerStatuses": [{"ready": True, "state": {"running": {}}}]},
            ("1/1", "Running", "0"),
        ),
        (
            {"phase": "Pending", "containerStatuses": [{"state": {"waiting": {"reason": "ContainerCreating"}}}]},
            ("0/1", "ContainerCreating", "0"),
        ),
        (
            {
                "phase": "Succeeded",
                "containerStatuses": [{"state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}],
            },
            ("0/1", "Completed", "0"),
        ),
        (
            {
                "phase": "Running",
                "containerStatuses": [
                    {
                        "ready": True,
                        "restartCount": 2,
                        "state": {"running": {}},
                        "lastState": {"terminated": {"finishedAt": "2026-01-01T00:55:00Z"}},
                    }
                ],
            },
            ("1/1", "Running", "2 (5m ago)"),
        ),
        (
            {"phase": "Pending", "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]},
            ("0/1", "SchedulingGated", "0"),
        ),
        (
            {"phase": "Pending", "initContainerStatuses": [{"name": "i", "state": {"running": {}}}]},
            ("0/1", "Init:0/1", "0"),
        ),
    ],
)
def test_status_of_pods(status: dict[str, Any], expected: tuple[str, str, str]) -> None:
    spec = {"containers": [{"name": "c"}], "initContainers": [{"name": "i"}]}

    shown = row("Pod", {"spec": spec, "status": status})

    assert (shown["Ready"], shown["Status"], shown["Restarts"]) == expected


def test_pod_that_is_being_deleted_is_terminating() -> None:
    shown = row("Pod", {"metadata": {"deletionTimestamp": CREATED}, "spec": {}, "status": {"phase": "Running"}})

    assert shown["Status"] == "Terminating"


def test_wide_columns_of_a_pod() -> None:
    shown = row("Pod", {"spec": {"nodeName": "n"}, "status": {"podIPs": [{"ip": "10.0.0.1"}]}}, wide=True)

    assert list(shown) == [
        "Name",
        "Ready",
        "Status",
        "Restarts",
        "Age",
        "IP",
        "Node",
        "Nominated Node",
        "Readiness Gates",
    ]
    assert list(shown.values())[4:] == ["60m", "10.0.0.1", "n", "<none>", "<none>"]


def test_slices_and_taint_rules() -> None:
    slice_spec = {"nodeName": "n", "driver": "d", "pool": {"name": "p"}}
    taint = {"key": "k", "value": "v", "effect": "NoExecute", "timeAdded": "2026-01-01T00:59:00Z"}

    assert row("ResourceSlice", {"spec": slice_spec}) == {
        "Name": "x",
        "Node": "n",
        "Driver": "d",
        "Pool": "p",
        "Age": "60m",
    }
    assert list(row("DeviceTaintRule", {"spec": {"taint": taint}}).values()) == [
        "x",
        "k",
        "v",
        "NoExecute",
        "60s",
        "60m",
    ]


def test_nodes() -> None:
    labels = {"node-role.kubernetes.io/gpu": "", "kubernetes.io/role": "worker"}
    status = {"conditions": [{"type": "Ready", "status": "True"}], "nodeInfo": {"kubeletVersion": "v1.37.0"}}

    shown = row("Node", {"metadata": {"labels": labels}, "spec": {"unschedulable": True}, "status": status})

    assert list(shown.values()) == ["x", "Ready,SchedulingDisabled", "gpu,worker", "60m", "v1.37.0"]


def test_jobs() -> None:
    status = {
        "succeeded": 3,
        "startTime": "2026-01-01T00:00:00Z",
        "completionTime": "2026-01-01T00:00:42Z",
        "conditions": [{"type": "Complete", "status": "True"}],
    }

    shown = row("Job", {"spec": {"completions": 3}, "status": status})

    assert list(shown.values()) == ["x", "Complete", "3/3", "42s", "60m"]


def test_events() -> None:
    event = {
        "type": "Warning",
        "reason": "FailedScheduling",
        "message": " 0/1 nodes are available ",
        "involvedObject": {"kind": "Pod", "name": "p"},
        "eventTime": "2026-01-01T00:59:30.000000Z",
        "reportingComponent": "drayman",
        "reportingInstance": "drayman-0",
    }

    shown = row("Event", event, wide=True)

    assert list(shown.values()) == [
        "30s",
        "Warning",
        "FailedScheduling",
        "pod/p",
        "",
        "drayman, drayman-0",
        "0/1 nodes are available",
        "30s",
        1,
        "x",
    ]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.kind}.{kind.group}")
def test_every_kind_prints_an_object_with_nothing_in_it(kind: Any) -> None:
    obj = {"kind": kind.kind, "metadata": {"name": "x"}}

    cells = [column.cell(obj, NOW) for column in columns(kind)]

    assert "x" in cells
