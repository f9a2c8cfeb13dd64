"""What helm makes of the charts: the stored manifests, and what `drayman manifests` makes without helm."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from hack import charts

from drayman import features
from drayman.driver import catalogue
from drayman.errors import InputError
from drayman.manifests import Driver, Release, Scheduler, scheduler
from drayman.scheduler.configuration import COMPATIBILITIES

DIGEST = "sha256:" + "0" * 64
PLAIN = charts.MANIFESTS / "plain"


@pytest.fixture(scope="module")
def helm() -> Path:
    try:
        return charts.find_helm()
    except InputError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("file", charts.PLAIN)
def test_stored_manifests_are_what_helm_makes(file: str, helm: Path) -> None:
    assert (PLAIN / file).read_text() == charts.text(helm, file), "run hack/update --manifests"


@pytest.mark.parametrize("part", ["scheduler", "driver"])
def test_helm_finds_nothing_to_complain_of(part: str, helm: Path) -> None:
    done = subprocess.run([helm, "lint", "--strict", charts.chart(part)], capture_output=True, text=True, check=False)

    assert (done.returncode, "[WARNING]" in done.stdout, "[ERROR]" in done.stdout) == (0, False, False), done.stdout


SAME = [
    (Scheduler(), {}),
    (Scheduler(replicas=0), {"replicaCount": 0}),
    (Scheduler(replicas=3), {"replicaCount": 3}),
    (Scheduler(leader_election=True), {"leaderElection": {"enabled": True}}),
    (Scheduler(replicas=2, leader_election=False), {"replicaCount": 2, "leaderElection": {"enabled": False}}),
    (Scheduler(image="registry.example:5000/team/s"), {"image": {"repository": "registry.example:5000/team/s"}}),
    (Scheduler(image="s:1.2_x"), {"image": {"repository": "s", "tag": "1.2_x"}}),
    (Scheduler(image=f"a/s@{DIGEST}"), {"image": {"repository": "a/s", "digest": DIGEST}}),
    (Scheduler(node_selector={"pool": "1", "a.b/c": ""}), {"nodeSelector": {"pool": "1", "a.b/c": ""}}),
    (Scheduler(scheduler_name="batch"), {"schedulerName": "batch"}),
    (Scheduler(scheduler_name="1"), {"schedulerName": "1"}),
    (Scheduler(compatibility="1.37"), {"compatibility": "1.37"}),
    (Scheduler(kubernetes_version="1.36"), {"kubernetesVersion": "1.36"}),
    (
        Scheduler(feature_gates={"DRADeviceTaintRules": False, "DRAAdminAccess": True}),
        {"featureGates": {"DRADeviceTaintRules": False, "DRAAdminAccess": True}},
    ),
    (Scheduler(name="drayman-scheduler-2"), {}),
    (Scheduler(name="batch", namespace="team-a", replicas=2), {"replicaCount": 2}),
    (Scheduler(name="1", namespace="2"), {}),
    (Driver(), {}),
    (Driver(name="mock", namespace="hardware"), {}),
    (Driver(name="my-drayman-driver"), {}),
    (Driver(devices=0), {"devices": 0}),
    (Driver(devices=300, image="d:2"), {"devices": 300, "image": {"repository": "d", "tag": "2"}}),
    (Driver(node_selector={"gpu": "mock"}), {"nodeSelector": {"gpu": "mock"}}),
    (Driver(kubelet_directory="/k", cdi_directory="/etc/cdi"), {"kubeletDirectory": "/k", "cdiDirectory": "/etc/cdi"}),
    (Driver(device_class=False), {"deviceClass": {"create": False}}),
    (Driver(admission_policy=False), {"admissionPolicy": {"create": False}}),
]
"""Options of `drayman manifests` and the values of the chart that say the same."""


@pytest.mark.parametrize(("release", "values"), SAME, ids=repr)
def test_options_are_the_values_of_the_chart(release: Release, values: dict[str, Any], helm: Path) -> None:
    name = release.name or release.chart
    part = release.chart.removeprefix("drayman-")
    rendered = charts.render(helm, part, values, name=name, namespace=release.namespace)

    assert _comparable(release.objects()) == _comparable(rendered)


def test_every_option_is_compared() -> None:
    changed = {type(release): set[str]() for release, _ in SAME}
    for release, _ in SAME:
        default = type(release)()
        changed[type(release)] |= {
            field.name
            for field in dataclasses.fields(release)
            if getattr(release, field.name) != getattr(default, field.name)
        }

    assert changed == {one: {field.name for field in dataclasses.fields(one)} for one in (Scheduler, Driver)}


REFUSED = [
    ("scheduler", {"replicas": 2}, "replicas"),
    ("scheduler", {"image": {"repo": "x"}}, "repo"),
    ("scheduler", {"replicaCount": -1}, "replicaCount"),
    ("scheduler", {"replicaCount": "2"}, "replicaCount"),
    ("scheduler", {"image": {"tag": 1}}, "tag"),
    ("scheduler", {"compatibility": "1.36"}, "compatibility"),
    ("scheduler", {"featureGates": {"DRADeviceTaints": "true"}}, "DRADeviceTaints"),
    ("scheduler", {"config": {"leaderElection": {"leaderElect": True}}}, "leaderElect"),
    ("scheduler", {"config": {"kind": "Pod"}}, "kind"),
    ("driver", {"device": 2}, "device"),
    ("driver", {"devices": -1}, "devices"),
    ("driver", {"driverName": "gpu.other.example"}, "driverName"),
    ("driver", {"kubeletDirectory": "var"}, "kubeletDirectory"),
    ("driver", {"nodeSelector": {"gpu": True}}, "gpu"),
]


@pytest.mark.parametrize(("part", "values", "named"), REFUSED, ids=repr)
def test_wrong_values_are_refused_by_name(part: str, values: dict[str, Any], named: str, helm: Path) -> None:
    with pytest.raises(charts.ChartError) as caught:
        charts.render(helm, part, values)

    assert "values don't meet the specifications of the schema" in str(caught.value)
    assert named in str(caught.value)


def test_configuration_is_laid_over_what_the_values_say(helm: Path) -> None:
    config = {"podMaxBackoffSeconds": 3, "profiles": [{"schedulerName": "b"}], "leaderElection": {"retryPeriod": "1s"}}
    values = {"config": config, "leaderElection": {"enabled": True}}
    rendered = charts.render(helm, "scheduler", values)
    written = yaml.safe_load(_one(rendered, "ConfigMap")["data"]["scheduler.yaml"])

    assert written["podMaxBackoffSeconds"] == 3
    assert written["profiles"] == [{"schedulerName": "b"}]
    assert written["leaderElection"] == {
        "leaderElect": True,
        "resourceLock": "leases",
        "resourceName": "drayman-scheduler",
        "resourceNamespace": "drayman-system",
        "retryPeriod": "1s",
    }


def test_pods_are_replaced_when_their_configuration_changes(helm: Path) -> None:
    first, second = (charts.render(helm, "scheduler", {"schedulerName": name}) for name in ("a", "b"))
    annotations = [
        _one(rendered, "Deployment")["spec"]["template"]["metadata"]["annotations"] for rendered in (first, second)
    ]

    assert annotations[0] != annotations[1]


def test_values_that_only_the_chart_has_reach_the_pods(helm: Path) -> None:
    toleration = {"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"}
    affinity: dict[str, Any] = {"nodeAffinity": {}}
    values = {
        "tolerations": [toleration],
        "affinity": affinity,
        "extraArgs": ["-v"],
        "imagePullSecrets": [{"name": "s"}],
        "priorityClassName": "",
        "resources": {"limits": {"cpu": "1"}},
    }
    for part, kind in (("scheduler", "Deployment"), ("driver", "DaemonSet")):
        pod = _one(charts.render(helm, part, values), kind)["spec"]["template"]["spec"]
        assert (pod["tolerations"], pod["affinity"]) == ([toleration], affinity)
        assert pod["imagePullSecrets"] == [{"name": "s"}]
        assert "priorityClassName" not in pod
        assert pod["containers"][0]["args"][-1] == "-v"
        assert pod["containers"][0]["resources"]["limits"]["cpu"] == "1"


def test_what_can_be_chosen_is_what_there_is() -> None:
    of_scheduler, of_driver = (
        json.loads((charts.chart(part) / "values.schema.json").read_text())["properties"]
        for part in ("scheduler", "driver")
    )

    assert of_driver["driverName"]["enum"] == list(catalogue.NAMES)
    assert of_driver["devices"]["maximum"] == catalogue.MOST_DEVICES
    assert of_scheduler["replicaCount"]["maximum"] == scheduler.MOST_REPLICAS
    assert of_scheduler["compatibility"]["enum"] == list(COMPATIBILITIES) == list(scheduler.COMPATIBILITIES)
    assert of_scheduler["kubernetesVersion"]["enum"] == ["", *features.KUBERNETES_VERSIONS]


@pytest.mark.parametrize("part", ["scheduler", "driver"])
def test_charts_have_the_version_of_the_project(part: str) -> None:
    import drayman

    chart = yaml.safe_load((charts.chart(part) / "Chart.yaml").read_text())

    assert (chart["version"], chart["appVersion"]) == (drayman.__version__, drayman.__version__)


@pytest.mark.parametrize("part", ["scheduler", "driver"])
def test_schema_and_values_name_the_same(part: str) -> None:
    schema = json.loads((charts.chart(part) / "values.schema.json").read_text())
    values = yaml.safe_load((charts.chart(part) / "values.yaml").read_text())

    assert values.keys() == schema["properties"].keys() - {"global"}


def _one(objects: list[Any], kind: str) -> Any:
    (found,) = (one for one in objects if one["kind"] == kind)
    return found


def _comparable(objects: list[Any]) -> list[Any]:
    """Return the objects with the configuration as an object: its text may be written in different ways."""
    return [
        {**one, "data": {key: yaml.safe_load(text) for key, text in one["data"].items()}}
        if one["kind"] == "ConfigMap"
        else one
        for one in objects
    ]
