"""Pods that ask for devices as extended resources."""

from __future__ import annotations

from tests.unit.cli.manifests import GPU, device_class, pod, slice_
from tests.unit.reasons.clusters import cluster, node

CLASS = device_class().replace("spec: {", "spec: {extendedResourceName: example.com/gpu, ")
NOTE = f"`example.com/gpu` is served by DeviceClass `{GPU}` where no device plugin has it"


def asking(name: str, amount: int = 1) -> str:
    limits = f"image: i, resources: {{limits: {{example.com/gpu: {amount}}}}}, command"
    return pod(name).replace("image: i, command", limits)


def test_resource_of_a_class_is_allocated_where_no_plugin_has_it() -> None:
    plugin = node("n2", allocatable="cpu: 4, pods: 10, example.com/gpu: 1")
    answer = cluster(slice_("n1"), CLASS, node("n1"), plugin, node("n3"), asking("p")).explain("team-a/p")
    assert [(group.nodes, group.verdict, group.devices) for group in answer.groups] == [
        (("n1",), "fits", {"<extended-resources>": ["gpu.example.com/n1/gpu-0"]}),
        (("n2",), "fits", {}),
    ]
    assert [note.message for note in answer.notes] == [NOTE]
    assert [group["nodes"] for group in answer.json()["groups"]] == [["n1"], ["n2"], ["n3"]]


def test_node_whose_plugin_has_too_little_is_excluded() -> None:
    plugin = node("n1", allocatable="cpu: 4, pods: 10, example.com/gpu: 1")
    answer = cluster(slice_("n1"), CLASS, plugin, asking("p", 2)).explain("team-a/p")
    assert answer.line() == "node `n1`: too little `example.com/gpu`: the pod needs 2, 1 of 1 is free"


def test_devices_of_pods_that_were_placed_first_are_held() -> None:
    answer = cluster(slice_("n1"), CLASS, node("n1"), asking("first", 2), asking("p")).explain(
        "team-a/p", in_order=True
    )
    assert answer.verdict == "unschedulable"
    assert "team-a/first-extended-resources" in answer.line()


def test_resource_without_a_class_and_with_the_gate_off_is_too_little() -> None:
    documents = (slice_("n1"), node("n1"), asking("p"))
    short = "node `n1`: too little `example.com/gpu`: the pod needs 1, 0 of 0 is free"
    assert cluster(*documents, device_class()).explain("team-a/p").line() == short
    assert cluster(*documents, CLASS, kubernetes_version="1.35").explain("team-a/p").line() == short
