"""Clusters of processes start in order, say why they cannot go on, and leave nothing behind, even after a crash."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import shutil
import signal
import socket
from pathlib import Path
from types import SimpleNamespace

import pytest

from drayman.clock import RealClock
from drayman.errors import DraymanError, InputError
from drayman.testing.clusters import registry
from drayman.testing.clusters.local import folder as folders
from drayman.testing.clusters.local import record, room
from drayman.testing.clusters.local.controlplane import check_port
from drayman.testing.clusters.local.folder import clean_up, cluster_folder

CLOCK = RealClock()
FOREVER = ["sleep", "1000"]


@pytest.fixture(autouse=True)
def _state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(folders, "_PLACE", tmp_path)


def alive(pid: int) -> bool:
    return registry.process_start(pid) is not None


def left(tmp_path: Path) -> list[str]:
    """Return what is left of clusters."""
    return sorted(path.name for path in (*tmp_path.glob("drayman-*"), *tmp_path.glob("state/drayman/local/*")))


async def test_cluster_that_ends_leaves_nothing(tmp_path: Path) -> None:
    async with cluster_folder(CLOCK, None) as (folder, processes):
        process = await processes.start("sleeper", FOREVER)
        assert folder.exists()
        assert alive(process.pid)

    assert not alive(process.pid)
    assert left(tmp_path) == []


async def test_error_ends_the_cluster_and_keeps_the_logs(tmp_path: Path) -> None:
    pids: list[int] = []

    async def fail() -> None:
        async with cluster_folder(CLOCK, None) as (_, processes):
            pids.append((await processes.start("sleeper", ["sh", "-c", "echo hello; exec sleep 1000"])).pid)
            await processes.until("no output", lambda: said(processes.log("sleeper")), 10)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()

    assert not alive(pids[0])
    (logs,) = left(tmp_path)
    assert logs.startswith("drayman-logs-")
    assert await asyncio.to_thread((tmp_path / logs / "sleeper.log").read_text) == "hello\n"


async def said(path: Path) -> bool:
    return bool(await asyncio.to_thread(path.read_text))


async def test_interrupt_ends_the_cluster(tmp_path: Path) -> None:
    started: list[int] = []

    async def run() -> None:
        async with cluster_folder(CLOCK, None) as (_, processes):
            started.append((await processes.start("sleeper", FOREVER)).pid)
            await asyncio.Event().wait()

    task = asyncio.create_task(run())
    while not started:
        await CLOCK.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert not alive(started[0])
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    ("script", "kind", "message"),
    [
        ("echo broken; exit 3", DraymanError, "`server` ended with exit code 3:\nbroken"),
        ("kill -KILL $$", DraymanError, "`server` was ended by signal 9:\n"),
        (
            "echo 'listen tcp 127.0.0.1:1: bind: address already in use'; exit 1",
            InputError,
            "`server` found its port taken:\nlisten tcp 127.0.0.1:1: bind: address already in use",
        ),
    ],
)
async def test_process_that_ends_by_itself_ends_the_cluster(
    tmp_path: Path, script: str, kind: type[DraymanError], message: str
) -> None:
    async def run() -> None:
        async with cluster_folder(CLOCK, tmp_path / "kept") as (_, processes):
            await processes.start("server", ["sh", "-c", script])
            await asyncio.Event().wait()

    with pytest.raises(kind) as error:
        await run()

    assert (str(error.value), error.value.hint) == (message, f"its whole output: {tmp_path / 'kept' / 'server.log'}")
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    ("number", "script"),
    [
        (signal.SIGKILL, "echo $$; exec sleep 1000"),
        (signal.SIGTERM, "echo $$; exec sleep 1000"),
        (signal.SIGTERM, "trap 'exit 0' TERM; echo $$; while :; do sleep 0.1; done"),
    ],
    ids=["killed", "ended", "ended in its order"],
)
async def test_process_that_is_revived_is_started_again(tmp_path: Path, number: signal.Signals, script: str) -> None:
    async with cluster_folder(CLOCK, None) as (_, processes):
        log = processes.log("scheduler")

        async def has_started(times: int) -> list[str]:
            async def started() -> bool:
                return len(log.read_text().splitlines()) == times

            await processes.until("no output", started, 10)
            return log.read_text().splitlines()

        await processes.start("scheduler", ["sh", "-c", script], revived=True)
        for times in (1, 2):
            os.kill(int((await has_started(times))[-1]), number)
        pids = await has_started(3)

    assert len(set(pids)) == 3
    assert not any(alive(int(pid)) for pid in pids)
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    ("script", "how"), [("exit 3", "ended with exit code 3"), ("kill -SEGV $$", "was ended by signal 11")]
)
async def test_process_that_is_revived_and_fails_by_itself_ends_the_cluster(
    tmp_path: Path, script: str, how: str
) -> None:
    async def run() -> None:
        async with cluster_folder(CLOCK, tmp_path / "kept") as (_, processes):
            await processes.start("scheduler", ["sh", "-c", script], revived=True)
            await asyncio.Event().wait()

    with pytest.raises(DraymanError, match=f"`scheduler` {how}"):
        await run()

    assert left(tmp_path) == []


async def test_process_that_ignores_its_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drayman.testing.clusters.local.processes.GRACE_SECONDS", 0.1)
    script = "trap '' TERM; echo ready; while :; do sleep 0.1; done"
    async with cluster_folder(CLOCK, None) as (_, processes):
        process = await processes.start("stubborn", ["sh", "-c", script])
        await processes.until("not ready", lambda: said(processes.log("stubborn")), 10)

    assert process.returncode == -signal.SIGKILL
    assert left(tmp_path) == []


async def test_what_a_killed_cluster_left_is_cleaned_up(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(*FOREVER)
    other = await asyncio.create_subprocess_exec(*FOREVER)
    folder = tmp_path / "drayman-dead"
    folder.mkdir()
    # The second process has the id of one of the cluster's, and is another.
    started = registry.process_start(process.pid) or ""
    logs = tmp_path / "drayman-logs-dead"
    logs.mkdir()
    dead = record.Record(str(folder), (os.getpid(), "0"), str(logs), [(process.pid, started), (other.pid, "0")])
    dead.save()

    await clean_up(CLOCK)

    assert await process.wait() == -signal.SIGKILL
    assert alive(other.pid)
    assert left(tmp_path) == []
    other.kill()
    await other.wait()


async def test_cluster_of_another_living_process_is_left_alone(tmp_path: Path) -> None:
    async with cluster_folder(CLOCK, None) as (folder, processes):
        process = await processes.start("sleeper", FOREVER)
        await clean_up(CLOCK)
        assert folder.exists()
        assert alive(process.pid)


async def test_full_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(free=100 << 20))

    with pytest.raises(InputError) as error:
        async with cluster_folder(CLOCK, None):
            pass

    assert str(error.value) == f"100 MiB are free in `{tmp_path}`, and a cluster needs 512"


def test_real_kubelet_needs_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    with pytest.raises(InputError) as error:
        room.check()

    assert (str(error.value), error.value.hint) == (
        "a real kubelet needs root",
        "--kubelet fake runs the control plane with fake kubelets",
    )


def test_port_that_is_taken_is_refused() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]

        with pytest.raises(InputError) as error:
            check_port(port)

    assert str(error.value) == f"port {port} cannot be used: address already in use"
    check_port(port)


def test_programs_that_the_node_does_not_see_are_refused() -> None:
    with pytest.raises(InputError, match="a node of its own sees nothing of `/var/lib`"):
        room.check_visible([Path("/var/lib/programs/kubelet")])


async def test_full_disk_of_the_records_is_named_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, _text: str) -> int:
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    async def run() -> None:
        async with cluster_folder(CLOCK, tmp_path / "kept"):
            raise AssertionError

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(InputError) as error:
        await run()

    place = re.escape(str(tmp_path / "state" / "drayman" / "local"))
    assert re.fullmatch(f"the disk that holds `{place}/drayman-[^/]*.json` is full", str(error.value))
    assert left(tmp_path) == []
