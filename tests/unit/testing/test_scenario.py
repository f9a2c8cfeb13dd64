"""Scenarios: how folders are read and how they are played."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from drayman.errors import APIStatusError, InputError
from drayman.testing import scenario
from drayman.testing.scenario import Offer, Result, Scenario

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "team-a"},
    "spec": {"containers": [{"name": "main"}]},
}
INPUT = """# What it shows.
apiVersion: v1
kind: Namespace
metadata:
  name: team-a
---
apiVersion: v1
kind: Pod
metadata:
  name: p
  namespace: team-a
spec:
  containers:
  - name: main
"""
DELETION = """apiVersion: v1
kind: Pod
metadata:
  name: p
  namespace: team-a
  annotations:
    case.example.com/delete: "true"
"""


class Cluster:
    """A cluster where every pod runs once somebody waits for it, but for those named `stuck`."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.objects: dict[str, Mapping[str, Any]] = {}
        self.refusal: APIStatusError | None = None
        self._waited = False

    async def apply(self, objects: Sequence[Mapping[str, Any]]) -> None:
        for obj in objects:
            self.calls.append(("apply", obj["metadata"]["name"]))
            if self.refusal is not None:
                raise self.refusal
            self.objects[obj["metadata"]["name"]] = obj
        self._waited = False

    async def delete(self, kind: str, name: str) -> None:
        self.calls.append(("delete", name))
        if kind == "Namespace":
            self.objects.clear()
        elif name.rpartition("/")[2] not in self.objects:
            raise APIStatusError({"reason": "NotFound", "code": 404, "message": f"{name} not found"})
        else:
            del self.objects[name.rpartition("/")[2]]

    async def views(self, namespace: str) -> dict[str, Any]:
        pods = [name for name, obj in self.objects.items() if obj["kind"] == "Pod"]
        running = self._waited
        views = {
            f"{namespace}/{name}": {"phase": "Running" if running and name != "stuck" else "Pending"} for name in pods
        }
        return {"pods": views, "claims": {}, "events": []}

    async def logs(self, name: str, container: str) -> str:
        if container != "main":
            raise APIStatusError({"code": 400, "message": "no such container"})
        return "GPU_DEVICE_0=gpu-0\n"

    async def wait(self, unmet: Callable[[], Awaitable[str | None]], seconds: float = 60.0) -> None:
        for _ in range(2):
            if await unmet() is None:
                return
            self._waited = True
        raise TimeoutError


def played(expect: dict[str, Any], *steps: dict[str, Any], before: Any = None) -> Scenario:
    return Scenario("s", "S.", ((POD,), *((step,) for step in steps)), expect, before or {})


async def test_scenario_ends_when_all_is_as_expected() -> None:
    cluster = Cluster()
    expect = {"pods": {"team-a/p": {"phase": "Running", "env": {"main": ["GPU_DEVICE_0=gpu-0"]}}}}

    result = await scenario.run(played(expect), cluster)

    view = {"phase": "Running", "logs": {"main": "GPU_DEVICE_0=gpu-0\n"}}
    assert result == Result({"pods": {"team-a/p": view}, "claims": {}, "events": []}, ())
    assert cluster.objects["p"]["spec"]["schedulerName"] == "drayman"


async def test_deviations_are_told_when_time_is_up() -> None:
    expect = {"pods": {"team-a/p": {"phase": "Succeeded", "logs": {"side": ["done"]}}}}

    result = await scenario.run(played(expect), Cluster())

    assert result.deviations == (
        "team-a/p: phase Running instead of Succeeded",
        "team-a/p: no output of container side matches 'done'",
    )


async def test_step_waits_for_what_comes_before_it() -> None:
    cluster = Cluster()
    deletion = {**POD, "metadata": {**POD["metadata"], "annotations": {scenario.DELETE: "true"}}}
    before = {1: {"pods": {"team-a/p": {"phase": "Running"}}}}

    result = await scenario.run(played({"evicted": ["team-a/p"]}, deletion, before=before), cluster)

    assert result.deviations == ()
    assert cluster.calls == [("apply", "p"), ("delete", "team-a/p")]


