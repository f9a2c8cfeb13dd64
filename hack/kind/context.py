"""What the images of scheduler and driver are built from: drayman's wheel, locked wheels, and the folder for Docker."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from hack.kind import engine, parts

IMAGES = engine.ROOT / "e2e/images"
LOCKS = engine.ROOT / "requirements"
SOURCES = [
    engine.ROOT / name
    for name in ("Cargo.toml", "Cargo.lock", "pyproject.toml", "README.md", "LICENSE", "NOTICE", "rust", "python")
]
"""What the wheel is built from."""

OLDEST_PYTHON = (3, 11)
_KEPT_WHEELS = 4
_ASK = (
    "import json, os, platform, sys;"
    "print(json.dumps([list(sys.version_info[:2]), platform.machine(), os.confstr('CS_GNU_LIBC_VERSION') or '']))"
)
_WHEEL = re.compile(r"drayman-(?P<version>[^-]+)-cp3(?P<minor>\d+)-abi3-(?P<platforms>\S+)\.whl")
_PLATFORM = re.compile(r"(?:manylinux_(?P<major>\d+)_(?P<minor>\d+)|(?P<old>manylinux\d+)|linux)_(?P<machine>.+)")
_LEGACY = {"manylinux1": (2, 5), "manylinux2010": (2, 12), "manylinux2014": (2, 17)}


@dataclass(frozen=True)
class Base:
    """A base image: its name, its id, and what its Python can load."""

    name: str
    id: str
    python: tuple[int, int]
    machine: str
    glibc: tuple[int, int]

    @classmethod
    def asked(cls, name: str, identity: str) -> Self:
        """Return what a base's own Python says of it."""
        try:
            said = engine.docker("run", "--rm", "--network=none", "--entrypoint=python3", identity, "-c", _ASK)
        except engine.Failure as failure:
            why = str(failure).splitlines()[-1].removeprefix("docker: ")
            raise engine.Failure(
                f"the base `{name}` does not run `python3`: {why}", "take one with Python"
            ) from failure
        python, machine, libc = json.loads(said)
        found = re.match(r"glibc (\d+)\.(\d+)", libc)
        if found is None:
            raise engine.Failure(f"the base `{name}` has no glibc", "take one made from Debian, such as python:3-slim")
        base = cls(name, identity, (python[0], python[1]), machine, (int(found[1]), int(found[2])))
        if base.python < OLDEST_PYTHON:
            has, needs = (".".join(map(str, version)) for version in (base.python, OLDEST_PYTHON))
            raise engine.Failure(f"the base `{name}` has Python {has}, and {needs} is needed")
        return base

    def platforms(self) -> list[str]:
        """Return the platforms of wheels that it can load, as pip names them, the best first."""
        names = {version: name for name, version in _LEGACY.items()}
        found = []
        for minor in range(self.glibc[1], 4, -1):
            version = (self.glibc[0], minor)
            found += [f"manylinux_{version[0]}_{minor}"] + ([names[version]] if version in names else [])
        return [f"{name}_{self.machine}" for name in found] + [f"linux_{self.machine}"]


