from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml
from tests.unit.cli.manifests import claim, device_class, files, node, pod, slice_, template

if TYPE_CHECKING:
    from tests.unit.cli.conftest import CommandLine

OWN = "{name: own, resourceClaimTemplateName: one-gpu}"
SHARED = "{name: shared, resourceClaimName: train}"
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n"
DELETE = "metadata: {annotations: {case.example.com/delete: 'true'}, "


def big_node(name: str) -> str:
    return node(name) + 'status: {allocatable: {cpu: "8", memory: 8Gi, pods: "110"}}\n'


@pytest.fixture
def cluster(drayman: CommandLine) -> str:
    return drayman.write(
        "cluster.yaml", files(NAMESPACE, big_node("worker-1"), slice_("worker-1"), device_class(), template(), claim())
    )


def test_pods_and_claims_are_shown_as_they_ended(drayman: CommandLine, cluster: str) -> None:
    drayman.write("pods.yaml", files(pod("p", SHARED), pod("q", SHARED)))
    result = drayman.run("simulate", cluster, "pods.yaml")
    assert (result.code, result.err) == (0, "")
    assert (
        result.out
        == """\
POD        NODE       PHASE     DEVICES
team-a/p   worker-1   Pending   shared: gpu.example.com/worker-1/gpu-0
team-a/q   worker-1   Pending   shared: gpu.example.com/worker-1/gpu-0

CLAIM          STATE                DEVICES                          RESERVED FOR
team-a/train   allocated,reserved   gpu.example.com/worker-1/gpu-0   pods/p
                                                                     pods/q
"""
    )


def test_pod_that_is_not_scheduled_is_shown_with_the_reason(drayman: CommandLine, cluster: str) -> None:
    drayman.write("pods.yaml", pod("p", "{name: gpu, resourceClaimName: other}"))
    result = drayman.run("simulate", cluster, "pods.yaml", "--exit-status")
    assert (result.code, result.err) == (3, "")
    assert (
        result.out
        == """\
POD        NODE     PHASE     DEVICES
team-a/p   <none>   Pending

CLAIM          STATE     DEVICES   RESERVED FOR
team-a/train   pending

team-a/p is not scheduled: could not find ResourceClaim "team-a/other"
"""
    )


def test_pods_that_are_pending_are_explained_when_asked_for(drayman: CommandLine, cluster: str) -> None:
    drayman.write("pods.yaml", files(pod("first", SHARED), pod("p", "{name: gpu, resourceClaimName: other}")))
    result = drayman.run("simulate", cluster, "pods.yaml", "--explain")
    assert result.out.endswith(
        "\n\npod team-a/p is held back: the scheduler does not try it\n"
        "└─ claim entry `gpu`: ResourceClaim `team-a/other` does not exist\n"
        "   └─ hint: there are: `team-a/train`\n"
    )
    assert "could not find ResourceClaim" not in result.out
    state = json.loads(drayman.run("simulate", cluster, "pods.yaml", "--explain", "-o", "json").out)
    assert {key: answer["verdict"] for key, answer in state["explanations"].items()} == {"team-a/p": "held"}


def test_steps_follow_each_other(drayman: CommandLine, cluster: str) -> None:
    drayman.write("step1.yaml", files(pod("p", OWN), pod("q", OWN), pod("r", OWN)))
    drayman.write("step2.yaml", pod("p", OWN).replace("metadata: {", DELETE))
    two = json.loads(drayman.run("simulate", cluster, "step1.yaml", "-o", "json").out)
    three = json.loads(drayman.run("simulate", cluster, "step1.yaml", "step2.yaml", "-o", "json").out)
    assert (two["steps"], three["steps"]) == (2, 3)
    assert [two["pods"][f"team-a/{name}"].get("node") for name in "pqr"] == ["worker-1", "worker-1", None]
    assert three["pods"]["team-a/p"]["deleted"] is True
    assert three["pods"]["team-a/r"]["node"] == "worker-1"


def test_two_runs_give_the_same_bytes(drayman: CommandLine, cluster: str) -> None:
    drayman.write("pods.yaml", files(*(pod(f"p{number}", OWN) for number in range(4))))
    first = drayman.run("simulate", cluster, "pods.yaml", "-o", "json")
    assert first.out == drayman.run("simulate", cluster, "pods.yaml", "-o", "json").out
    as_yaml = drayman.run("simulate", cluster, "pods.yaml", "-o", "yaml")
    assert yaml.safe_load(as_yaml.out) == json.loads(first.out)


def test_json_names_version_and_compatibility(drayman: CommandLine, cluster: str) -> None:
    arguments = ("--kubernetes-version", "1.36", "--compatibility", "1.37", "-o", "json")
    state = json.loads(drayman.run("simulate", cluster, *arguments).out)
    assert {name: state[name] for name in ("version", "kubernetes", "compatibility", "steps")} == {
        "version": 1,
        "kubernetes": "1.36",
        "compatibility": "1.37",
        "steps": 1,
    }


def test_refused_objects_are_errors_with_their_place(drayman: CommandLine) -> None:
    drayman.write(
        "bad.yaml", files(NAMESPACE, claim().replace("requests:", "request:"), claim("b", device_class="A_B"))
    )
    result = drayman.run("simulate", "bad.yaml")
    label = (
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
    )
    assert (result.code, result.out) == (1, "")
    assert result.err.splitlines() == [
        'error: bad.yaml:10: ResourceClaim team-a/train: ResourceClaim in version "v1" cannot be handled as a '
        'ResourceClaim: strict decoding error: unknown field "spec.devices.request"',
        'error: bad.yaml:21: ResourceClaim team-a/b: ResourceClaim.resource.k8s.io "b" is invalid: '
        f'spec.devices.requests[0].exactly.deviceClassName: Invalid value: "A_B": {label}',
    ]


