"""One real cluster in the background, used by the command line, by kubectl and by a scheduler of its own."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.unit.cli.manifests import files, pod, template

from drayman.cli import cluster as verb
from drayman.clock import RealClock
from drayman.kube.config import ServerConfig
from drayman.testing.clusters import registry
from drayman.testing.clusters.local import record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.unit.cli.conftest import CommandLine

NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n"
KUBECTL = shutil.which("kubectl")


def drayman_process(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "drayman", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def state_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder))
        yield folder


@pytest.fixture(scope="module")
def started(state_home: Path) -> Iterator[registry.Entry]:
    up = drayman_process("cluster", "up", "test", "--detach", "--nodes", "1")
    kubeconfig = state_home / "drayman" / "clusters" / "test" / "kubeconfig"
    assert (up.returncode, up.stderr) == (0, "")
    assert up.stdout == f"cluster `test` is running\nexport KUBECONFIG={kubeconfig}\n"
    entry = registry.existing("test")
    yield entry
    down = drayman_process("cluster", "down", "test")
    assert (down.returncode, down.stdout, down.stderr) == (0, "cluster `test` has ended\n", "")
    assert not entry.alive()
    assert list((state_home / "drayman" / "clusters").iterdir()) == []


@pytest.fixture
def cluster(
    drayman: CommandLine, state_home: Path, started: registry.Entry, monkeypatch: pytest.MonkeyPatch
) -> registry.Entry:
    """The running cluster, for the command line in this process too."""
    assert drayman.folder.is_dir()
    monkeypatch.setenv("XDG_STATE_HOME", str(state_home))
    return started


def kubectl(*arguments: str, stdin: str = "", cluster: str = "test") -> str:
    command = [str(KUBECTL), "--kubeconfig", str(registry.kubeconfig(cluster)), *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=True).stdout


def test_cluster_is_listed(drayman: CommandLine, cluster: registry.Entry) -> None:
    result = drayman.run("cluster", "list")
    row = ["test", "fake", "1.37", "1", cluster.server, cluster.created]
    assert result.code == 0
    assert [line.split() for line in result.out.splitlines()] == [
        ["NAME", "BACKEND", "KUBERNETES", "NODES", "SERVER", "CREATED"],
        row,
    ]


def test_kubeconfig_is_printed_or_said_where_it_is(drayman: CommandLine, cluster: registry.Entry) -> None:
    path = registry.kubeconfig(cluster.name)
    assert drayman.run("cluster", "kubeconfig", "test").out == path.read_text()
    assert drayman.run("cluster", "kubeconfig", "test", "--path").out == f"{path}\n"


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(
    "arguments", [("cluster", "up", "test"), ("cluster", "up", "test", "-d"), ("demo", "--name", "test")]
)
def test_name_that_is_taken_is_refused(drayman: CommandLine, arguments: tuple[str, ...]) -> None:
    result = drayman.run(*arguments)
    assert (result.code, result.err) == (1, "error: a cluster `test` is running\nhint: drayman cluster down test\n")


@pytest.mark.parametrize("detach", [(), ("--detach",)])
def test_port_that_is_taken_is_refused(drayman: CommandLine, cluster: registry.Entry, detach: tuple[str, ...]) -> None:
    port = cluster.server.rpartition(":")[2]
    result = drayman.run("cluster", "up", "other", "--port", port, *detach)
    message = f"error: port {port} cannot be used: address already in use\n"
    assert (result.code, result.err) == (1, f"error: cluster `other` did not start:\n{message}" if detach else message)
    assert registry.find("other") is None


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("action", ["down", "kubeconfig"])
def test_cluster_that_is_not_there_is_refused_with_those_that_are(drayman: CommandLine, action: str) -> None:
    result = drayman.run("cluster", action, "other")
    assert (result.code, result.err) == (1, "error: no cluster `other` is running\nhint: running: `test`\n")


@pytest.mark.usefixtures("cluster")
@pytest.mark.skipif(KUBECTL is None, reason="kubectl is not installed")
def test_kubectl_runs_a_pod_and_sees_what_it_got(drayman: CommandLine) -> None:
    mine = pod("p", "{name: own, resourceClaimTemplateName: one-gpu}", spec="schedulerName: drayman")
    mine = mine.replace("sleep 5", "sleep 1000").replace("image: i,", "image: i, resources: {claims: [{name: own}]},")
    drayman.write("all.yaml", files(NAMESPACE, template(), mine))
    assert kubectl("apply", "-f", "all.yaml").splitlines() == [
        "namespace/team-a created",
        "resourceclaimtemplate.resource.k8s.io/one-gpu created",
        "pod/p created",
    ]
    kubectl("wait", "-n", "team-a", "pod/p", "--for=condition=Ready", "--timeout=60s")
    assert "GPU_DEVICE_0=gpu-0" in kubectl("logs", "-n", "team-a", "p").splitlines()
    (claim,) = json.loads(kubectl("get", "resourceclaims", "-n", "team-a", "-o", "json"))["items"]
    assert claim["status"]["allocation"]["devices"]["results"][0]["device"] == "gpu-0"
    assert kubectl("delete", "-n", "team-a", "pod", "p") == 'pod "p" deleted\n'


PLUGIN = """\
from drayman.framework import unschedulable

