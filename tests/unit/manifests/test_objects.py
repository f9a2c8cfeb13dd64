"""The manifests without helm: right in themselves, and what scheduler and driver understand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import drayman
from drayman import cli, manifest, manifests
from drayman.api import schema
from drayman.driver import catalogue
from drayman.lint import lint
from drayman.manifests import Driver, Scheduler
from drayman.manifests.release import load
from drayman.scheduler import Configuration
from drayman.testing import FakeCluster

RELEASES = [Scheduler(), Scheduler(replicas=2), Scheduler(name="b", namespace="team-b"), Driver()]


def pod_of(release: manifests.Release, kind: str) -> Any:
    return one_of(release, kind)["spec"]["template"]["spec"]


def one_of(release: manifests.Release, kind: str) -> Any:
    (found,) = (one for one in release.objects() if one["kind"] == kind)
    return found


def test_defaults_are_the_stored_files() -> None:
    assert Scheduler().objects() == load("scheduler.yaml")
    assert Scheduler(replicas=2).objects() == load("scheduler-replicated.yaml")
    assert Driver().objects() == load("driver.yaml")


@pytest.mark.parametrize("release", RELEASES, ids=repr)
def test_every_object_is_one_that_the_api_server_decodes(release: manifests.Release) -> None:
    for one in release.objects():
        assert schema.type_of_object(one) is not None
        assert schema.strict(one) == []


@pytest.mark.parametrize("release", RELEASES, ids=repr)
def test_lint_has_nothing_to_say(release: manifests.Release) -> None:
    assert lint([("manifests.yaml", manifests.documents(release.objects()))]) == []


@pytest.mark.parametrize("release", RELEASES, ids=repr)
def test_text_is_the_objects(release: manifests.Release) -> None:
    text = manifests.documents(release.objects())

    assert [one.object for one in manifest.parse(text)] == release.objects()
    assert not any(len(line) > 160 for line in text.splitlines())


@pytest.mark.parametrize("release", RELEASES, ids=repr)
def test_objects_belong_together(release: manifests.Release) -> None:
    for one in release.objects()[1:]:
        labels = one["metadata"]["labels"]
        assert labels["app.kubernetes.io/name"] == release.chart
        assert labels["app.kubernetes.io/instance"] == (release.name or release.chart)
        assert labels["app.kubernetes.io/version"] == drayman.__version__
        assert one["metadata"].get("namespace", release.namespace) == release.namespace
        assert one["metadata"]["name"] in (release.full_name, "gpu.example.com")


def test_cluster_takes_them_and_runs_the_scheduler() -> None:
    objects = [*Scheduler().objects(), *Driver().objects()]
    with FakeCluster(nodes=1) as cluster:
        cluster.apply(*objects)
        cluster.settle()
        assert cluster.get("deployment", "drayman-system/drayman-scheduler")["status"]["availableReplicas"] == 1
        # Our own scheduler knows no topology spread; kube-scheduler places these.
        cluster.apply(*objects, *Scheduler(replicas=2).objects())


def test_device_class_is_that_of_the_catalogue() -> None:
    found = one_of(Driver(), "DeviceClass")
    del found["metadata"]["labels"]

    assert found == catalogue.profile("gpu.example.com").device_class()


@pytest.mark.parametrize("part", ["scheduler", "driver"])
def test_roles_are_those_of_every_cluster(part: str) -> None:
    release = Scheduler() if part == "scheduler" else Driver()

    assert one_of(release, "ClusterRole")["rules"] == manifests.role(part)["rules"]


@pytest.mark.parametrize(
    ("verb", "release", "kind"),
    [
        ("scheduler", Scheduler(kubernetes_version="1.36", feature_gates={"DRADeviceTaints": True}), "Deployment"),
        ("driver", Driver(devices=3), "DaemonSet"),
    ],
)
def test_containers_are_started_as_the_command_line_has_it(verb: str, release: manifests.Release, kind: str) -> None:
    (container,) = pod_of(release, kind)["containers"]
    parsed = cli.parser([verb]).parse_args([*container["command"][1:], *container["args"]])

    assert (container["command"][0], parsed.verb) == ("drayman", verb)
    address = parsed.health_bind_address
    assert (address.host, address.port) == (None, container["ports"][0]["containerPort"])
    for name in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[name]["httpGet"]["port"] == container["ports"][0]["name"]


def test_scheduler_understands_its_configuration(tmp_path: Path) -> None:
    release = Scheduler(scheduler_name="batch", compatibility="1.37", replicas=2)
    path = tmp_path / "scheduler.yaml"
    path.write_text(one_of(release, "ConfigMap")["data"]["scheduler.yaml"])
    read = Configuration.from_file(path)

    assert ([profile.scheduler_name for profile in read.profiles], read.compatibility) == (["batch"], "1.37")
    (mount,) = pod_of(release, "Deployment")["containers"][0]["volumeMounts"]
    assert f"--config={mount['mountPath']}/{path.name}" in pod_of(release, "Deployment")["containers"][0]["args"]


def test_scheduler_has_no_rights_on_its_node() -> None:
    pod = pod_of(Scheduler(), "Deployment")
    (container,) = pod["containers"]

    assert pod["securityContext"]["runAsNonRoot"] is True
    assert not pod.keys() & {"hostNetwork", "hostPID", "hostIPC"}
    assert [volume.keys() - {"name"} for volume in pod["volumes"]] == [{"configMap"}]
    assert_confined(pod, container)


def test_driver_has_three_folders_of_its_node_and_no_capability() -> None:
    pod = pod_of(Driver(), "DaemonSet")
    (container,) = pod["containers"]
    folders = {volume["name"]: volume["hostPath"]["path"] for volume in pod["volumes"]}

    assert folders == {
        "registry": "/var/lib/kubelet/plugins_registry",
        "data": "/var/lib/kubelet/plugins/gpu.example.com",
        "cdi": "/var/run/cdi",
    }
    assert {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]} == folders
    assert not pod.keys() & {"hostNetwork", "hostPID", "hostIPC"}
    assert_confined(pod, container)


def assert_confined(pod: Any, container: Any) -> None:
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_lease_may_be_written_only_where_a_leader_is_elected() -> None:
    (role,) = (one for one in Scheduler(leader_election=True, name="b").objects() if one["kind"] == "Role")
    config = yaml.safe_load(one_of(Scheduler(leader_election=True, name="b"), "ConfigMap")["data"]["scheduler.yaml"])

    assert role["rules"][1]["resourceNames"] == [config["leaderElection"]["resourceName"]]
    assert {rule["resources"][0] for rule in role["rules"]} == {"leases"}
    assert "Role" not in {one["kind"] for one in Scheduler().objects()}


@pytest.mark.parametrize(
    ("replicas", "chosen", "elects"),
    [(1, None, False), (2, None, True), (1, True, True), (2, False, False), (0, None, False), (2, True, True)],
)
def test_leader_is_elected_among_several_or_when_it_is_wanted(replicas: int, chosen: bool | None, elects: bool) -> None:
    release = Scheduler(replicas=replicas, leader_election=chosen)
    config = yaml.safe_load(one_of(release, "ConfigMap")["data"]["scheduler.yaml"])
    kinds = {one["kind"] for one in release.objects()}

    assert config["leaderElection"]["leaderElect"] is elects
    assert ({"Role", "RoleBinding"} <= kinds) is elects
    assert ("PodDisruptionBudget" in kinds) is (replicas > 1)
    assert ("topologySpreadConstraints" in pod_of(release, "Deployment")) is (replicas > 1)


def test_policy_is_about_the_account_of_the_driver() -> None:
    release = Driver(name="mock", namespace="hardware")
    (condition,) = one_of(release, "ValidatingAdmissionPolicy")["spec"]["matchConditions"]
    account = one_of(release, "ServiceAccount")["metadata"]

    assert f"'system:serviceaccount:{account['namespace']}:{account['name']}'" in condition["expression"]
    assert pod_of(release, "DaemonSet")["serviceAccountName"] == account["name"]
