"""A start that fails or is interrupted says why, keeps what was said, and leaves nothing running."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.unit.clusters.kind.machine import CLOCK, DAEMONSETS, control_plane
from tests.unit.clusters.kind.test_boot import OPTIONS, boot

from drayman.errors import DraymanError
from drayman.kube import connect
from drayman.kube.resources import PODS
from drayman.testing.clusters import kind, registry
from drayman.testing.clusters.kind import cluster as clusters
from drayman.testing.clusters.kind import install
from drayman.testing.parts import Options

if TYPE_CHECKING:
    from tests.unit.clusters.kind.machine import Machine

    from drayman.kube.config import ServerConfig

JOURNAL = """case "$*" in *journalctl*)
    echo 'started'
    echo 'E1130 10:00:00.0 1 kubelet.go:1] "Failed" err="inotify_init: too many open files"';;
esac"""
COMPLAINT = 'E1130 10:00:00.0 1 kubelet.go:1] "Failed" err="inotify_init: too many open files"'


async def failure(machine: Machine) -> tuple[str, str]:
    """Return message and hint of a start that fails when the cluster has begun to be; its logs are kept."""
    with pytest.raises(DraymanError) as caught:
        await boot()
    assert not machine.containers
    (logs,) = machine.left()
    assert machine.calls("kind export logs") == [
        f"kind export logs {machine.folder / logs / 'nodes'} --name drayman-test"
    ]
    hint = caught.value.hint or ""
    assert str(machine.folder / logs) in hint
    return str(caught.value), hint


async def test_kind_that_fails_is_told_with_the_journal_of_the_nodes(machine: Machine) -> None:
    machine.say("docker-exec", JOURNAL)
    machine.say(
        "kind-create",
        "echo drayman-test-worker > $FAKE/containers; echo 'ERROR: failed to join node' >&2; exit 1",
    )
    message, hint = await failure(machine)
    assert message == (
        f"`kind create cluster` ended with exit code 1:\nERROR: failed to join node\ndrayman-test-worker: {COMPLAINT}"
    )
    assert hint.startswith("sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512; its whole")


async def test_kubelet_that_ends_is_told_with_its_own_words(machine: Machine) -> None:
    machine.say(
        "docker-exec",
        """case "$*" in
    *_SYSTEMD_UNIT=kubelet.service) echo 'I1130 10:00:00.0 1 server.go:1] "Error is no fault here"'; echo 'bad flag';;
    *_SYSTEMD_UNIT=containerd.service) echo 'time="now" level=info msg="skip" error="not configured"';;
