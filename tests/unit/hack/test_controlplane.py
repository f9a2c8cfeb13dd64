"""What `hack/controlplane/build` builds: each program is a tool of its module, and each backend has what it needs."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from drayman.testing.clusters import programs

ROOT = Path(__file__).parents[3]
BUILD = ROOT / "hack/controlplane/build"


def build(*arguments: str, cache: Path) -> subprocess.CompletedProcess[str]:
    given = {
        name: value for name, value in os.environ.items() if name not in ("DRAYMAN_CONTROLPLANE", "KUBEBUILDER_ASSETS")
    }
    environment = {**given, "DRAYMAN_CACHE": str(cache)}
    return subprocess.run([BUILD, *arguments], env=environment, capture_output=True, text=True, check=False)


def listed(*arguments: str, cache: Path) -> dict[str, Path]:
    """Return the programs and where they are."""
    lines = build("--list", *arguments, cache=cache).stdout.splitlines()
    return {line.split()[0]: Path(line.split()[-1]) for line in lines}


def test_every_program_is_a_tool_of_its_module_and_every_tool_is_built(tmp_path: Path) -> None:
    tools = {}
    for path in (ROOT / "hack/controlplane").glob("*/go.mod"):
        block = re.search(r"^tool (?:\(\n(.*?)\)|(\S+))", path.read_text(), re.MULTILINE | re.DOTALL)
        assert block, path
        for package in (block[1] or block[2]).split():
            name = re.sub(r"/v\d+$", "", package).rpartition("/")[2]
            tools["etcd" if name == "server" else name] = path.parent.name

    built = listed(cache=tmp_path)

    modules = {name: path.parent.name for name, path in built.items() if path.is_relative_to(tmp_path)}
    wanted = {name: f"{module}-{programs.VERSIONS[module]}" for name, module in tools.items()}
    assert {name: module for name, module in modules.items() if module != "debian"} == wanted


@pytest.mark.parametrize(
    ("backend", "needed"),
    [("local", {**programs.CONTROL_PLANE, **programs.SCHEDULER, **programs.NODE}), ("kind", programs.KIND)],
)
def test_backends_are_built_what_they_look_for(backend: str, needed: dict[str, str], tmp_path: Path) -> None:
    built = listed("--for", backend, cache=tmp_path)

    assert set(needed) <= set(built)
    upstream = {name: module for name, module in needed.items() if module != "debian"}
    folders = {name: built[name].parent.name for name in upstream}
    assert folders == {name: f"{module}-{programs.VERSIONS[module]}" for name, module in upstream.items()}


def test_backend_local_does_not_wait_for_the_programs_of_another(tmp_path: Path) -> None:
    for path in listed("--for", "local", cache=tmp_path).values():
        if path.is_relative_to(tmp_path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

    assert build("--check", "--for", "local", cache=tmp_path).returncode == 0
    assert build("--check", "--for", "kind", cache=tmp_path).returncode == 1
    assert build("--check", cache=tmp_path).returncode == 1


def test_names_and_a_backend_exclude_each_other(tmp_path: Path) -> None:
    done = build("--check", "--for", "kind", "etcd", cache=tmp_path)

    assert done.returncode == 2
    assert "either --for or names, not both" in done.stderr
