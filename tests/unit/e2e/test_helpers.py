"""When a rollout is over, and who wrote a field: what tests of running clusters rely on."""

from __future__ import annotations

from typing import Any

import pytest
from e2e.ground import reporters, writers
from e2e.installed import unfinished

Object = dict[str, Any]


def deployment(**status: int) -> Object:
    done = {"observedGeneration": 2, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2}
    metadata = {"name": "d", "generation": 2}
    return {"kind": "Deployment", "metadata": metadata, "spec": {"replicas": 2}, "status": {**done, **status}}


def daemon_set(**status: int) -> Object:
    scheduled = {f"{which}NumberScheduled": 3 for which in ("desired", "current", "updated")}
    done = {"observedGeneration": 2, "numberAvailable": 3, **scheduled}
    return {"kind": "DaemonSet", "metadata": {"name": "d", "generation": 2}, "spec": {}, "status": {**done, **status}}


@pytest.mark.parametrize("workload", [deployment(), daemon_set()], ids=["deployment", "daemon set"])
def test_rollout_is_over_when_all_pods_are_new_and_available(workload: Object) -> None:
    assert unfinished(workload) is None


@pytest.mark.parametrize(
    ("workload", "missing"),
    [
        (deployment(observedGeneration=1), "Deployment d has changed, and its controller has not seen it"),
        (deployment(updatedReplicas=1), "Deployment d: of 2 pods 1 are updated, 2 available, 2 there"),
        (deployment(availableReplicas=0), "Deployment d: of 2 pods 2 are updated, 0 available, 2 there"),
        (deployment(replicas=3), "Deployment d: of 2 pods 2 are updated, 2 available, 3 there"),
        (daemon_set(updatedNumberScheduled=1), "DaemonSet d: of 3 pods 1 are updated, 3 available, 3 there"),
        (daemon_set(numberAvailable=2), "DaemonSet d: of 3 pods 3 are updated, 2 available, 3 there"),
        ({**daemon_set(), "status": {}}, "DaemonSet d has changed, and its controller has not seen it"),
    ],
)
def test_rollout_goes_on_until_then(workload: Object, missing: str) -> None:
    assert unfinished(workload) == missing


def test_writers_of_a_field_are_those_that_have_it() -> None:
    claim = {
        "metadata": {
            "managedFields": [
                {"manager": "controller", "fieldsV1": {"f:status": {"f:reservedFor": {}}}},
                {"manager": "scheduler", "fieldsV1": {"f:status": {"f:allocation": {"f:devices": {}}}}},
            ]
        }
    }

    assert writers(claim, path=("status", "allocation")) == {"scheduler"}
    assert writers(claim) == {"controller", "scheduler"}
    assert writers({"metadata": {}}) == set()


def test_reporters_are_told_by_object() -> None:
    def event(reason: str, about: str, **who: Any) -> Object:
        return {"reason": reason, "regarding": {"name": about}, **who}

    events = [
        event("Scheduled", "a", reportingController="drayman"),
        event("Scheduled", "b", reportingController="", deprecatedSource={"component": "old"}),
        event("Pulled", "a", reportingController="kubelet"),
    ]

    assert reporters(events, "Scheduled") == {"a": {"drayman"}, "b": {"old"}}
    assert reporters(events)["a"] == {"drayman", "kubelet"}
