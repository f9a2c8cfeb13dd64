"""`hack/kind/use-docker`: a private daemon is started only where none answers, and ended by who started it.

`hack/kind/down` ends it, too, when it is of no more use.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[3] / "hack/kind/use-docker"

DOWN = SOURCE.parent / "down"

DOCKER = """#!/bin/sh
if [ "$1" = ps ]; then
    [ "$DOCKER_HOST $*" = "unix:///private ps --all --quiet" ] && [ -z "$SILENT" ] && echo "$CONTAINERS"
    exit
fi
[ -n "$ANSWERS" ] || [ "$DOCKER_HOST" = unix:///private ]
"""
DOCKERD = """#!/bin/sh
echo "$1" >>"$CALLS"
case $1 in
    status) [ -n "$RUNS" ] && echo running && echo export DOCKER_HOST=unix:///private ;;
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
        command = ["bash", "-euo", "pipefail", "-c", f"source {self._folder}/use-docker\n{script}"]
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


def down(machine: Machine, folder: Path, *, code: int = 0, **variables: str) -> tuple[int, list[str]]:
    """Run `hack/kind/down NAME` with a `drayman` that ends with `code`; return the exit code and the calls."""
    script = folder / "repository/hack/kind/down"
    script.parent.mkdir(parents=True)
    shutil.copy(DOWN, script)
    (script.parent / "use-docker").symlink_to(folder / "use-docker")
    (script.parent / "dockerd").symlink_to(folder / "dockerd")
    stub = f'drayman() {{ [ "$*" = "cluster down NAME" ] && return {code}; }}'
    (script.parents[1] / "setup").write_text(f'cd "$(dirname "${{BASH_SOURCE[0]}}")/.."\n{stub}\n')
    ended, _, calls = machine.run(f"{script} NAME", **variables)
    return ended, calls


def test_private_daemon_without_containers_ends_with_a_cluster(machine: Machine, tmp_path: Path) -> None:
    assert down(machine, tmp_path, RUNS="1") == (0, ["status", "stop"])


@pytest.mark.parametrize("trouble", [{"CONTAINERS": "0123456789ab"}, {"SILENT": "1"}])
def test_private_daemon_that_others_may_use_goes_on(machine: Machine, tmp_path: Path, trouble: dict[str, str]) -> None:
    assert down(machine, tmp_path, RUNS="1", **trouble) == (0, ["status"])


def test_private_daemon_goes_on_where_no_cluster_has_ended(machine: Machine, tmp_path: Path) -> None:
    assert down(machine, tmp_path, code=3, RUNS="1") == (3, [])


def test_other_daemons_are_left_alone(machine: Machine, tmp_path: Path) -> None:
    assert down(machine, tmp_path, ANSWERS="1") == (0, ["status"])
