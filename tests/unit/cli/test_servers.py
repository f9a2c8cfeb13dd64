"""Verbs that talk to an API server: what they say when that is not possible."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.unit.cli.conftest import CommandLine

UNREACHABLE = """\
apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {token: t}}]
"""
REFUSED = "http://127.0.0.1:1: Cannot connect to host 127.0.0.1:1 ssl:default [Connect call failed ('127.0.0.1', 1)]"
VERBS = pytest.mark.parametrize(
    "verb", [("scheduler",), ("driver", "--node-name", "worker-1")], ids=lambda verb: verb[0]
)


@VERBS
def test_server_that_is_not_there_is_named(drayman: CommandLine, verb: tuple[str, ...]) -> None:
    drayman.write("config", UNREACHABLE)
    result = drayman.run(*verb, "--kubeconfig", "config")
    assert (result.code, result.out, result.err) == (1, "", f"error: {REFUSED}\n")


@VERBS
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "config: the kubeconfig is not YAML"),
        ("hello", "config: the kubeconfig is not a mapping"),
        (
            UNREACHABLE.replace("current-context: here", ""),
            "config: no context is given and `current-context` is not set",
        ),
        (UNREACHABLE.replace("current-context: here", "current-context: x"), "config: context `x` is not defined"),
        (UNREACHABLE.replace("cluster: c, user", "cluster: d, user"), "config: cluster `d` is not defined"),
        (UNREACHABLE.replace("users: [{", "users: [x, {"), "config: `users` is not a list of mappings"),
        (UNREACHABLE.replace("user: {token: t}", "user: token"), "config: user `u` is not a mapping"),
    ],
)
def test_kubeconfig_that_cannot_be_used_is_refused(
    drayman: CommandLine, verb: tuple[str, ...], text: str, message: str
) -> None:
    drayman.write("config", text)
    result = drayman.run(*verb, "--kubeconfig", "config")
    assert (result.code, result.out, result.err) == (1, "", f"error: {message}\n")


@VERBS
def test_kubeconfig_that_is_not_there_is_named(drayman: CommandLine, verb: tuple[str, ...]) -> None:
    result = drayman.run(*verb, "--kubeconfig", "config")
    assert (result.code, result.err) == (1, "error: config: cannot read the kubeconfig: No such file or directory\n")


@VERBS
def test_named_context_is_taken(drayman: CommandLine, verb: tuple[str, ...]) -> None:
    drayman.write("config", UNREACHABLE)
    result = drayman.run(*verb, "--kubeconfig", "config", "--context", "there")
    assert (result.code, result.err) == (1, "error: config: context `there` is not defined\n")


def test_driver_that_the_catalogue_does_not_have_is_refused(drayman: CommandLine) -> None:
    result = drayman.run("driver", "--node-name", "n", "--driver-name", "nic.example.com")
    assert (result.code, result.err) == (
        1,
        "error: the catalogue has no hardware for driver `nic.example.com`\nhint: known: `gpu.example.com`\n",
    )


def test_driver_of_any_name_has_hardware_of_the_catalogue(drayman: CommandLine) -> None:
    named = ("driver", "--node-name", "n", "--driver-name", "nic.example.com", "--hardware")
    drayman.write("config", UNREACHABLE)
    refused = drayman.run(*named, "nic.example.com")
    taken = drayman.run(*named, "gpu.example.com", "--kubeconfig", "config", "--context", "there")
    assert refused.err.startswith("error: the catalogue has no hardware for driver `nic.example.com`\n")
    assert taken.err == "error: config: context `there` is not defined\n"


@pytest.mark.parametrize("count", ["-1", "10001", "99999999"])
def test_number_of_devices_that_no_node_can_have_is_refused(drayman: CommandLine, count: str) -> None:
    result = drayman.run("driver", "--node-name", "n", f"--devices={count}")
    assert (result.code, result.err) == (1, f"error: {count} devices: between 0 and 10000 are possible\n")


def test_node_name_that_is_no_part_of_a_path_is_refused(drayman: CommandLine) -> None:
    drayman.write("config", UNREACHABLE)
    result = drayman.run("driver", "--node-name", "../n", "--kubeconfig", "config")
    assert (result.code, result.err) == (1, "error: node name `../n` cannot be part of a file name\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--feature-gates", "Nope=true"), "unrecognized feature gate: Nope"),
        (("--kubernetes-version", "1.1"), "Kubernetes version `1.1` is not known; known are 1.34, 1.35, 1.36, 1.37"),
        (("--config", "missing.yaml"), "missing.yaml: no such file or directory"),
        (
            ("--config", "config"),
            "config: kind: expected KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1",
        ),
        (
            ("--plugin", "missing_module:Plugin"),
            "plugin `missing_module:Plugin` cannot be loaded: No module named 'missing_module'\n"
            "hint: give it as module:Class",
        ),
        (("--plugin", "mine:Other"), "plugin `mine:Other` cannot be loaded: module 'mine' has no attribute 'Other'\n"
            "hint: give it as module:Class"),
        (("--plugin", "mine:nameless"), "plugin `mine:nameless` is not a plugin class: it needs a `name`"),
        # Found in the working directory: what is left is that there is no server.
        (("--plugin", "mine:Mine"), REFUSED),
    ],
)  # fmt: skip
def test_options_of_the_scheduler_are_checked(drayman: CommandLine, arguments: tuple[str, ...], message: str) -> None:
    drayman.write("config", UNREACHABLE)
    drayman.write(
        "mine.py",
        "class Mine:\n    name = 'Mine'\n    def __init__(self, _arguments, _handle): ...\ndef nameless(): ...\n",
    )
    result = drayman.run("scheduler", "--kubeconfig", "config", *arguments)
    assert (result.code, result.out, result.err) == (1, "", f"error: {message}\n")


@VERBS
def test_address_for_health_that_is_none_is_wrong_usage(drayman: CommandLine, verb: tuple[str, ...]) -> None:
    result = drayman.run(*verb, "--health-bind-address", "10251")
    assert result.code == 2
    assert result.err.endswith("error: argument --health-bind-address: `10251` is not HOST:PORT\n")


@VERBS
def test_taken_port_for_health_is_told_before_anything_else(drayman: CommandLine, verb: tuple[str, ...]) -> None:
    drayman.write("config", UNREACHABLE)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        result = drayman.run(*verb, "--kubeconfig", "config", "--health-bind-address", address)
    told = f"error: health cannot be served on `{address}`: the port is taken\n"
    assert (result.code, result.err) == (1, told + "hint: choose another one with --health-bind-address\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--leader-elect", "--leader-elect-lease-duration", "5s"),
            'error: leaderElection.leaseDuration: Invalid value: "10s": must be greater than `RenewDeadline`\n',
        ),
        (
            ("--config", "elected.yaml", "--leader-elect-retry-period", "9s"),
            "error: leaderElection.renewDeadline: must be greater than retryPeriod*JitterFactor\n",
        ),
        (
            ("--config", "elected.yaml", "--leader-elect-resource-name="),
            "error: leaderElection.resourceName: Required value\n",
        ),
        (
            ("--leader-elect", "--leader-elect-resource-namespace", "a.b"),
            'error: leaderElection.resourceNamespace: Invalid value: "a.b": must not contain dots\n',
        ),
        # All is well: what is left is that there is no server.
        (("--config", "elected.yaml", "--leader-elect-retry-period=9s", "--leader-elect=0"), f"error: {REFUSED}\n"),
        (("--leader-elect", "--leader-elect-renew-deadline", "14s"), f"error: {REFUSED}\n"),
    ],
)  # fmt: skip
def test_options_of_leader_election_are_laid_over_the_configuration(
    drayman: CommandLine, arguments: tuple[str, ...], message: str
) -> None:
    drayman.write("config", UNREACHABLE)
    drayman.write(
        "elected.yaml",
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "leaderElection: {leaderElect: true}\n",
    )
    result = drayman.run("scheduler", "--kubeconfig", "config", *arguments)
    assert (result.code, result.err) == (1, message)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--leader-elect=maybe", "argument --leader-elect: `maybe` is neither true nor false"),
        (
            "--leader-elect-retry-period=2",
            "argument --leader-elect-retry-period: `2` is not a duration; write it as 15s or 1m30s",
        ),
    ],
)
def test_options_of_leader_election_are_checked(drayman: CommandLine, option: str, message: str) -> None:
    result = drayman.run("scheduler", option)
    assert result.code == 2
    assert result.err.endswith(f"error: {message}\n")
