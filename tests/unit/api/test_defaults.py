from __future__ import annotations

import copy
import datetime as dt

from drayman.api import defaults

NOW = dt.datetime(2026, 1, 1, 0, 0, 5, 900_000, tzinfo=dt.UTC)


def test_claim_asks_for_one_device_unless_it_says_otherwise():
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "spec": {
            "devices": {
                "requests": [
                    {"name": "a", "exactly": {"deviceClassName": "gpu"}},
                    {"name": "b", "exactly": {"deviceClassName": "gpu", "allocationMode": "All"}},
                    {"name": "c", "firstAvailable": [{"name": "x"}, {"name": "y", "count": 2}]},
                ]
            }
        },
    }
    assert defaults.apply(claim)["spec"]["devices"]["requests"] == [
        {"name": "a", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}},
        {"name": "b", "exactly": {"deviceClassName": "gpu", "allocationMode": "All"}},
        {
            "name": "c",
            "firstAvailable": [
                {"name": "x", "allocationMode": "ExactCount", "count": 1},
                {"name": "y", "allocationMode": "ExactCount", "count": 2},
            ],
        },
    ]


def test_taints_get_the_time_in_whole_seconds_when_it_is_known():
    rule = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceTaintRule", "spec": {"taint": {"key": "k"}}}
    assert defaults.apply(rule, NOW)["spec"]["taint"] == {"key": "k", "timeAdded": "2026-01-01T00:00:05Z"}
    assert defaults.apply(rule)["spec"]["taint"] == {"key": "k"}
    slice_ = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "spec": {"devices": [{"name": "d", "taints": [{"key": "k", "timeAdded": "2025-01-01T00:00:00Z"}]}]},
    }
    assert defaults.apply(slice_, NOW) == slice_


def test_pod_gets_what_scheduler_and_kubelet_read():
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "spec": {
            "containers": [
                {
                    "name": "c",
                    "image": "registry:5000/box:1",
                    "ports": [{"containerPort": 80}],
                    "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}},
                }
            ]
        },
    }
    assert defaults.apply(pod)["spec"] == {
        "containers": [
            {
                "name": "c",
                "image": "registry:5000/box:1",
                "imagePullPolicy": "IfNotPresent",
                "ports": [{"containerPort": 80, "protocol": "TCP"}],
                "resources": {
                    "limits": {"cpu": "1", "memory": "1Gi"},
                    "requests": {"cpu": "500m", "memory": "1Gi"},
                },
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
            }
        ],
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    }


def test_image_without_a_tag_is_always_pulled():
    def policy(image: str) -> str:
        pod = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "c", "image": image}]}}
        return defaults.apply(pod)["spec"]["containers"][0]["imagePullPolicy"]

    assert policy("box") == policy("host:1/box:latest") == "Always"
    assert policy("box:1") == policy("box@sha256:00") == "IfNotPresent"


def test_job_runs_one_pod_unless_it_says_otherwise():
    job = {"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": {"metadata": {"labels": {"a": "b"}}}}}
    applied = defaults.apply(job)
    assert applied["metadata"] == {"labels": {"a": "b"}}
    assert {name: value for name, value in applied["spec"].items() if name != "template"} == {
        "completions": 1,
        "parallelism": 1,
        "backoffLimit": 6,
        "completionMode": "NonIndexed",
        "suspend": False,
        "podReplacementPolicy": "TerminatingOrFailed",
        "manualSelector": False,
    }
    assert applied["spec"]["template"]["spec"]["restartPolicy"] == "Always"
    parallel = defaults.apply({**job, "spec": {"parallelism": 2, "template": {}}})
    assert "completions" not in parallel["spec"]


def test_deployment_rolls_over_a_quarter_at_a_time():
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": {"spec": {}}}}
    assert defaults.apply(deployment)["spec"]["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
    }
    assert defaults.apply(deployment)["spec"]["replicas"] == 1


def test_namespace_carries_its_name_as_a_label():
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}}
    assert defaults.apply(namespace) == {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "team-a", "labels": {"kubernetes.io/metadata.name": "team-a"}},
        "status": {"phase": "Active"},
    }


def test_malformed_parts_are_left_for_validation():
    for spec in (None, "x", {"containers": "x"}, {"containers": ["x"]}):
        pod = {"apiVersion": "v1", "kind": "Pod", "spec": spec}
        defaults.apply(pod)


def test_input_is_not_changed():
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "spec": {"containers": [{"name": "c", "resources": {"limits": {"a": 1}}}]},
    }
    before = copy.deepcopy(pod)
    defaults.apply(pod, NOW)
    assert pod == before
