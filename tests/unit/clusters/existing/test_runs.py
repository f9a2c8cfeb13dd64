"""Runs on a cluster of others from the outside: the command line, a scheduler process, an end of any kind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.servers import live_server

from drayman.driver import catalogue
from drayman.testing.clusters import registry
from drayman.testing.clusters.existing.run import HOST, LABEL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.unit.servers import LiveServer

BUILT_IN = {"default", "kube-node-lease", "kube-public", "kube-system"}
READY = "running until interrupted with Ctrl-C\n"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveServer]:
    """A cluster with a node that has devices, and a place for what this user has running."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    profile = catalogue.profile("gpu.example.com")
    status = {"conditions": [{"type": "Ready", "status": "True"}]}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": status}
    with live_server(tmp_path) as live:
        live.apply(node, profile.device_class(), *profile.slices("n"))
        yield live


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "drayman", "cluster", *arguments]


def drayman(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), capture_output=True, text=True, check=False)


@pytest.fixture
def up(server: LiveServer, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start `cluster up` and return it when it is ready."""
    started: list[subprocess.Popen[str]] = []

    def start(name: str, *more: str) -> subprocess.Popen[str]:
        arguments = ("up", name, "--backend", "existing", "--kubeconfig", str(server.kubeconfig), *more)
        with (tmp_path / f"{name}.err").open("w") as errors:
            process = subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, stderr=errors, text=True)
        started.append(process)
        assert process.stdout is not None
        lines = list(iter(process.stdout.readline, READY))
        assert process.poll() is None, lines
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def there(server: LiveServer, kind: str = "namespaces") -> list[dict[str, Any]]:
    return [dict(one) for one in server.list(kind) if one["metadata"]["name"] not in BUILT_IN]


def test_run_is_in_the_cluster_with_its_label_until_it_is_interrupted_twice(
    server: LiveServer, up: Callable[..., subprocess.Popen[str]]
) -> None:
    process = up("mine", "--scenarios")
    (namespace,) = there(server)
    run = namespace["metadata"]["labels"][LABEL]
    assert namespace["metadata"]["name"] == f"drayman-{run}"
    assert str(process.pid) in namespace["metadata"]["annotations"][HOST]
    entry = registry.existing("mine")
    assert (entry.backend, entry.nodes, entry.kubernetes, entry.server) == ("existing", 1, "1.37", server.config.url)

    # What a test creates that is stopped at the same time.
    late = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"demo-{run}", "labels": {LABEL: run}}}
    server.apply(late)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    assert there(server) == []
    assert registry.noted("mine") is None
    assert not registry.folder("mine").exists()


def test_detached_run_ends_by_its_name(server: LiveServer) -> None:
    started = drayman("up", "mine", "--backend", "existing", "--kubeconfig", str(server.kubeconfig), "--detach")
    assert (started.returncode, started.stderr) == (0, "")
    assert len(there(server)) == 1

    ended = drayman("down", "mine")
    assert (ended.returncode, ended.stdout) == (0, "cluster `mine` has ended\n")
    assert there(server) == []


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()


def test_run_that_was_killed_is_removed_by_its_name(
    server: LiveServer, up: Callable[..., subprocess.Popen[str]]
) -> None:
    kill(up("mine"))
    assert len(there(server)) == 1
    shutil.move(server.kubeconfig, server.kubeconfig.with_suffix(".elsewhere"))

    ended = drayman("down", "mine")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == "the process of cluster `mine` was killed before; what it left is removed\n"
    assert there(server) == []
    assert registry.noted("mine") is None


def test_run_that_was_killed_is_removed_by_the_next_one_which_leaves_that_of_others(
    server: LiveServer, up: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    metadata = {"name": "drayman-theirs", "labels": {LABEL: "theirs"}}
    server.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    other = up("alive")
    kill(up("killed"))
    before = {one["metadata"]["name"] for one in there(server)}

    up("next").send_signal(signal.SIGTERM)
    after = {one["metadata"]["name"] for one in there(server)}
    assert len(before) == 3
    assert "drayman-theirs" in after
    assert registry.noted("killed") is None
    assert f"drayman-{(registry.noted('alive') or {})['run']}" in after
    said = (tmp_path / "next.err").read_text()
    assert "removing what run" in said
    assert "another run is in the cluster: `theirs`" in said
    assert other.poll() is None


def test_run_of_another_machine_is_removed_by_its_id(server: LiveServer) -> None:
    metadata = {"name": "drayman-theirs", "labels": {LABEL: "theirs"}}
    server.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})

    ended = drayman("down", "--run", "theirs", "--kubeconfig", str(server.kubeconfig))
    assert ended.stdout == f"nothing of run `theirs` is left in {server.config.url}\n"
    assert there(server) == []


def test_plan_is_printed_and_nothing_created(server: LiveServer) -> None:
    planned = drayman("up", "--backend", "existing", "--kubeconfig", str(server.kubeconfig), "--plan")
    assert (planned.returncode, planned.stderr) == (0, "")
    assert planned.stdout.startswith(f"cluster: {server.config.url}, Kubernetes v1.37")
    assert "- Namespace `drayman-ID`\n" in planned.stdout
    assert there(server) == []


def test_cluster_that_lacks_something_is_refused_before_anything_is_created(server: LiveServer) -> None:
    server.delete("deviceclass", "gpu.example.com")
    for more in ((), ("--plan",)):
        refused = drayman("up", "--backend", "existing", "--kubeconfig", str(server.kubeconfig), *more)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr == (
            "error: the cluster lacks what this run needs:\n- there is no DeviceClass `gpu.example.com`\n"
        )
    assert there(server) == []


@pytest.mark.parametrize("option", ["--plan", "--kubeconfig=x", "--driver=install", "--test-image=i", "--scenarios"])
def test_option_is_for_clusters_that_are_there(option: str) -> None:
    refused = drayman("up", option)
    name = option.partition("=")[0]
    assert refused.stderr == (f"error: `{name}` is about a cluster that is there already\nhint: --backend existing\n")


@pytest.mark.parametrize("scheduler", ["drayman", "none"])
def test_pods_are_scheduled_by_the_scheduler_of_the_run_only(
    server: LiveServer, up: Callable[..., subprocess.Popen[str]], scheduler: str
) -> None:
    up("mine", "--scheduler", scheduler)
    name = (registry.noted("mine") or {})["scheduler"]
    assert name.startswith("drayman-") is (scheduler == "drayman")


def test_error_of_the_server_is_shown_and_what_was_created_removed(server: LiveServer, tmp_path: Path) -> None:
    # A folder that cannot be made into a log: the scheduler does not start.
    (tmp_path / "logs").write_text("")
    arguments = ("--backend", "existing", "--kubeconfig", str(server.kubeconfig), "--logs", str(tmp_path / "logs"))
    failed = drayman("up", "mine", *arguments)
    assert failed.returncode == 1
    assert there(server) == []
    assert registry.noted("mine") is None


def test_scenario_is_played_under_names_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    started = drayman("up", "theirs", "--detach", "--scheduler", "none", "--nodes", "3")
    assert started.returncode == 0, started.stderr
    try:
        kubeconfig = str(registry.kubeconfig("theirs"))
        arguments = ["e2e/test_scenarios.py", "-q", "-p", "no:cacheprovider", "--backend=existing"]
        wanted = ["-k", "device-class-by-driver or freed-device", "--kubeconfig", kubeconfig]
        played = subprocess.run(
            [sys.executable, "-m", "pytest", *arguments, *wanted],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "COLUMNS": "200"},
        )
        assert "2 passed, 0 failed, 0 skipped" in played.stdout, played.stdout + played.stderr
    finally:
        drayman("down", "theirs")
