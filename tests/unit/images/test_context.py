"""What the images are built from: which wheel fits which base, what makes an image out of date, the build context."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hack.kind import context, engine

BASE = context.Base("base:1", "sha256:1", (3, 11), "x86_64", (2, 36))


def wheel(platforms: str, version: str | None = None) -> str:
    return f"drayman-{version or context.version()}-cp311-abi3-{platforms}.whl"


@pytest.mark.parametrize(
    "platforms",
    [
        "manylinux_2_36_x86_64",
        "manylinux_2_17_x86_64.manylinux2014_x86_64",
        "manylinux2014_x86_64",
        "linux_x86_64",
        "manylinux_2_17_aarch64.manylinux_2_17_x86_64",
    ],
)
def test_a_wheel_fits(platforms: str) -> None:
    context.check_wheel(wheel(platforms), BASE)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (wheel("manylinux_2_17_aarch64"), "is not for x86_64, which the base `base:1` is for"),
        (wheel("musllinux_1_2_x86_64"), "is not for x86_64"),
        (wheel("win_amd64"), "is not for x86_64"),
        (wheel("manylinux_2_37_x86_64"), "needs glibc 2.37, and the base `base:1` has 2.36"),
        (wheel("linux_x86_64").replace("cp311", "cp312"), "needs Python 3.12, and the base `base:1` has 3.11"),
        (wheel("linux_x86_64", "9.9.9"), f"is of version 9.9.9, where {context.version()} is wanted"),
        ("aiohttp-3.14.5-cp311-cp311-manylinux2014_x86_64.whl", "is no wheel of drayman"),
    ],
)
def test_a_wheel_that_does_not_fit_is_refused(name: str, message: str) -> None:
    with pytest.raises(engine.Failure, match=message):
        context.check_wheel(name, BASE)


def test_a_base_takes_wheels_for_older_systems_but_not_for_newer_ones() -> None:
    platforms = BASE.platforms()

    assert platforms[0] == "manylinux_2_36_x86_64"
    assert {"manylinux_2_17_x86_64", "manylinux2014_x86_64", "manylinux_2_5_x86_64", "linux_x86_64"} <= set(platforms)
    assert "manylinux_2_37_x86_64" not in platforms


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ('[[3, 9], "x86_64", "glibc 2.31"]', "has Python 3.9, and 3.11 is needed"),
        ('[[3, 12], "x86_64", ""]', "has no glibc"),
    ],
)
def test_a_base_that_cannot_be_used_is_refused(answer: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "docker", lambda *_: answer)

    with pytest.raises(engine.Failure, match=message):
        context.Base.asked("base:1", "sha256:1")


def test_a_base_is_asked_what_it_can_load(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*arguments: str) -> str:
        return subprocess.run([sys.executable, *arguments[-2:]], check=True, capture_output=True, text=True).stdout

    monkeypatch.setattr(engine, "docker", run)

    assert context.Base.asked("base:1", "sha256:1").python == sys.version_info[:2]


def test_an_image_is_out_of_date_when_what_it_is_made_from_changed(tmp_path: Path) -> None:
    given = tmp_path / "one.whl"
    given.write_bytes(b"1")
    before = context.inputs("scheduler", "sha256:1", given)

    assert context.inputs("scheduler", "sha256:1", given) == before
    assert context.inputs("scheduler", "sha256:2", given) != before
    assert context.inputs("driver", "sha256:1", given) != before
    given.write_bytes(b"2")
    assert context.inputs("scheduler", "sha256:1", given) != before


def test_what_tools_leave_beside_sources_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("1")
    before = engine.digest([tmp_path])
    for left in ("__pycache__/a.cpython-311.pyc", "_native.abi3.so"):
        (tmp_path / left).parent.mkdir(exist_ok=True)
        (tmp_path / left).write_text("x")

    assert engine.digest([tmp_path]) == before
    (tmp_path / "b.py").write_text("")
    assert engine.digest([tmp_path]) != before


def test_a_context_has_what_the_dockerfile_installs_and_nothing_else(tmp_path: Path) -> None:
    locked, pip, own = tmp_path / "locked", tmp_path / "pip", tmp_path / wheel("linux_x86_64")
    for folder, name in ((locked, "aiohttp-1-py3-none-any.whl"), (pip, "pip-26-py3-none-any.whl")):
        folder.mkdir()
        (folder / name).write_bytes(b"")
    own.write_bytes(b"")

    context.make(tmp_path / "context", "driver", own, locked, pip)

    made = {str(file.relative_to(tmp_path / "context")) for file in (tmp_path / "context").rglob("*") if file.is_file()}
    assert made == {
        "Dockerfile",
        "install.py",
        "requirements.txt",
        "tools/pip-26-py3-none-any.whl",
        "wheels/aiohttp-1-py3-none-any.whl",
        f"wheels/{own.name}",
    }
    assert (tmp_path / "context/requirements.txt").read_text() == (context.LOCKS / "driver.txt").read_text()


def test_a_failed_download_leaves_nothing_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAYMAN_CACHE", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_NO_INDEX", "1")

    with pytest.raises(engine.Failure, match=r"the packages of `pip.txt` for Python 3.11 could not be downloaded"):
        context.download(context.LOCKS / "pip.txt", BASE)

    assert list((tmp_path / "images").iterdir()) == []


def test_wheels_of_older_sources_are_forgotten(tmp_path: Path) -> None:
    for age in range(6):
        (tmp_path / f"wheel-{age}").mkdir()
        os.utime(tmp_path / f"wheel-{age}", (1000 - age, 1000 - age))

    context._forget(tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["wheel-0", "wheel-1", "wheel-2", "wheel-3"]


def test_packages_for_other_pythons_than_this_one_are_downloaded_too() -> None:
    lock = "a==1 ; python_full_version < '3.13' \\\n    --hash=sha256:1\nb==2 \\\n    --hash=sha256:2\n"

    assert context.without_markers(lock) == "a==1 \\\n    --hash=sha256:1\nb==2 \\\n    --hash=sha256:2\n"
    assert " ; " in (context.LOCKS / "scheduler.txt").read_text()
    assert " ; " not in context.without_markers((context.LOCKS / "scheduler.txt").read_text())