class Nowhere:
    name = "Nowhere"
    def __init__(self, _arguments, _handle): ...
    def filter(self, _state, _pod, _node):
        return unschedulable("nowhere is good enough")
"""
CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: picky}]
"""


@pytest.fixture
def without_scheduler(cluster: registry.Entry) -> Iterator[str]:
    """The name of a second cluster, for a scheduler of its own; the first one serves every pod."""
    assert cluster.alive()
    assert drayman_process("cluster", "up", "lone", "--detach", "--nodes", "1", "--no-scheduler").returncode == 0
    yield "lone"
    assert drayman_process("cluster", "down", "lone").returncode == 0


@pytest.mark.skipif(KUBECTL is None, reason="kubectl is not installed")
def test_scheduler_of_its_own_serves_its_profile_with_a_given_plugin(
    drayman: CommandLine, without_scheduler: str
) -> None:
    drayman.write("picky.py", PLUGIN)
    drayman.write("config.yaml", CONFIG)
    drayman.write("pod.yaml", pod("picky", spec="schedulerName: picky").replace("team-a", "default"))
    arguments = ["--kubeconfig", str(registry.kubeconfig(without_scheduler)), "--config", "config.yaml"]
    # As a shell starts a job in the background, deaf to interrupts: it has to end all the same when it is told to.
    deaf = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]
    command = [*deaf, sys.executable, "-m", "drayman", "scheduler", *arguments, "--plugin", "picky:Nowhere"]
    scheduler = subprocess.Popen(command, stderr=subprocess.PIPE)
    assert scheduler.stderr is not None
    try:
        kubectl("apply", "-f", "pod.yaml", cluster=without_scheduler)
        kubectl("wait", "pod/picky", "--for=condition=PodScheduled=false", "--timeout=60s", cluster=without_scheduler)
        stored = json.loads(kubectl("get", "pod", "picky", "-o", "json", cluster=without_scheduler))
        (message,) = [one["message"] for one in stored["status"]["conditions"] if one["type"] == "PodScheduled"]
        assert message.startswith("0/1 nodes are available: 1 nowhere is good enough.")
    finally:
        scheduler.send_signal(signal.SIGTERM)
        said, code = scheduler.stderr.read().decode(), scheduler.wait()
        scheduler.stderr.close()
    assert (said.partition(" INFO ")[2], code) == ("drayman.scheduler.app: scheduling pods of picky\n", 0)


def test_empty_list_says_so(drayman: CommandLine) -> None:
    result = drayman.run("cluster", "list")
    assert (result.code, result.out, result.err) == (0, "", "no clusters are running\n")


