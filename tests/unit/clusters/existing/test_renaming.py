"""Scenarios get names of their run, everywhere and consistently, and are else as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from drayman.testing import scenario
from drayman.testing.clusters.existing.renaming import DRIVER, Casting, cast, unmovable
from drayman.testing.clusters.existing.run import LABEL, Run
from drayman.testing.clusters.local.images import TESTBOX
from drayman.testing.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator

RUN = Run("abc234")
CASTING = Casting(RUN)
SHIPPED = {one.name: one for one in scenario.shipped()}


def of(*objects: str, expect: str = "{}", **more: Any) -> Scenario:
    steps = tuple(yaml.safe_load(obj) for obj in objects)
    return Scenario("mine", "Mine.", (steps,), yaml.safe_load(expect), **more)


def pod(namespace: str = "team-a", **spec: Any) -> str:
    obj = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": namespace}, "spec": spec}
    return yaml.safe_dump(obj)


def device_class(name: str) -> str:
    return f"{{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {{name: {name}}}, spec: {{}}}}"


def objects(played: Scenario) -> Iterator[dict[str, Any]]:
    for step in played.steps:
        yield from step


@pytest.mark.parametrize("played", SHIPPED.values(), ids=SHIPPED)
def test_nothing_of_a_shipped_scenario_keeps_its_name_in_the_cluster(played: Scenario) -> None:
    renamed = cast(played, CASTING)

    assert unmovable(played) is None
    for obj in objects(renamed):
        metadata = obj["metadata"]
        assert metadata.get("namespace", metadata["name"]).endswith(f"-{RUN.id}")
        assert metadata["labels"][LABEL] == RUN.id
    named = {
        str(key) for member in ("pods", "unschedulable", "groups", "claims") for key in renamed.expect.get(member, {})
    }
    assert all(key.partition("/")[0].endswith(f"-{RUN.id}") for key in named)


@pytest.mark.parametrize("played", SHIPPED.values(), ids=SHIPPED)
def test_two_runs_of_a_scenario_have_no_object_in_common(played: Scenario) -> None:
    def named(run: str) -> set[tuple[str, str, str]]:
        places = (obj["metadata"] | {"kind": obj["kind"]} for obj in objects(cast(played, Casting(Run(run)))))
        return {(one["kind"], one.get("namespace", ""), one["name"]) for one in places}

    assert named("aaaaaa").isdisjoint(named("bbbbbb"))


def test_scenario_itself_is_left_as_it_was() -> None:
    before = repr(SHIPPED["device-class-by-driver"])
    cast(SHIPPED["device-class-by-driver"], Casting(RUN, driver="other.example.com", image="i", nodes=("n",)))
    assert repr(SHIPPED["device-class-by-driver"]) == before


def test_device_class_of_a_scenario_is_renamed_where_it_is_asked_for() -> None:
    claim = """
      apiVersion: resource.k8s.io/v1
      kind: ResourceClaim
      metadata: {name: c, namespace: team-a}
      spec: {devices: {requests: [
        {name: a, exactly: {deviceClassName: mine}},
        {name: b, firstAvailable: [{name: x, deviceClassName: mine}, {name: y, deviceClassName: gpu.example.com}]}]}}
    """
    renamed = cast(of(device_class("mine"), claim), CASTING)

    _, cls, obj = objects(renamed)
    asked = obj["spec"]["devices"]["requests"]
    assert cls["metadata"]["name"] == "mine-abc234"
    assert asked[0]["exactly"]["deviceClassName"] == "mine-abc234"
    assert [one["deviceClassName"] for one in asked[1]["firstAvailable"]] == ["mine-abc234", DRIVER]


def test_namespace_that_a_scenario_does_not_declare_is_declared_and_labelled() -> None:
    namespace, _ = objects(cast(of(pod(containers=[])), CASTING))
    assert namespace["kind"] == "Namespace"
    assert namespace["metadata"] == {"name": "team-a-abc234", "labels": {LABEL: "abc234"}}


def test_expectation_names_the_same_objects() -> None:
    expect = """
      pods: {team-a/p: {phase: Running, env: {main: ['HOME=/team-a/p', 'DRIVER=gpu.example.com']}}}
      groups: {'team-a/job-.*': {count: 2, logs: {main: ['team-a/p']}}}
      claims: {team-a/c: null}
      sameNode: [[team-a/p, team-a/q]]
      evicted: [team-a/q]
      rejected: {Pod team-a/r: denied, DeviceClass mine: denied}
      eventsContain: ['FailedScheduling team-a/p: 0/2 nodes', 'my-team-a/p']
      uniqueDevices: true
    """
    renamed = cast(of(pod(containers=[]), device_class("mine"), expect=expect), CASTING)

    assert renamed.expect == {
        "pods": {
            "team-a-abc234/p": {"phase": "Running", "env": {"main": ["HOME=/team-a/p", "DRIVER=gpu.example.com"]}}
        },
        "groups": {"team-a-abc234/job-.*": {"count": 2, "logs": {"main": ["team-a/p"]}}},
        "claims": {"team-a-abc234/c": None},
        "sameNode": [["team-a-abc234/p", "team-a-abc234/q"]],
        "evicted": ["team-a-abc234/q"],
        "rejected": {"Pod team-a-abc234/r": "denied", "DeviceClass mine-abc234": "denied"},
        "eventsContain": ["FailedScheduling team-a-abc234/p: 0/2 nodes", "my-team-a/p"],
        "uniqueDevices": True,
    }


def test_what_has_to_come_true_before_a_step_is_renamed_too() -> None:
    played = of(pod(containers=[]), before={1: {"evicted": ["team-a/p"]}})
    assert cast(played, CASTING).before == {1: {"evicted": ["team-a-abc234/p"]}}


def test_driver_of_the_run_is_named_in_classes_selectors_and_output() -> None:
    played = SHIPPED["single-claim"]
    renamed = cast(played, Casting(RUN, driver=RUN.driver))
    text = repr([*objects(renamed), renamed.expect])
    assert DRIVER in repr([*objects(played), played.expect])
    assert DRIVER not in text.replace(RUN.driver, "")
    assert f"DRA_RESOURCE_DRIVER_NAME={RUN.driver}" in text


def test_image_replaces_that_of_tests_only() -> None:
    containers = [{"name": "a", "image": TESTBOX}, {"name": "b", "image": "other"}]
    *_, changed = objects(cast(of(pod(containers=containers)), Casting(RUN, image="busybox:1.37")))
    assert [one["image"] for one in changed["spec"]["containers"]] == ["busybox:1.37", "other"]


def test_pods_are_put_on_the_nodes_that_are_named() -> None:
    job = "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: team-a}, spec: {template: {spec: {}}}}"
    _, of_pod, of_job = objects(cast(of(pod(containers=[]), job), Casting(RUN, nodes=("a", "b"))))

    fields = [[{"key": "metadata.name", "operator": "In", "values": [name]}] for name in ("a", "b")]
    for spec in (of_pod["spec"], of_job["spec"]["template"]["spec"]):
        (required,) = spec["affinity"]["nodeAffinity"].values()
        assert [term["matchFields"] for term in required["nodeSelectorTerms"]] == fields


def test_pods_that_choose_their_nodes_themselves_keep_their_choice() -> None:
    chosen = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}
    *_, changed = objects(cast(of(pod(affinity=chosen)), Casting(RUN, nodes=("a",))))
    assert changed["spec"]["affinity"] == chosen


@pytest.mark.parametrize("kind", ["Node", "DeviceTaintRule", "ResourceSlice"])
def test_scenario_with_objects_that_concern_others_is_not_played(kind: str) -> None:
    played = of(f"{{apiVersion: v1, kind: {kind}, metadata: {{name: x}}}}")
    assert unmovable(played) == (
        f"creates the {kind} `x`, which would concern others in a cluster that is there already"
    )
