"""The private Docker daemon's runtime asks runc for nothing that the machine has not to give."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hack.kind import parts, runtime

RUNTIME = Path(__file__).parents[3] / "hack/kind/runtime.py"

ALL = [f"CAP_{name}" for name in runtime.CAPABILITIES]


def described(capabilities: dict[str, list[str] | None] | None) -> dict[str, object]:
    return {"args": ["sh", "-c", "echo CAP_SYS_RESOURCE"], "capabilities": capabilities, "cwd": "/"}


@pytest.fixture
def runc(tmp_path: Path) -> Path:
    """Stand in for runc: tell the arguments."""
    path = tmp_path / "runc"
    path.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    path.chmod(0o755)
    return path


def test_lacking_is_what_the_bounding_set_has_not(tmp_path: Path) -> None:
    status = tmp_path / "status"
    status.write_text("CapEff:\t0000000000000000\nCapBnd:\t000001fffeffffff\n")
    assert runtime.lacking(str(status)) == {"CAP_SYS_RESOURCE"}
    status.write_text("CapBnd:\t000001ffffffffff\n")
    assert runtime.lacking(str(status)) == frozenset()


@pytest.mark.parametrize(
    ("arguments", "file"),
    [
        (["--root", "create", "--log-format", "json", "create", "--bundle", "/b", "name"], "/b/config.json"),
        (["--systemd-cgroup", "run", "--bundle=/b", "name"], "/b/config.json"),
        (["create", "name"], "./config.json"),
        (["--log=/l", "exec", "--detach", "--process", "/p", "name"], "/p"),
        (["exec", "-p", "/p", "name"], "/p"),
        (["exec", "name", "true"], None),
        (["--root", "/r", "delete", "--force", "create"], None),
        (["--version"], None),
        ([], None),
    ],
)
def test_description_is_found_in_the_arguments(arguments: list[str], file: str | None) -> None:
    assert runtime.description(arguments) == file


@pytest.mark.parametrize("inside", [True, False], ids=["config.json", "process file"])
def test_what_is_lacking_leaves_every_list(tmp_path: Path, *, inside: bool) -> None:
    path = tmp_path / "file"
    process = described({"bounding": ALL, "effective": ["CAP_CHOWN", "CAP_SYS_RESOURCE"], "ambient": None})
    path.write_text(json.dumps({"process": process, "hostname": "n"} if inside else process))
    runtime.drop(str(path), frozenset({"CAP_SYS_RESOURCE", "CAP_BPF"}))
    written = json.loads(path.read_text())
    assert written.pop("hostname", None) == ("n" if inside else None)
    written = written["process"] if inside else written
    bounding = [name for name in ALL if name not in ("CAP_SYS_RESOURCE", "CAP_BPF")]
    assert written == described({"bounding": bounding, "effective": ["CAP_CHOWN"], "ambient": []})
    assert sorted(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("capabilities", [None, {}, {"bounding": ["CAP_CHOWN"], "ambient": None}])
def test_a_container_that_lacks_nothing_is_left_as_it_is(
    tmp_path: Path, capabilities: dict[str, list[str] | None] | None
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"process": described(capabilities)}, indent=3))
    before = path.read_bytes(), path.stat().st_ino
    runtime.drop(str(path), frozenset({"CAP_SYS_RESOURCE"}))
    assert (path.read_bytes(), path.stat().st_ino) == before


def test_runc_gets_the_same_arguments(tmp_path: Path, runc: Path) -> None:
    # A name that the kernel does not know is never lacking, so that this holds on every machine.
    (tmp_path / "config.json").write_text(json.dumps({"process": described({"bounding": ["CAP_UNKNOWN"]})}))
    arguments = ["--log", "/l", "create", "--bundle", str(tmp_path), "a name"]
    done = subprocess.run(
        [sys.executable, "-IS", RUNTIME, runc, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ},
    )
    assert done.stdout.splitlines() == arguments


@pytest.mark.parametrize("command", ["create", "delete"])
def test_the_launcher_loses_no_argument(
    tmp_path: Path, runc: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    dockerd = parts.module_of(RUNTIME.parent / "dockerd")
    monkeypatch.setattr(dockerd, "RUN", tmp_path)
    shutil.copy(RUNTIME, tmp_path)
    launcher = tmp_path / "launcher"
    launcher.write_text(dockerd.launcher_of(str(runc)))
    (tmp_path / "config.json").write_text(json.dumps({"process": described(None)}))
    arguments = ["--log", "a file", command, "--bundle", str(tmp_path), "name"]
    done = subprocess.run(["sh", launcher, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == arguments