async def test_step_is_not_taken_when_what_comes_before_it_fails() -> None:
    cluster = Cluster()
    before = {1: {"pods": {"team-a/p": {"phase": "Failed"}}}}

    result = await scenario.run(played({}, POD, before=before), cluster)

    assert result.deviations == ("before step 2: team-a/p: phase Running instead of Failed",)
    assert cluster.calls == [("apply", "p")]


async def test_refused_object_is_noted() -> None:
    cluster = Cluster()
    cluster.refusal = APIStatusError({"code": 422, "message": "spec: Required value"})

    result = await scenario.run(played({}), cluster)

    assert result.state["rejected"] == {"Pod team-a/p": "spec: Required value"}
    assert result.deviations == ("Pod team-a/p: unexpectedly rejected: spec: Required value",)


async def test_clean_up_deletes_what_was_created() -> None:
    cluster = Cluster()
    device_class = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "any-gpu"}}
    one = played({}, device_class)
    await scenario.run(one, cluster)
    await scenario.clean_up(one, cluster)

    assert cluster.calls[-2:] == [("delete", "team-a"), ("delete", "any-gpu")]


def test_scheduler_is_given_to_pods_and_templates_that_name_none() -> None:
    job = {"kind": "Job", "spec": {"template": {"spec": {"restartPolicy": "Never"}}}}
    chosen = {"kind": "Pod", "spec": {"schedulerName": "other"}}

    assert scenario.with_scheduler(job, "drayman") == {
        "kind": "Job",
        "spec": {"template": {"spec": {"schedulerName": "drayman", "restartPolicy": "Never"}}},
    }
    assert scenario.with_scheduler(chosen, "drayman") == chosen
    assert scenario.with_scheduler({"kind": "Namespace"}, "drayman") == {"kind": "Namespace"}


def test_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "input.yaml").write_text(INPUT)
    (tmp_path / "step2.yaml").write_text(DELETION)
    (tmp_path / "expect.yaml").write_text("needs: {kubelet: true}\nbefore: {step2: {scheduledCount: 1}}\nevicted: []\n")

    loaded = scenario.load(tmp_path)

    assert (loaded.title, loaded.namespaces) == ("What it shows.", ("team-a",))
    assert [len(step) for step in loaded.steps] == [2, 1]
    assert loaded.before == {1: {"scheduledCount": 1}}
    assert loaded.needs == {"kubelet": True}
    assert loaded.expect == {"evicted": []}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"expect.yaml": "pod: {}"}, "expect.yaml: pod: unknown member"),
        ({"expect.yaml": "needs: {gpus: 1}"}, "expect.yaml: needs.gpus: unknown member"),
        ({"expect.yaml": "before: {step3: {}}"}, "expect.yaml: before.step3: there is no `step3.yaml`"),
        ({"expect.yaml": "[]"}, "expect.yaml: an expectation is a mapping"),
        (
            {"input.yaml": "kind: Pod"},
            "input.yaml:1: the first line has to be a comment that says what the scenario shows",
        ),
    ],
)
def test_folder_that_is_no_scenario_is_refused(tmp_path: Path, files: dict[str, str], message: str) -> None:
    for name, text in {"input.yaml": INPUT, "expect.yaml": "{}", **files}.items():
        (tmp_path / name).write_text(text)

    with pytest.raises(InputError) as caught:
        scenario.load(tmp_path)

    assert str(caught.value) == f"{tmp_path}/{message}"


@pytest.mark.parametrize(
    ("needs", "missing"),
    [
        ({}, None),
        ({"nodes": 2, "kubelet": True, "version": "1.37"}, None),
        ({"nodes": 3}, "needs 3 nodes"),
        ({"root": True}, "needs root"),
        ({"gates": ["DRADeviceTaints"]}, "needs the feature gate DRADeviceTaints"),
        ({"version": "1.38"}, "needs Kubernetes 1.38"),
    ],
)
def test_needs_are_compared_with_what_a_cluster_offers(needs: dict[str, Any], missing: str | None) -> None:
    assert Scenario("s", "S.", (), {}, needs=needs).unmet(Offer(nodes=2)) == missing


def test_shipped_scenarios_have_namespaces_of_their_own() -> None:
    namespaces = [name for one in scenario.shipped() for name in one.namespaces]

    assert len(namespaces) == len(set(namespaces)) == len(scenario.shipped())
