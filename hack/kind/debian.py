"""Programs of Debian's packages that are not installed: unpacked into the cache, nothing on the machine changes."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from hack.kind import engine
from hack.kind.parts import cache, say

SBIN = "/usr/local/sbin:/usr/sbin:/sbin"


def run(command: list[str | Path], *, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """Run a command and return its output; end with what it said when it fails."""
    done = subprocess.run(
        command,
        check=False,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        said = "\n".join((done.stdout + done.stderr).rstrip().splitlines()[-20:])
        raise engine.Failure(f"`{' '.join(map(str, command[:3]))} …` failed:\n{said}")
    return done.stdout


def unpacked(name: str, *packages: str) -> Path:
    """Return a folder of the cache with what `packages` need and this machine lacks; nothing is installed."""
    folder = cache() / "debian" / name
    if folder.is_dir():
        return folder
    if not shutil.which("apt-get"):
        raise engine.Failure(
            f"not found: `{name}`, and without apt-get it cannot be unpacked", f"install {', '.join(packages)}"
        )
    say(f"unpacking {', '.join(packages)} into {folder}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not any(Path("/var/lib/apt/lists").glob("*Packages*")):
        run(["apt-get", "--quiet=2", "update"])
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        archives, root = Path(temporary) / "archives", Path(temporary) / "root"
        (archives / "partial").mkdir(parents=True)
        # apt gives up its rights for downloads, and could not write into a folder of ours.
        options = {"Debug::NoLocking": "1", "APT::Sandbox::User": "root", "Dir::Cache::archives": str(archives)}
        command: list[str | Path] = ["apt-get", "--quiet=2", "--yes", "--no-install-recommends", "--download-only"]
        for option, value in options.items():
            command += ["-o", f"{option}={value}"]
        run([*command, "install", *packages])
        for archive in archives.glob("*.deb"):
            run(["dpkg-deb", "--extract", archive, root])
        root.replace(folder)
    return folder


def environment(folder: Path) -> dict[str, str]:
    """Return the variables with which unpacked programs find each other; those of the machine go first."""
    libraries = next((folder / "usr/lib").glob("*-linux-gnu*"), folder / "usr/lib")
    places = [os.environ.get("PATH", ""), SBIN, *(str(folder / place) for place in ("usr/sbin", "usr/bin"))]
    return {
        "PATH": ":".join(places),
        "LD_LIBRARY_PATH": str(libraries),
        "XTABLES_LIBDIR": f"{libraries}/xtables:/usr/lib/{libraries.name}/xtables",
    }
