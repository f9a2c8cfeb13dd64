"""Programs are found where they are said to be, in the versions that are wanted."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from drayman.errors import InputError
from drayman.testing.clusters import programs, registry

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[3]


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing is found but what a test puts there: `given`, `assets`, and the cache in `cache`."""
    monkeypatch.setenv("DRAYMAN_CONTROLPLANE", str(tmp_path / "given"))
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path / "assets"))
    monkeypatch.setenv("DRAYMAN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    return tmp_path


@pytest.fixture
def program(folders: Path) -> Callable[[str, str], Path]:
    def make(place: str, says: str) -> Path:
        path = folders / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\necho '{says}'\n")
        path.chmod(0o755)
        return path

    return make


def test_versions_are_those_that_the_modules_build() -> None:
    modules = {path.parent.name: path.read_text() for path in (ROOT / "hack/controlplane").glob("*/go.mod")}
    assert set(programs.VERSIONS) == set(modules)
    for module, version in programs.VERSIONS.items():
        upstream = "etcd/server" if module == "etcd" else module
        assert re.search(rf"\b{upstream}(?:/v\d+)? {re.escape(version)} ", modules[module]), module


def test_missing_programs_are_all_named(folders: Path) -> None:
    with pytest.raises(InputError) as error:
        programs.find(programs.CONTROL_PLANE)

    places = ", ".join(str(folders / name) for name in ("given", "assets", "cache/controlplane"))
    assert str(error.value) == (f"not found: `etcd`, `kube-apiserver`, `kube-controller-manager`; looked in {places}")
    assert "hack/controlplane/build" in str(error.value.hint)


def test_given_folders_come_before_the_cache(program: Callable[[str, str], Path]) -> None:
    cached = program("cache/controlplane/etcd-v3.7.3/etcd", "")
    assert programs.find({"etcd": "etcd"}) == {"etcd": cached}
    assets = program("assets/etcd", "")
    assert programs.find({"etcd": "etcd"}) == {"etcd": assets}
    given = program("given/etcd", "")
    assert programs.find({"etcd": "etcd"}) == {"etcd": given}


def test_busybox_with_a_dynamic_linker_is_not_taken(folders: Path) -> None:
    path = folders / "given" / "busybox"
    path.parent.mkdir()
    path.write_bytes(b"\x7fELF....../lib64/ld-linux-x86-64.so.2")
    path.chmod(0o755)

    assert not programs.available({"busybox": "debian"})


def test_what_people_have_installed_comes_after_the_cache(program: Callable[[str, str], Path]) -> None:
    on_path = program("path/kind", "")
    assert programs.find({"kind": "kind"}) == {"kind": on_path}
    cached = program("cache/controlplane/kind-v0.33.0/kind", "")
    assert programs.find({"kind": "kind"}) == {"kind": cached}


def test_parts_of_a_cluster_are_not_taken_from_the_path(program: Callable[[str, str], Path]) -> None:
    program("path/kubelet", "")
    program("path/kubectl", "")

    with pytest.raises(InputError, match="not found: `kubelet`; looked in") as error:
        programs.find({"kubelet": "kubernetes", "kubectl": "kubernetes"})

    assert "PATH" not in str(error.value)


def test_missing_program_that_may_be_installed_says_so(folders: Path) -> None:
    with pytest.raises(
        InputError, match=r"not found: `kind`, `helm`, `kubectl`; looked in .*controlplane and on the PATH"
    ):
        programs.find(programs.KIND)


async def test_program_of_another_version_is_refused(program: Callable[[str, str], Path]) -> None:
    path = program("given/kube-apiserver", "Kubernetes v1.30.4")

    with pytest.raises(InputError) as error:
        await programs.check_versions({"kube-apiserver": path})

    assert str(error.value) == f"`{path}` is version 1.30.4, where v1.37.2 is wanted"


@pytest.mark.parametrize(
    ("name", "says", "wanted"),
    [
        ("kind", "kind version 0.30.0", "v0.31 or newer"),
        ("helm", "v2.17.0+ga690bad", "v3 or v4"),
        ("kubectl", "Client Version: v1.32.9", "v1.33 or newer"),
    ],
)
async def test_tools_of_old_versions_are_refused(
    program: Callable[[str, str], Path], name: str, says: str, wanted: str
) -> None:
    path = program(f"path/{name}", says)

    with pytest.raises(InputError, match=rf"`{path}` is version \S+, where {wanted} is wanted"):
        await programs.check_versions({name: path})


async def test_tools_of_other_versions_are_accepted(program: Callable[[str, str], Path]) -> None:
    said = {"kind": "kind version 0.31.0", "helm": "v4.0.1+g1", "kubectl": "Client Version: v1.38.0"}

    await programs.check_versions({name: program(f"path/{name}", says) for name, says in said.items()})


async def test_program_that_is_none_is_refused(folders: Path) -> None:
    path = folders / "etcd"
    path.write_bytes(b"\x00")
    path.chmod(0o755)

    with pytest.raises(InputError, match=r"etcd` cannot be run: Exec format error"):
        await programs.check_versions({"etcd": path})


async def test_program_that_never_answers_is_refused_and_ended(
    program: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = program("etcd", "etcd")
    pid = tmp_path / "pid"
    path.write_text(f"#!/bin/sh\n/bin/sleep 1000 &\necho $! >{pid}\nwait\n")
    monkeypatch.setattr(programs, "_ANSWER_SECONDS", 1.0)

    with pytest.raises(InputError) as error:
        await programs.check_versions({"etcd": path})

    assert str(error.value) == f"`{path} --version` says nothing within 1 s"
    assert registry.process_start(int(pid.read_text())) is None


async def test_fitting_versions_are_accepted(program: Callable[[str, str], Path]) -> None:
    paths = {
        "etcd": program("given/etcd", "etcd Version: 3.6.1"),
        "kube-apiserver": program("given/kube-apiserver", "Kubernetes v1.37.2"),
    }

    await programs.check_versions(paths)