def version() -> str:
    """Return drayman's version."""
    return str(tomllib.loads((engine.ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"])


def inputs(name: str, base_id: str, wheel: Path | None) -> str:
    """Return the digest of all that an image is made from."""
    made_from = [IMAGES / name / "Dockerfile", IMAGES / "install.py", LOCKS / f"{name}.txt", LOCKS / "pip.txt"]
    return engine.digest([*made_from, *([wheel] if wheel else SOURCES)], version(), base_id)


def check_wheel(wheel: str, base: Base) -> None:
    """Raise :class:`Failure` where the base cannot load drayman's wheel."""
    named = _WHEEL.fullmatch(wheel)
    if named is None:
        raise engine.Failure(f"`{wheel}` is no wheel of drayman", "build one: hack/build")
    if named["version"] != version():
        raise engine.Failure(f"the wheel `{wheel}` is of version {named['version']}, where {version()} is wanted")
    if (3, int(named["minor"])) > base.python:
        has = ".".join(map(str, base.python))
        raise engine.Failure(
            f"the wheel `{wheel}` needs Python 3.{named['minor']}, and the base `{base.name}` has {has}",
            "take a newer base",
        )
    needs = [found for name in named["platforms"].split(".") if (found := _PLATFORM.fullmatch(name))]
    fitting = [found for found in needs if found["machine"] == base.machine]
    if not fitting:
        raise engine.Failure(
            f"the wheel `{wheel}` is not for {base.machine}, which the base `{base.name}` is for",
            "build the wheel on such a machine, or take another base: DOCKER_DEFAULT_PLATFORM chooses it",
        )
    oldest = min(_glibc(found) for found in fitting)
    if oldest > base.glibc:
        wants, has = (".".join(map(str, found)) for found in (oldest, base.glibc))
        raise engine.Failure(
            f"the wheel `{wheel}` needs glibc {wants}, and the base `{base.name}` has {has}",
            "take a newer base, or build the wheel on an older system",
        )


def _glibc(platform: re.Match[str]) -> tuple[int, int]:
    if platform["old"]:
        return _LEGACY.get(platform["old"], (0, 0))
    return (int(platform["major"] or 0), int(platform["minor"] or 0))


def build_wheel() -> Path:
    """Return drayman's wheel of these sources, built where the cache lacks it."""
    folder = parts.cache() / "images" / f"wheel-{engine.digest(SOURCES)[:16]}"
    if not (built := list(folder.glob("*.whl"))):
        maturin = _tool("maturin")
        command = [maturin, "build", "--release", "--locked", "--quiet"]
        _fill(folder, [*command, "--out"], "the wheel could not be built", "hack/build says more, or give --wheel FILE")
        built = list(folder.glob("*.whl"))
        _forget(folder.parent)
    return built[0]


def _forget(cached: Path) -> None:
    """Remove the wheels of older sources but the last few, which somebody may be building from."""
    folders = sorted(cached.glob("wheel-*"), key=lambda folder: folder.stat().st_mtime, reverse=True)
    for folder in folders[_KEPT_WHEELS:]:
        shutil.rmtree(folder, ignore_errors=True)


def download(lock: Path, base: Base) -> Path:
    """Return the folder with the wheels of a lock file for a base, from the cache or a package index."""
    python = "".join(map(str, base.python))
    key = engine.digest([lock], python, *base.platforms())[:16]
    folder = parts.cache() / "images" / f"wheels-{lock.stem}-{key}"
    if not folder.exists():
        command = [_python_with_pip(), "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--require-hashes", "--only-binary=:all:", "--python-version", python, "--implementation", "cp"]
        command += ["--abi", f"cp{python}", "--abi", "abi3", "--abi", "none"]
        command += [part for platform in base.platforms() for part in ("--platform", platform)]
        failed = f"the packages of `{lock.name}` for Python {'.'.join(map(str, base.python))} could not be downloaded"
        with tempfile.TemporaryDirectory() as temporary:
            everything = Path(temporary) / "requirements.txt"
            everything.write_text(without_markers(lock.read_text()))
            hint = "a package index is needed the first time"
            _fill(folder, [*command, "-r", str(everything), "--dest"], failed, hint)
    return folder


def without_markers(lock: str) -> str:
    """Return a lock file without markers, which pip heeds for its own Python and not for the base's."""
    return re.sub(r" ; [^\\\n]+(?= \\$)", "", lock, flags=re.MULTILINE)


def _fill(folder: Path, command: list[str], failed: str, hint: str) -> None:
    """Let a command fill a folder of the cache, whose place is taken only by a whole one."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        made = Path(temporary) / "made"
        made.mkdir()
        done = subprocess.run([*command, str(made)], cwd=engine.ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise engine.Failure(f"{failed}:\n{(done.stdout + done.stderr).strip()}", hint)
        try:
            made.replace(folder)
        except OSError:  # somebody else was quicker
            if not folder.is_dir():
                raise


def _tool(name: str) -> str:
    own = engine.ROOT / ".venv/bin" / name
    found = str(own) if own.exists() else shutil.which(name)
    if found is None:
        raise engine.Failure(f"`{name}` is needed and was not found", "run hack/build once, or give --wheel FILE")
    return found


def _python_with_pip() -> str:
    """Return a Python that has pip: of `.venv`, which `hack/setup` makes, or the one that runs this."""
    own = engine.ROOT / ".venv/bin/python"
    return str(own) if own.exists() else sys.executable


def make(folder: Path, name: str, wheel: Path, locked: Path, pip: Path) -> None:
    """Make the build context of an image."""
    shutil.copytree(locked, folder / "wheels")
    shutil.copytree(pip, folder / "tools")
    shutil.copy(wheel, folder / "wheels")
    shutil.copy(LOCKS / f"{name}.txt", folder / "requirements.txt")
    shutil.copy(IMAGES / "install.py", folder)
    shutil.copy(IMAGES / name / "Dockerfile", folder)
