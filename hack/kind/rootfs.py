"""Root file systems from Debian's packages (debootstrap), and images made of them, where there is no registry."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hack.kind import engine
from hack.kind.debian import SBIN, environment, run, unpacked
from hack.kind.parts import cache, say

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

RELEASE = "bookworm"
NOT_UNPACKED = (
    "usr/share/doc/*", "usr/share/man/*", "usr/share/info/*", "usr/share/locale/*", "usr/share/lintian/*",
    "usr/share/bash-completion/*", "usr/share/zsh/*", "usr/share/common-licenses/*", "usr/share/pixmaps/*",
    "usr/lib/x86_64-linux-gnu/gconv/*", "usr/lib/aarch64-linux-gnu/gconv/*",
)  # fmt: skip
NOT_KEPT = (
    *NOT_UNPACKED, "var/cache/apt/*", "var/cache/debconf/*", "var/cache/ldconfig/*", "var/lib/apt/lists/*", "var/log/*",
    "var/lib/dpkg/*-old", "usr/lib/python3*/**/__pycache__", "usr/share/python3/runtime.d/*",
    "etc/apt/sources.list",  # it names this machine's mirror
)  # fmt: skip


@contextmanager
def bootstrapped(name: str, packages: Iterable[str]) -> Iterator[Path]:
    """Give the root of a minimal Debian with `packages`, without documentation and caches; it goes afterwards.

    It is kept packed in the cache under `name`, so that a change of what is added to it takes no debootstrap.
    """
    if os.geteuid() != 0:
        raise engine.Failure("debootstrap needs root", "be root")
    packed = cache() / "debian" / f"{name}-{recipe(packages)[:16]}.tar"
    packed.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=packed.parent, prefix="rootfs-") as folder:
        root = Path(folder) / "root"
        if packed.exists():
            root.mkdir(mode=0o755)
            run(["tar", "--numeric-owner", "-C", root, "-xf", packed])
        else:
            _debootstrap(root, packages)
            for path in (path for pattern in NOT_KEPT for path in list(root.glob(pattern))):
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
            run(["tar", "--numeric-owner", "-C", root, "-cf", f"{folder}/packed", "."])
            for old in packed.parent.glob(f"{name}-*.tar"):
                old.unlink()
            Path(folder, "packed").replace(packed)
        yield root


def recipe(packages: Iterable[str]) -> str:
    """Return the hash of what `bootstrapped` makes of packages."""
    return engine.digest([], RELEASE, *packages, "", *NOT_KEPT)


def import_image(root: Path, name: str, labels: Mapping[str, str], changes: Iterable[str] = ()) -> None:
    """Make the folder the only layer of an image; `changes` are lines of a Dockerfile."""
    command: list[str | Path] = ["docker", "import"]
    for change in (*(f'LABEL {key}="{value}"' for key, value in labels.items()), *changes):
        command += ["--change", change]
    with subprocess.Popen(["tar", "--numeric-owner", "-C", root, "-c", "."], stdout=subprocess.PIPE) as tar:
        done = subprocess.run([*command, "-", name], stdin=tar.stdout, capture_output=True, text=True, check=False)
    if done.returncode or tar.returncode:
        raise engine.Failure(f"`docker import` of {name} failed:\n{done.stderr.rstrip()}")
    # Those that it takes the place of; what a container still runs on stays.
    engine.docker("image", "prune", "--force", "--filter", f"label={engine.INPUTS}")


def why_not(name: str, inputs: str) -> str:
    """Return why the image has to be made; empty when it is there and made of `inputs`."""
    if engine.image(name) is None:
        return f"there is no {name}"
    made_of = engine.label(name) or "something else"
    return "" if made_of == inputs else f"{name} is made of {made_of[:12]}, not of {inputs[:12]}"


def size(name: str) -> str:
    """Return the size of an image."""
    return f"{(engine.image(name) or {'Size': 0})['Size'] / 1e6:.0f} MB"


def _debootstrap(root: Path, packages: Iterable[str]) -> None:
    program, variables = shutil.which("debootstrap", path=f"{os.environ.get('PATH', '')}:{SBIN}"), {}
    if program is None:
        folder = unpacked("debootstrap", "debootstrap")
        program, variables = str(folder / "usr/sbin/debootstrap"), environment(folder)
        variables["DEBOOTSTRAP_DIR"] = str(folder / "usr/share/debootstrap")
    archives = cache() / "debian" / "archives"
    archives.mkdir(parents=True, exist_ok=True)
    settings = root / "etc/dpkg/dpkg.cfg.d/drayman"
    settings.parent.mkdir(parents=True)
    # What is thrown away need not be safe on the disk.
    settings.write_text("force-unsafe-io\n" + "".join(f"path-exclude=/{pattern}\n" for pattern in NOT_UNPACKED))
    say(f"debootstrap of {RELEASE} with {', '.join(packages)}")
    options = ["--variant=minbase", f"--include={','.join(packages)}", f"--cache-dir={archives}"]
    search_path = f"{os.environ.get('PATH', '')}:{SBIN}"
    run([program, *options, RELEASE, root, _mirror()], env={"PATH": search_path, "LC_ALL": "C", **variables})
    settings.unlink()


def _mirror() -> str:
    """Return the address that this machine's apt has the release from."""
    listed = run(
        ["apt-get", "indextargets", "--format", "$(CODENAME) $(COMPONENT) $(REPO_URI)", "Created-By: Packages"]
    )
    found = [line.split()[2] for line in listed.splitlines() if line.split()[:2] == [RELEASE, "main"]]
    if not found:
        hint = "add it to /etc/apt, or use an image that you have"
        raise engine.Failure(f"apt of this machine knows no Debian {RELEASE}", hint)
    return found[0]
