"""`drayman cluster` with nodes in containers: in the foreground, kept, interrupted, killed."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest
from tests.unit.clusters.kind.machine import control_plane
from tests.unit.clusters.kind.test_failures import HANG, hanging

from drayman.testing.clusters import registry

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.unit.clusters.kind.machine import Machine

READY = "running until interrupted with Ctrl-C"


@pytest.fixture(autouse=True)
async def _control_plane(machine: Machine) -> AsyncIterator[None]:
    async with control_plane(machine):
        yield


async def process(*arguments: str) -> asyncio.subprocess.Process:
    command = [sys.executable, "-m", "drayman", "cluster", *arguments]
    pipes = {"stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.PIPE}
    return await asyncio.create_subprocess_exec(*command, **pipes, env=dict(os.environ))


async def drayman(*arguments: str) -> tuple[int | None, str, str]:
    """Run `drayman cluster …` to its end; return exit code, output and errors."""
    run = await process(*arguments)
    out, err = await run.communicate()
    return run.returncode, out.decode(), err.decode()


async def ready(run: asyncio.subprocess.Process) -> list[str]:
    """Return what the command has said until its cluster runs."""
    assert run.stdout is not None
    said: list[str] = []
    while not said or said[-1] != READY:
        line = await run.stdout.readline()
        assert line, f"it ended: {said}"
        said.append(line.decode().rstrip("\n"))
    return said


async def ended(run: asyncio.subprocess.Process, *signals: signal.Signals) -> tuple[int | None, str, str]:
    for number in signals:
        run.send_signal(number)
    out, err = await run.communicate()
    return run.returncode, out.decode(), err.decode()


async def test_detached_cluster_needs_no_process_and_is_ended_by_name(machine: Machine) -> None:
    code, out, err = await drayman("up", "test", "--backend", "kind", "--detach")
    kubeconfig = registry.kubeconfig("test")
    assert (code, err) == (0, "")
    assert out.splitlines()[-3:] == [
        "cluster `test` is running",
        f"export KUBECONFIG={kubeconfig}",
        "cluster `test` stays; `drayman cluster down test` deletes it",
    ]
    entry = registry.existing("test")
    assert (entry.stays, entry.attended(), entry.nodes) == (True, False, 2)
    assert kubeconfig.stat().st_mode & 0o777 == 0o600

    again = await drayman("up", "test", "--backend", "kind")
    assert again == (1, "", "error: a cluster `test` is running\nhint: drayman cluster down test\n")
    assert await drayman("down", "test") == (0, "cluster `test` has ended\n", "")
    assert (machine.containers, machine.left()) == (False, [])


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
async def test_cluster_in_the_foreground_goes_with_its_command(
    machine: Machine, number: signal.Signals, code: int
) -> None:
    run = await process("up", "test", "--backend", "kind")
    await ready(run)
    assert machine.containers
    assert await ended(run, number, number) == (code, "deleting the kind cluster drayman-test\n", "")
    assert (machine.containers, machine.left()) == (False, [])


async def test_kept_cluster_stays_when_its_command_ends(machine: Machine) -> None:
    run = await process("up", "test", "--backend", "kind", "--keep")
    await ready(run)
    said = "cluster `test` stays; `drayman cluster down test` deletes it\n"
    assert await ended(run, signal.SIGINT) == (130, said, "")
    assert machine.containers
    assert await drayman("down", "test") == (0, "cluster `test` has ended\n", "")
    assert (machine.containers, machine.left()) == (False, [])


async def test_kept_cluster_is_ended_with_its_command(machine: Machine) -> None:
    run = await process("up", "test", "--backend", "kind", "--keep")
    await ready(run)
    assert await drayman("down", "test") == (0, "cluster `test` has ended\n", "")
    assert (await ended(run))[0] == 0
    assert (machine.containers, machine.left()) == (False, [])


@pytest.mark.parametrize("keep", [(), ("--keep",)])
async def test_interrupts_while_it_starts_leave_nothing(machine: Machine, keep: tuple[str, ...]) -> None:
    machine.say("kind-create", 'echo drayman-test-worker > "$FAKE/containers"; ' + HANG)
    run = await process("up", "test", "--backend", "kind", *keep)
    await hanging(machine)
    code, out, err = await ended(run, signal.SIGINT, signal.SIGINT, signal.SIGTERM)
    assert (code, err) == (130, "")
    assert out.splitlines()[-1] == "deleting the kind cluster drayman-test"
    assert (machine.containers, machine.left()) == (False, [])


@pytest.mark.parametrize("ready_before", [True, False])
async def test_cluster_whose_process_was_killed_is_removed_by_name(machine: Machine, ready_before: bool) -> None:
    if not ready_before:
        machine.say("helm-upgrade", HANG)
    run = await process("up", "test", "--backend", "kind")
    if ready_before:
        await ready(run)
    else:
        await hanging(machine)
    assert (await ended(run, signal.SIGKILL))[0] == -signal.SIGKILL
    assert machine.containers

    said = "the process of cluster `test` was killed before; what it left is removed\n"
    assert await drayman("down", "test") == (0, said, "")
    assert (machine.containers, machine.left()) == (False, [])


async def test_cluster_that_starts_is_not_ended_by_name_from_under_its_process(machine: Machine) -> None:
    machine.say("helm-upgrade", HANG)
    run = await process("up", "test", "--backend", "kind")
    await hanging(machine)
    refused = "error: another process starts or runs a cluster `test`\n"
    assert await drayman("down", "test") == (1, "", refused)
    assert machine.containers
    await ended(run, signal.SIGTERM)
    assert machine.left() == []


async def test_cluster_that_cannot_stay_is_not_kept(machine: Machine) -> None:
    refused = "error: a cluster of the backend `fake` ends with its process\nhint: --detach\n"
    assert await drayman("up", "test", "--keep") == (1, "", refused)
    assert machine.left() == []


async def test_failed_start_says_why_once_and_where_more_is(machine: Machine) -> None:
    machine.say("helm-upgrade", "echo 'Error: no such chart' >&2; exit 1")
    code, _, err = await drayman("up", "test", "--backend", "kind", "--logs", str(machine.folder / "kept"))
    assert (code, err) == (
        1,
        "error: helm cannot install `drayman-driver`:\nError: no such chart\n"
        f"hint: its whole output: {machine.folder / 'kept' / 'helm.log'}\n",
    )
    assert (machine.folder / "kept" / "pods.yaml").exists()
    assert (machine.containers, machine.left()) == (False, [])
