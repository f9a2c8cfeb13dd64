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
from drayman.manifests import Driver, Release, Scheduler, driver, scheduler
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
    (Driver(kubelet_directory="/home/me/.k0s/a..b@1~+"), {"kubeletDirectory": "/home/me/.k0s/a..b@1~+"}),
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


FOLDERS = [
    *("var/lib", "/", "/k/", "//k", "/k:ro", "/a/../b", "/..", "/a/./b"),
    *("/k\n", "/k\n- --devices=1", "/k\t", "/k\x7f", "/k #", "/$(NODE_NAME)", '/"k'),
]
"""What neither the charts nor `drayman manifests` take for a folder of the nodes."""

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
    ("scheduler", {"featureGates": {"A=true,B": True}}, "A=true,B"),
    ("scheduler", {"featureGates": {"A\n        - --v": True}}, "- --v"),
    ("scheduler", {"featureGates": {"A\n": True}}, "A"),
    ("scheduler", {"schedulerName": "a\n"}, "schedulerName"),
    ("scheduler", {"image": {"tag": "1\n"}}, "tag"),
    ("driver", {"admissionPolicy": {"create": None}}, "create"),
    *(("driver", {"kubeletDirectory": folder}, "kubeletDirectory") for folder in FOLDERS),
    ("driver", {"nodeSelector": {"gpu": True}}, "gpu"),
]


@pytest.mark.parametrize(("part", "values", "named"), REFUSED, ids=repr)
def test_wrong_values_are_refused_by_name(part: str, values: dict[str, Any], named: str, helm: Path) -> None:
    with pytest.raises(charts.ChartError) as caught:
        charts.render(helm, part, values)

    assert "values don't meet the specifications of the schema" in str(caught.value)
    assert named in str(caught.value)


@pytest.mark.parametrize("folder", FOLDERS, ids=repr)
def test_folders_that_the_chart_refuses_are_refused_without_helm(folder: str) -> None:
    with pytest.raises(InputError, match="kubelet directory"):
        Driver(kubelet_directory=folder)
    with pytest.raises(InputError, match="cdi directory"):
        Driver(cdi_directory=folder)


NEEDED = [
    *(("scheduler", name) for name in ("image", "replicaCount", "leaderElection", "schedulerName")),
    *(("scheduler", name) for name in ("compatibility", "config", "image.repository", "image.pullPolicy")),
    *(("driver", name) for name in ("image", "image.repository", "image.pullPolicy", "driverName", "devices")),
    *(("driver", name) for name in ("kubeletDirectory", "cdiDirectory", "deviceClass", "deviceClass.create")),
    *(("driver", name) for name in ("admissionPolicy", "admissionPolicy.create")),
]
"""Values without which nothing right can be made: they cannot be null."""


def _all_values() -> list[tuple[str, str]]:
    """Return the parts with the names of their values, `outer.inner` for those of an object."""
    found = []
    for part in ("scheduler", "driver"):
        for name, value in yaml.safe_load((charts.chart(part) / "values.yaml").read_text()).items():
            inner = value if isinstance(value, dict) and name != "nodeSelector" else {}
            found += [(part, name), *((part, f"{name}.{one}") for one in inner)]
    return found


def _null(name: str) -> dict[str, Any]:
    outer, _, inner = name.partition(".")
    return {outer: {inner: None} if inner else None}


@pytest.mark.parametrize(("part", "name"), NEEDED)
def test_null_is_refused_where_a_value_is_needed(part: str, name: str, helm: Path) -> None:
    with pytest.raises(charts.ChartError, match=f"missing property '{name.rpartition('.')[2]}'"):
        charts.render(helm, part, _null(name))


@pytest.mark.parametrize(("part", "name"), sorted({*_all_values()} - {*NEEDED}))
def test_null_leaves_out_all_else(part: str, name: str, helm: Path) -> None:
    rendered = charts.render(helm, part, _null(name))

    assert [word for word in ("null", "nil", "%!", '="') if word in json.dumps(rendered)] == []
    assert [one["kind"] for one in rendered] == [one["kind"] for one in charts.render(helm, part, {})]


def test_an_argument_stays_one_where_the_schema_is_not_asked(helm: Path) -> None:
    text = '/k\n        - --devices=1 # "x'
    for part, values, begins in (
        ("driver", {"kubeletDirectory": text, "cdiDirectory": text}, "--cdi-root="),
        ("scheduler", {"kubernetesVersion": text, "featureGates": {text: True}}, "--kubernetes-version="),
    ):
        command = [helm, "template", "x", charts.chart(part), "--kube-version", charts.KUBERNETES]
        command += ["--skip-schema-validation", "--values", "-"]
        done = subprocess.run(command, input=json.dumps(values), capture_output=True, text=True, check=True)
        (pod,) = (one for one in yaml.safe_load_all(done.stdout) if one["kind"] in ("DaemonSet", "Deployment"))
        arguments = pod["spec"]["template"]["spec"]["containers"][0]["args"]

        assert f"{begins}{text}" in arguments
        assert "--devices=1" not in arguments


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
    assert of_driver["kubeletDirectory"]["pattern"] == of_driver["cdiDirectory"]["pattern"] == f"^{driver.FOLDER}$"
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
