"""`hack/kind/use-docker`: a private daemon is started only where none answers, and ended by who started it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[3] / "hack/kind/use-docker"

DOCKER = """#!/bin/sh
[ -n "$ANSWERS" ] || [ "$DOCKER_HOST" = unix:///private ]
"""
DOCKERD = """#!/bin/sh
echo "$1" >>"$CALLS"
case $1 in
    status) [ -n "$RUNS" ] ;;
    start) [ -z "$BROKEN" ] && echo export DOCKER_HOST=unix:///private ;;
esac
"""


class Machine:
    """A folder with a docker and a dockerd that note what they are asked."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._calls = folder / "calls"
        shutil.copy(SOURCE, folder / "use-docker")
        self._write("bin/docker", DOCKER)
        self._write("dockerd", DOCKERD)

    def _write(self, name: str, text: str) -> None:
        path = self._folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def run(self, script: str, **variables: str) -> tuple[int, str, list[str]]:
        """Run a script that sources it; return the exit code, the output and what dockerd was asked."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("DOCKER_")}
        environment = {
            **kept,
            "PATH": f"{self._folder / 'bin'}:/usr/bin:/bin",
            "DRAYMAN_CACHE": str(self._folder / "cache"),
            "CALLS": str(self._calls),
            **variables,
        }
        command = ["bash", "-euc", f"source {self._folder}/use-docker\n{script}"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        calls = self._calls.read_text().split() if self._calls.exists() else []
        return done.returncode, done.stdout, calls


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_daemon_that_answers_is_used(machine: Machine) -> None:
    assert machine.run("use_docker; echo ${DOCKER_HOST:-theirs}", ANSWERS="1") == (0, "theirs\n", [])


def test_private_daemon_ends_with_the_script(machine: Machine) -> None:
    script = "use_docker; sh -c 'echo $DOCKER_HOST'"
    assert machine.run(script) == (0, "unix:///private\n", ["status", "start", "stop"])


def test_private_daemon_ends_after_a_failure_whose_code_stays(machine: Machine) -> None:
    assert machine.run("use_docker; (exit 7); echo no") == (7, "", ["status", "start", "stop"])


def test_private_daemon_that_ran_before_goes_on(machine: Machine) -> None:
    assert machine.run("use_docker", RUNS="1") == (0, "", ["status", "start"])


def test_daemon_that_does_not_start_fails_and_leaves_nothing(machine: Machine) -> None:
    assert machine.run("use_docker || echo none", BROKEN="1") == (0, "none\n", ["status", "start", "stop"])


@pytest.mark.parametrize(("unpacked", "answers"), [(False, ""), (True, ""), (False, "1")])
def test_docker_is_here_where_nothing_is_to_be_downloaded(
    machine: Machine, tmp_path: Path, unpacked: bool, answers: str
) -> None:
    if Path("/usr/sbin/dockerd").exists() or Path("/usr/bin/dockerd").exists():
        unpacked = True
    if unpacked:
        (tmp_path / "cache/debian/docker").mkdir(parents=True)
    code, _, calls = machine.run("docker_is_here", ANSWERS=answers)
    assert (code == 0) == (unpacked or bool(answers))
    assert calls == []