def test_refused_objects_are_listed_in_json(drayman: CommandLine) -> None:
    drayman.write("bad.yaml", files(NAMESPACE, claim().replace("requests:", "request:")))
    result = drayman.run("simulate", "bad.yaml", "-o", "json")
    assert (result.code, result.err) == (0, "")
    assert json.loads(result.out)["rejected"] == {
        "ResourceClaim team-a/train": 'ResourceClaim in version "v1" cannot be handled as a ResourceClaim: '
        'strict decoding error: unknown field "spec.devices.request"'
    }
    assert drayman.run("simulate", "bad.yaml", "-o", "json", "--exit-status").code == 3


def test_missing_namespaces_are_created_with_a_note(drayman: CommandLine) -> None:
    drayman.write("claims.yaml", files(claim(), claim("other"), NAMESPACE))
    result = drayman.run("simulate", "claims.yaml")
    assert (result.code, result.err) == (0, "note: namespaces that do not exist are created: `team-a`\n")


def test_kinds_of_foreign_groups_are_skipped_with_one_note(drayman: CommandLine) -> None:
    monitor = "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: x}\n"
    drayman.write("all.yaml", files(NAMESPACE, monitor, monitor, claim()))
    result = drayman.run("simulate", "all.yaml")
    assert (result.code, result.err) == (0, "note: `simulate` does not use ServiceMonitor: skipped\n")


def test_wrong_metadata_is_named_with_its_place(drayman: CommandLine) -> None:
    drayman.write("bad.yaml", claim().replace("{name: train, namespace: team-a}", "[]"))
    result = drayman.run("simulate", "bad.yaml")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("error: bad.yaml:3: metadata: json: cannot unmarshal array into Go ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1\n", "input.yaml:2: not YAML: did not find expected ',' or ']'"),
        ("", "input.yaml: no objects in the given files"),
        ("apiVersion: v1\nmetadata: {name: x}\n", "input.yaml:1: x: kind: not set"),
        (
            claim().replace("kind: ResourceClaim", "kind: ResourceClam"),
            'input.yaml:2: ResourceClam team-a/train: kind: no matches for kind "ResourceClam" in version '
            '"resource.k8s.io/v1"\nhint: did you mean `ResourceClaim`?',
        ),
    ],
)
def test_bad_input_is_named_with_its_place(drayman: CommandLine, text: str, message: str) -> None:
    drayman.write("input.yaml", text)
    result = drayman.run("simulate", "input.yaml")
    assert (result.code, result.out, result.err) == (1, "", f"error: {message}\n")


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--settle", "nan", "argument --settle: `nan` is not a number of seconds"),
        ("--wait", "-1", "argument --wait: `-1` is not a number of seconds"),
        ("--nodes", "two", "argument --nodes: invalid int value: 'two'"),
    ],
)
def test_values_that_are_none_are_wrong_usage(drayman: CommandLine, option: str, value: str, message: str) -> None:
    result = drayman.run("simulate", "x.yaml", f"{option}={value}")
    assert (result.code, result.err.splitlines()[-1]) == (2, f"drayman simulate: error: {message}")


def test_nodes_below_zero_are_refused(drayman: CommandLine) -> None:
    drayman.write("claim.yaml", claim())
    result = drayman.run("simulate", "claim.yaml", "--nodes=-1")
    assert (result.code, result.err) == (1, "error: -1 nodes: between 0 and 5000 are possible\n")


def test_started_nodes_run_the_pods(drayman: CommandLine) -> None:
    drayman.write("pods.yaml", files(NAMESPACE, template(), pod("p", OWN)))
    result = drayman.run("simulate", "pods.yaml", "--nodes", "1", "-o", "json")
    assert json.loads(result.out)["pods"]["team-a/p"]["phase"] == "Succeeded"


def test_time_is_as_long_as_it_is_told(drayman: CommandLine) -> None:
    drayman.write("pods.yaml", files(NAMESPACE, template(), pod("p", OWN)))
    result = drayman.run("simulate", "pods.yaml", "--nodes", "1", "--settle", "2", "-o", "json")
    assert json.loads(result.out)["pods"]["team-a/p"]["phase"] == "Running"


def test_context_comes_before_the_first_step(drayman: CommandLine) -> None:
    drayman.write("pods.yaml", files(NAMESPACE, big_node("node-1"), template(), pod("p", OWN)))
    result = drayman.run("simulate", "pods.yaml", "--with", "gpu.example.com", "-o", "json")
    assert json.loads(result.out)["pods"]["team-a/p"]["node"] == "node-1"


CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: mine
  pluginConfig: [{name: Drayman, args: {compatibility: "1.37"}}]
"""


def test_configuration_holds_for_all_pods_and_options_come_before_it(drayman: CommandLine, cluster: str) -> None:
    drayman.write("config.yaml", CONFIG)
    drayman.write("pods.yaml", pod("p", OWN))
    arguments = ("simulate", cluster, "pods.yaml", "--config", "config.yaml", "-o", "json")
    state = json.loads(drayman.run(*arguments).out)
    assert (state["compatibility"], state["pods"]["team-a/p"]["node"]) == ("1.37", "worker-1")
    assert json.loads(drayman.run(*arguments, "--compatibility", "fixed").out)["compatibility"] == "fixed"


def test_wrong_configuration_is_named_with_its_field(drayman: CommandLine, cluster: str) -> None:
    drayman.write("config.yaml", CONFIG.replace("schedulerName", "schedulername"))
    result = drayman.run("simulate", cluster, "--config", "config.yaml")
    assert (result.code, result.err) == (
        1,
        'error: config.yaml: profiles[0].schedulername: unknown field "profiles[0].schedulername"\n',
    )