esac""",
    )
    machine.say("kind-create", "echo drayman-test-worker > $FAKE/containers; echo 'no control plane' >&2; exit 1")
    message, _ = await failure(machine)
    assert message == ("`kind create cluster` ended with exit code 1:\nno control plane\ndrayman-test-worker: bad flag")


async def test_calls_of_a_go_program_are_no_part_of_what_it_says(machine: Machine) -> None:
    machine.say(
        "kind-create",
        "echo drayman-test-worker > $FAKE/containers;"
        " printf 'I1130 10:00:00.0 1 a.go:1] asked\\nerror: too late\\nmain.run(...)\\n\\tgo/main.go:3\\n"
        "runtime.goexit\\n\\truntime/asm_amd64.s:1771\\n' >&2; exit 1",
    )
    message, _ = await failure(machine)
    assert message == "`kind create cluster` ended with exit code 1:\nerror: too late"


async def test_node_that_is_never_ready_is_told_with_the_reason(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "_READY_SECONDS", 0.0)
    async with control_plane(machine, ready=False):
        message, _ = await failure(machine)
    assert message == ("node `drayman-test-control-plane` is not ready: cni plugin not initialized, after 0 s")


async def test_node_that_never_registers_is_told(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "_READY_SECONDS", 0.0)
    async with control_plane(machine, workers=1):
        message, _ = await failure(machine)
    assert message == "2 of 3 nodes have registered, after 0 s"


async def test_helm_that_fails_is_told_with_the_release(machine: Machine) -> None:
    machine.say("helm-upgrade", "echo 'Error: chart is broken' >&2; exit 1")
    async with control_plane(machine):
        message, hint = await failure(machine)
    assert message == "helm cannot install `drayman-driver`:\nError: chart is broken"
    assert hint.endswith("helm.log")


async def test_pod_that_will_never_start_is_told_at_once(machine: Machine) -> None:
    async with control_plane(machine) as server:
        await daemonset_of(server, ready=1)
        await pod_of(server, {"reason": "ErrImageNeverPull", "message": "image is not present"})
        message, _ = await failure(machine)
    assert message == (
        "daemonset `drayman-system/drayman-driver` is ready on 1 of 2 nodes\n"
        "pod `drayman-system/driver`: container `main`: ErrImageNeverPull: image is not present"
    )


async def test_pods_that_do_not_become_ready_in_time_are_told(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install, "_READY_SECONDS", 0.0)
    async with control_plane(machine) as server:
        await daemonset_of(server, ready=0)
        await pod_of(server, {"reason": "ContainerCreating"})
        message, _ = await failure(machine)
    assert message == (
        "daemonset `drayman-system/drayman-driver` is ready on 0 of 2 nodes, after 0 s\n"
        "pod `drayman-system/driver`: container `main`: ContainerCreating"
    )


async def daemonset_of(server: ServerConfig, *, ready: int) -> None:
    async with connect.connection(server, user_agent="test") as client:
        found = await client.get(DAEMONSETS, "drayman-driver", "drayman-system")
        changed = {**found, "status": {**found["status"], "numberReady": ready}}
        await client.update(DAEMONSETS, changed, subresource="status")


async def pod_of(server: ServerConfig, waiting: dict[str, str]) -> None:
    async with connect.connection(server, user_agent="test") as client:
        spec = {"containers": [{"name": "main", "image": "i"}]}
        pod = await client.create(PODS, {"metadata": {"name": "driver", "namespace": "drayman-system"}, "spec": spec})
        status = {"name": "main", "image": "i", "imageID": "", "ready": False, "restartCount": 0}
        statuses = {"phase": "Pending", "containerStatuses": [{**status, "state": {"waiting": waiting}}]}
        await client.update(PODS, {**pod, "status": statuses}, subresource="status")


async def test_chosen_folder_keeps_what_a_cluster_said(machine: Machine, tmp_path: Path) -> None:
    async with control_plane(machine):
        with registry.reserved("test"):
            async with kind.running(OPTIONS, kind.Setup("test", logs=tmp_path / "kept")):
                pass
    kept = sorted(path.name for path in (tmp_path / "kept").iterdir())
    assert kept == ["docker.log", "events.yaml", "helm.log", "kind.log", "nodes", "nodes.yaml", "pods.yaml"]
    assert "drayman-test-worker" in (tmp_path / "kept" / "nodes.yaml").read_text()
    assert (tmp_path / "kept" / "kind.log").read_text().startswith("$ ")
    assert machine.left() == []


async def test_cluster_that_cannot_be_deleted_is_remembered(machine: Machine) -> None:
    machine.say("docker-rm", "echo 'driver failed to remove root filesystem' >&2; exit 1")
    async with control_plane(machine):
        with pytest.raises(DraymanError, match="`docker rm` ended with exit code 1:\ndriver failed to remove"):
            await boot()
    assert registry.left_behind("kind") == ["test"]

    machine.say("docker-rm", 'rm "$FAKE/containers"')
    await kind.remove("test")
    assert (machine.containers, registry.left_behind("kind")) == (False, [])


async def test_killed_cluster_is_removed_by_the_next_start(machine: Machine) -> None:
    (machine.folder / "containers").write_text("drayman-old-control-plane\n")
    registry.note("old", {"backend": "kind", "cluster": "drayman-old"})
    async with control_plane(machine):
        await boot()
    assert "docker rm --force --volumes drayman-old-control-plane" in machine.calls()
    assert machine.left() == []


@pytest.mark.parametrize("noted", [{}, {"DOCKER_HOST": "unix:///then"}])
async def test_cluster_is_removed_from_the_daemon_that_it_was_started_on(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, noted: dict[str, str]
) -> None:
    machine.say("docker-rm", 'echo "${DOCKER_HOST-none}" > "$FAKE/asked"; rm "$FAKE/containers"')
    (machine.folder / "containers").write_text("drayman-old-control-plane\n")
    registry.note("old", {"backend": "kind", "cluster": "drayman-old", **noted})
    monkeypatch.setenv("DOCKER_HOST", "unix:///now")
    await kind.remove("old")
    assert machine.text("asked").strip() == noted.get("DOCKER_HOST", "none")


HANG = 'echo $$ > "$FAKE/hangs"; sleep 1000 & wait'
"""Does not end, and has a child that does not either."""


async def hanging(machine: Machine) -> int:
    """Wait until a program hangs, and return its process."""
    path = machine.folder / "hangs"
    while not path.exists() or not path.read_text().strip():
        await CLOCK.sleep(0.01)
    return int(path.read_text())


@pytest.mark.parametrize(
    "step", ["docker-info", "docker-pull", "docker-run", "kind-create", "docker-exec", "kind-load", "helm-upgrade"]
)
async def test_interrupt_at_any_step_leaves_nothing(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr(clusters, "_LATE_SECONDS", 0.0)
    if step == "docker-pull":
        machine.say("docker-image", "exit 1")
    begun = 'echo drayman-test-worker > "$FAKE/containers"; ' if step == "kind-create" else ""
    machine.say(step, begun + HANG)
    async with control_plane(machine):
        task = asyncio.create_task(boot())
        process = await hanging(machine)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    await until_gone(process)
    assert (machine.containers, machine.left()) == (False, [])


async def test_interrupt_in_the_end_does_not_keep_it_from_deleting(machine: Machine) -> None:
    machine.say("helm-upgrade", "exit 1")
    machine.say("kind-export", HANG)
    async with control_plane(machine):
        task = asyncio.create_task(boot())
        await hanging(machine)
        (machine.folder / "hangs").unlink()
        machine.say("docker-rm", 'echo $$ > "$FAKE/hangs"; sleep 0.2; rm "$FAKE/containers"')
        for _ in range(2):
            task.cancel()
            await hanging(machine)
        with pytest.raises(asyncio.CancelledError):
            await task

    assert not machine.containers
    assert registry.left_behind("kind") == []


async def until_gone(session: int) -> None:
    """Wait until no process of a session is alive, which the kernel sees to a moment after they were killed."""
    async with CLOCK.timeout(10):
        while alive_in_session(session):
            await CLOCK.sleep(0.01)


def alive_in_session(session: int) -> bool:
    """Return whether a process of the session is alive."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, _, its, *_ = path.read_text().rpartition(")")[2].split()
            if state != "Z" and its == str(session) and int(its) != os.getsid(0):
                return True
    return False


async def test_late_container_of_an_interrupted_start_is_removed(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Docker may still make a container when the client that asked for it is gone."""
    monkeypatch.setattr(clusters, "_LATE_SECONDS", 0.0)
    machine.say("kind-create", 'echo a > "$FAKE/containers"; ' + HANG)
    machine.say("docker-rm", 'case "$*" in *a) echo late > "$FAKE/containers";; *) rm "$FAKE/containers";; esac')
    task = asyncio.create_task(boot(Options(nodes=1)))
    await hanging(machine)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert machine.calls("docker rm") == ["docker rm --force --volumes a", "docker rm --force --volumes late"]
    assert machine.left() == []