@pytest.mark.parametrize("detach", [(), ("--detach",)])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--nodes=-1",), "-1 nodes: between 0 and 5000 are possible"),
        (("--nodes=5001",), "5001 nodes: between 0 and 5000 are possible"),
        (("--devices=-1",), "-1 devices: between 0 and 10000 are possible"),
        (("--devices=10001",), "10001 devices: between 0 and 10000 are possible"),
        (("--kubernetes-version", "9"), "Kubernetes version `9` is not known; known are 1.34, 1.35, 1.36, 1.37"),
        (("--feature-gates", "Nope=true"), "unrecognized feature gate: Nope"),
        (
            ("../x",),
            "`../x` is not a name for a cluster: lower case letters, digits and `-`, 42 at most, no `-` at an end",
        ),
    ],
)
def test_cluster_that_cannot_be_is_refused(
    drayman: CommandLine, arguments: tuple[str, ...], message: str, detach: tuple[str, ...]
) -> None:
    result = drayman.run("cluster", "up", *arguments, *detach)
    assert (result.code, result.out, result.err) == (1, "", f"error: {message}\n")
    assert not (drayman.folder / ".local").exists()


def test_folder_that_cannot_be_made_is_named(drayman: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    drayman.write("file", "")
    monkeypatch.setenv("XDG_STATE_HOME", str(drayman.folder / "file"))
    result = drayman.run("cluster", "up", "-d")
    assert (result.code, result.err) == (
        1,
        f"error: {drayman.folder}/file/drayman/clusters/drayman: not a directory\n",
    )


def test_cluster_in_the_foreground_ends_when_interrupted(drayman: CommandLine) -> None:
    environment = {**os.environ, "XDG_STATE_HOME": str(drayman.folder)}
    command = [sys.executable, "-m", "drayman", "cluster", "up", "--nodes", "0"]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        said = [line for _, line in zip(range(3), process.stdout, strict=False)]
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
    assert said[-1] == "running until interrupted with Ctrl-C\n"
    assert (process.returncode, rest) == (130, "")
    assert list((drayman.folder / "drayman" / "clusters").iterdir()) == []


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_first_signal_ends_and_those_that_follow_do_not_disturb_the_end(first: signal.Signals) -> None:
    done = []

    async def serve() -> list[int]:
        told = verb._ended_when_told()
        try:
            os.kill(os.getpid(), first)
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            for _ in range(2):
                os.kill(os.getpid(), signal.SIGINT)
                await RealClock().sleep(0.01)
            done.append("cleaned up")
        return told

    assert asyncio.run(serve()) == [first, signal.SIGINT, signal.SIGINT]
    assert done == ["cleaned up"]


def test_signal_that_is_ignored_stays_ignored() -> None:
    async def serve() -> None:
        verb._ended_when_told()

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        asyncio.run(serve())
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_cluster_that_is_told_to_end_while_it_starts_ends_at_once(drayman: CommandLine) -> None:
    environment = {**os.environ, "XDG_STATE_HOME": str(drayman.folder)}
    # Its end comes before its start is over: the name is reserved first.
    script = (
        "import os, signal; from drayman import cli; from drayman.testing.clusters import registry, backends\n"
        "class Starting:\n"
        "    async def __aenter__(self):\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "        import asyncio; await asyncio.Event().wait()\n"
        "    async def __aexit__(self, *_): ...\n"
        "backends.running = lambda *_: Starting()\n"
        "raise SystemExit(cli.main(['cluster', 'up', 'test']))"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
    assert list((drayman.folder / "drayman" / "clusters").iterdir()) == []


@pytest.mark.parametrize("backend", ["fake", "local"])
def test_what_a_killed_cluster_left_is_removed_when_it_is_ended(
    drayman: CommandLine, monkeypatch: pytest.MonkeyPatch, backend: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(drayman.folder / "state"))
    killed = (os.getpid(), "1")
    entry = registry.Entry("test", backend, "1.37", 1, "https://127.0.0.1:1", "2026-01-01T00:00:00Z", *killed)
    registry.record(entry, ServerConfig(url=entry.server, token="secret"))
    left = drayman.folder / "drayman-left"
    left.mkdir()
    record.Record(str(left), killed).save()

    result = drayman.run("cluster", "down", "test")

    said = "the process of cluster `test` was killed before; what it left is removed\n"
    assert (result.code, result.out) == (0, said)
    assert list((drayman.folder / "state" / "drayman" / "clusters").iterdir()) == []
    assert left.exists() == (backend == "fake")
