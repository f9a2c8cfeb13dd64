"""`simulate --kubelet`: the nodes of the files run their pods."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.unit.cli.manifests import claim, device_class, files, node, pod, slice_, template

if TYPE_CHECKING:
    from tests.unit.cli.conftest import CommandLine

NIC = "nic.example.com"
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n"
OWN = "{name: own, resourceClaimTemplateName: one-gpu}"
TEMPLATE = template(device_class="nic")
CLASS = device_class("nic", driver=NIC)


def simulate(drayman: CommandLine, *steps: str, options: tuple[str, ...] = ("--kubelet",)) -> dict[str, Any]:
    names = [drayman.write(f"step{number}.yaml", text) for number, text in enumerate(steps, 1)]
    result = drayman.run("simulate", *names, *options, "-o", "json")
    assert (result.code, result.err) == (0, "")
    state: dict[str, Any] = json.loads(result.out)
    assert "rejected" not in state
    return state


def test_pods_of_any_driver_run_and_end(drayman: CommandLine) -> None:
    cluster = files(NAMESPACE, slice_("worker-1", driver=NIC), node("worker-1"), CLASS, TEMPLATE)
    state = simulate(drayman, cluster, files(*(pod(name, OWN) for name in "pqr")))
    assert {key: (one["node"], one["phase"]) for key, one in state["pods"].items()} == {
        f"team-a/{name}": ("worker-1", "Succeeded") for name in "pqr"
    }
    # The third pod came when the devices of the others were free again.
    assert state["pods"]["team-a/r"]["firstVerdictMs"] == 0
    assert state["claims"] == {}


def test_slices_stay_as_the_files_have_them(drayman: CommandLine) -> None:
    cluster = files(NAMESPACE, slice_("worker-1", driver=NIC, devices=1), node("worker-1"), CLASS, TEMPLATE)
    long = pod("p", OWN).replace("sleep 5", "sleep 500")
    state = simulate(drayman, cluster, long, files(TEMPLATE.replace("one-gpu", "another"), pod("q", OWN)))
    assert state["pods"]["team-a/p"]["claims"]["own"]["devices"] == [
        {"device": f"{NIC}/worker-1/gpu-0", "request": "gpu"}
    ]
    assert state["pods"]["team-a/p"]["phase"] == "Running"
    assert "node" not in state["pods"]["team-a/q"]


def test_pod_that_is_on_its_node_already_is_run(drayman: CommandLine) -> None:
    result = f"{{request: gpu, driver: {NIC}, pool: worker-1, device: gpu-0}}"
    uid = "7a0c6d1e-3f52-4b89-9a63-1f0e8d2c4b5a"
    held = claim(device_class="nic") + (
        f"status: {{allocation: {{devices: {{results: [{result}]}}}}, "
        f"reservedFor: [{{resource: pods, name: p, uid: {uid}}}]}}\n"
    )
    bound = pod("p", "{name: gpu, resourceClaimName: train}", spec="nodeName: worker-1").replace(
        "namespace: team-a}", f"namespace: team-a, uid: {uid}}}"
    )
    # In a file, a pod may stand before what it uses.
    cluster = files(NAMESPACE, bound, held, CLASS, slice_("worker-1", driver=NIC), node("worker-1"))
    state = simulate(drayman, cluster)
    assert state["pods"]["team-a/p"]["phase"] == "Running"


def test_devices_that_are_bound_to_no_node_are_prepared_on_any(drayman: CommandLine) -> None:
    shared = slice_("fabric", driver=NIC).replace("nodeName: fabric", "allNodes: true")
    cluster = files(NAMESPACE, node("worker-1"), node("worker-2"), shared, CLASS, TEMPLATE)
    state = simulate(drayman, cluster, files(pod("p", OWN), pod("q", OWN)))
    assert [one["phase"] for one in state["pods"].values()] == ["Succeeded", "Succeeded"]


def test_configuration_that_only_the_real_driver_knows_is_left_alone(drayman: CommandLine) -> None:
    parameters = "{apiVersion: nic.example.com/v1, kind: NicConfig, vlan: 7}"
    configured = CLASS.replace(
        "spec: {", f"spec: {{config: [{{opaque: {{driver: {NIC}, parameters: {parameters}}}}}], "
    )
    cluster = files(NAMESPACE, node("worker-1"), slice_("worker-1", driver=NIC), configured, TEMPLATE)
    state = simulate(drayman, cluster, pod("p", OWN))
    assert state["pods"]["team-a/p"]["phase"] == "Succeeded"


def test_without_kubelet_bound_pods_stay_as_they_are(drayman: CommandLine) -> None:
    ready = node("worker-1") + 'status: {allocatable: {cpu: "8", memory: 8Gi, pods: "110"}}\n'
    cluster = files(NAMESPACE, ready, slice_("worker-1", driver=NIC), CLASS, TEMPLATE)
    state = simulate(drayman, cluster, pod("p", OWN), options=())
    assert (state["pods"]["team-a/p"]["node"], state["pods"]["team-a/p"]["phase"]) == ("worker-1", "Pending")


def test_deleted_pod_is_ended_by_its_kubelet(drayman: CommandLine) -> None:
    cluster = files(NAMESPACE, node("worker-1"), slice_("worker-1", driver=NIC), CLASS, TEMPLATE)
    long = pod("p", OWN).replace("sleep 5", "sleep 500")
    gone = long.replace("metadata: {", "metadata: {annotations: {case.example.com/delete: 'true'}, ")
    state = simulate(drayman, cluster, long, gone)
    assert (state["pods"]["team-a/p"]["deleted"], state["claims"]) == (True, {})


def test_two_runs_give_the_same_state(drayman: CommandLine) -> None:
    cluster = files(NAMESPACE, node("worker-1"), slice_("worker-1", driver=NIC), CLASS, TEMPLATE)
    pods = files(*(pod(name, OWN) for name in "pq"))
    assert simulate(drayman, cluster, pods) == simulate(drayman, cluster, pods)
