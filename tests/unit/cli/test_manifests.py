"""`drayman manifests`: text for kubectl, and what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from drayman import manifest
from drayman.cli.completion import candidates
from drayman.manifests import Driver, Scheduler

if TYPE_CHECKING:
    from tests.unit.cli.conftest import CommandLine


def test_objects_are_printed_as_yaml(drayman: CommandLine) -> None:
    done = drayman.run("manifests", "driver", "--devices", "2", "--node-selector", "gpu=mock,zone=a", "-n", "hardware")

    assert (done.code, done.err) == (0, "")
    wanted = Driver(devices=2, node_selector={"gpu": "mock", "zone": "a"}, namespace="hardware").objects()
    assert [one.object for one in manifest.parse(done.out)] == wanted
    assert wanted[0]["kind"] == "Namespace"


def test_objects_are_printed_as_a_list_of_json(drayman: CommandLine) -> None:
    done = drayman.run("manifests", "scheduler", "--replicas", "2", "--leader-elect=false", "--name", "b", "-o", "json")

    printed = json.loads(done.out)
    assert (printed["apiVersion"], printed["kind"]) == ("v1", "List")
    assert printed["items"] == Scheduler(replicas=2, leader_election=False, name="b").objects()


def test_options_of_the_scheduler(drayman: CommandLine) -> None:
    options = "--scheduler-name batch --compatibility 1.37 --kubernetes-version v1.36.1 --image s:2"
    done = drayman.run("manifests", "scheduler", *options.split(), "--feature-gates", "DRADeviceTaintRules=false")

    wanted = Scheduler(
        scheduler_name="batch",
        compatibility="1.37",
        kubernetes_version="1.36",
        image="s:2",
        feature_gates={"DRADeviceTaintRules": False},
    )
    assert [one.object for one in manifest.parse(done.out)] == wanted.objects()


def test_options_of_the_driver(drayman: CommandLine) -> None:
    options = "--kubelet-directory /k --cdi-directory /c --no-device-class --no-admission-policy"
    done = drayman.run("manifests", "driver", *options.split())

    wanted = Driver(kubelet_directory="/k", cdi_directory="/c", device_class=False, admission_policy=False)
    assert [one.object for one in manifest.parse(done.out)] == wanted.objects()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("scheduler --replicas -1", "error: replicas: `-1` where 0 to 100 are possible\n"),
        ("driver --devices 10001", "error: 10001 devices: between 0 and 10000 are possible\n"),
        (
            "driver --node-selector gpu!=mock",
            "error: node selector: `gpu!=mock` is not a label with its value\n"
            "hint: labels that nodes must have, as KEY=VALUE; more can be said with `affinity` of the chart\n",
        ),
        ("driver --node-selector gpu", "error: node selector: `gpu` is not a label with its value\n"),
        ("driver --node-selector gpu==mock", "error: node selector: `gpu==mock` is not a label with its value\n"),
        ("driver --node-selector a=b,a=c", "error: node selector: `a` is given as `b` and `c`\n"),
        ("driver --node-selector =b", "error: node selector: `=b`: name part must be non-empty\n"),
        ("driver --image Drayman/Driver", "error: image: `Drayman/Driver` is not the name of an image\n"),
        ("driver --image a:b:c", "error: image: `a:b:c` is not the name of an image\n"),
        ("driver --kubelet-directory var/lib", "error: kubelet directory: `var/lib` is no absolute path"),
        (
            "driver --kubelet-directory /a/../b",
            "error: kubelet directory: `/a/../b` is no absolute path of plain names\n"
            "hint: letters, digits and `._-+@~` between slashes; no `.` or `..`, and no slash at the end\n",
        ),
        ("scheduler --namespace Team", "error: namespace: `Team`: a lowercase RFC 1123 label must consist of"),
        (f"scheduler --name {'a' * 54}", f"error: name: `{'a' * 54}`: must be no more than 53 bytes\n"),
        ("scheduler --scheduler-name A", "error: scheduler name: `A`: a lowercase RFC 1123 subdomain must"),
        ("scheduler --kubernetes-version 1.20", "error: "),
        ("scheduler --feature-gates Nothing=true", "error: "),
    ],
)
def test_what_no_cluster_would_take_is_refused(arguments: str, said: str, drayman: CommandLine) -> None:
    done = drayman.run("manifests", *arguments.split())

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(said)


def test_part_has_to_be_named(drayman: CommandLine) -> None:
    done = drayman.run("manifests")

    assert done.code == 2
    assert "the following arguments are required: PART" in done.err


def test_parts_and_their_options_are_completed() -> None:
    assert [word for word, _ in candidates(["manifests", ""])] == ["scheduler", "driver"]
    assert "--devices" in [word for word, _ in candidates(["manifests", "driver", "--d"])]
    assert [word for word, _ in candidates(["manifests", "scheduler", "--compatibility", ""])] == ["1.37", "fixed"]
