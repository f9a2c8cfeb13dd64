"""How the scripts talk to Docker: one clear message each for what is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hack.kind import context, engine

if TYPE_CHECKING:
    from collections.abc import Callable

SCRIPT = Path(__file__).parents[3] / "hack/kind/images"


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return what puts a `docker` of our making on the PATH, given as the body of a shell script."""

    def put(body: str) -> None:
        (tmp_path / "docker").write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / "docker").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    return put


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False)


def test_docker_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("DRAYMAN_CACHE", str(tmp_path))  # there may be one beside the private daemon

    done = run("scheduler")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "error: `docker` is needed and was not found",
        "hint: install Docker's command line",
    ]


@pytest.mark.parametrize(
    "said",
    [
        "Cannot connect to the Docker daemon at unix:///x.sock. Is the docker daemon running?",
        "failed to connect to the docker API at unix:///x.sock; check if the path is correct",
        "permission denied while trying to connect to the Docker daemon socket: dial unix /x.sock: permission denied",
    ],
)
def test_no_daemon_answers(said: str, docker: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    docker(f"echo '{said}' >&2; exit 1")
    monkeypatch.setenv("DOCKER_HOST", "unix:///x.sock")

    done = run("scheduler")

    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"error: no Docker daemon answers at unix:///x.sock: {said}",
        "hint: hack/kind/dockerd start",
    ]


@pytest.mark.parametrize("chosen", ["garbage", "foo://x", "unix:/x.sock", "/var/run/docker.sock"])
def test_a_daemon_that_has_no_address_is_not_asked(
    chosen: str, docker: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    docker("echo asked >&2; exit 9")
    monkeypatch.setenv("DOCKER_HOST", chosen)

    done = run("--check")

    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"error: `{chosen}` in DOCKER_HOST is no address of a Docker daemon",
        "hint: unix://PATH, tcp://HOST:PORT, …",
    ]


@pytest.mark.parametrize("chosen", ["tcp://garbage:2375", "garbage:2375"])
def test_a_daemon_on_a_machine_that_is_not_there(
    chosen: str, docker: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    docker("""echo 'Get "http://garbage:2375/v1.41/images": dial tcp: lookup garbage: no such host' >&2; exit 1""")
    monkeypatch.setenv("DOCKER_HOST", chosen)

    done = run("scheduler")

    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"error: no Docker daemon answers at {chosen}: dial tcp: lookup garbage: no such host",
        "hint: hack/kind/dockerd start",
    ]


def test_a_daemon_that_reaches_no_registry_answers(docker: Callable[[str], None]) -> None:
    said = 'Error response from daemon: Get "https://x/v2/": dial tcp: lookup x: no such host'
    docker(f"[ \"$1\" = pull ] && echo '{said}' >&2; exit 1")

    assert f"could not be pulled: {said}\n" in run("scheduler").stderr


@pytest.mark.parametrize("repository", ["A b", "", "/x", "x/", "docker.io/Drayman", "Drayman", "a//b", "host:port/x"])
@pytest.mark.parametrize("how", ["--check", "--sizes", "scheduler"])
def test_a_repository_that_no_image_can_have_is_refused(
    repository: str, how: str, docker: Callable[[str], None]
) -> None:
    docker("echo asked >&2; exit 9")

    done = run(how, "--repository", repository)

    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"error: `{repository}` is no repository for images",
        "hint: HOST[:PORT][/PATH] or PATH, with a path in small letters",
    ]


@pytest.mark.parametrize(
    "repository", ["me", "docker.io/drayman", "localhost:5000", "Registry.example.com:5000/a_b/c--d", "[::1]:5000/x"]
)
def test_repositories_of_registries_and_of_none_are_taken(repository: str) -> None:
    engine.check_repository(repository)


def test_the_base_is_missing(docker: Callable[[str], None]) -> None:
    docker('[ "$1" = pull ] && echo "lookup registry: no such host" >&2; exit 1')

    done = run("scheduler")

    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "error: the base `docker.io/library/python:3.13-slim-bookworm` is not there and could not be pulled: "
        "lookup registry: no such host",
        "hint: hack/kind/base-image makes `docker.io/drayman/base:bookworm` from Debian's packages",
    ]


def test_a_wheel_of_another_machine_is_refused_before_anything_is_built(
    docker: Callable[[str], None], tmp_path: Path
) -> None:
    wheel = tmp_path / f"drayman-{context.version()}-cp311-abi3-manylinux_2_17_s390x.whl"
    wheel.write_bytes(b"")
    docker(
        """case "$1 $2" in
        "image inspect") [ "$3" = base:1 ] || exit 1; echo '[{"Id": "sha256:1"}]';;
        "run --rm") echo '[[3, 11], "x86_64", "glibc 2.36"]';;
        *) echo "unexpected: $*" >&2; exit 9;;
        esac"""
    )

    done = run("driver", "--base", "base:1", "--wheel", str(wheel))

    assert done.returncode == 1
    assert f"`{wheel.name}` is not for x86_64, which the base `base:1` is for" in done.stderr


def test_check_names_what_is_missing_and_builds_nothing(docker: Callable[[str], None]) -> None:
    docker('[ "$1 $2 $3" = "image inspect base:1" ] && echo \'[{"Id": "sha256:1"}]\' || exit 1')

    done = run("--check", "--base", "base:1", "scheduler", "driver")

    assert done.returncode == 1
    assert [line.rpartition("/")[2].split(":")[0] for line in done.stderr.splitlines()] == ["scheduler", "driver"]


def test_an_unknown_name_is_refused() -> None:
    done = run("schedular")

    assert done.returncode == 2
    assert done.stderr == "error: no image `schedular`: there are scheduler, driver, testbox\n"


def test_a_wheel_that_is_not_there_is_refused() -> None:
    done = run("--wheel", "/nowhere.whl")

    assert done.returncode == 1
    assert done.stderr == "error: no file `/nowhere.whl`\n"
