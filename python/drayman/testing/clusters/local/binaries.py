"""Where the programs of a control plane and of a node are, and whether they are of the right versions.

Looked for in `$DRAYMAN_CONTROLPLANE`, in `$KUBEBUILDER_ASSETS`, and in the cache that `hack/controlplane/build` fills;
what distributions have, on the PATH as well.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from drayman.clock import RealClock
from drayman.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

VERSIONS = {"etcd": "v3.7.3", "kubernetes": "v1.37.2", "containerd": "v2.4.2"}
"""The versions that are built, by module of `hack/controlplane`."""

CONTROL_PLANE = {"etcd": "etcd", "kube-apiserver": "kubernetes", "kube-controller-manager": "kubernetes"}
SCHEDULER = {"kube-scheduler": "kubernetes"}
NODE = {
    "kubelet": "kubernetes",
    "containerd": "containerd",
    "containerd-shim-runc-v2": "containerd",
    "ctr": "containerd",
    "runc": "debian",
    "busybox": "debian",
}
"""Programs by name, with the module that each is built from; `debian`: taken from the machine or a package."""

_ACCEPTED = {"etcd": r"3\.\d+\.\d+", "kubernetes": r"1\.37\.\d+", "containerd": r"2\.\d+\.\d+"}
_VERSION = re.compile(r"\bv?(\d+\.\d+\.\d+)")
_ANSWER_SECONDS = 30.0
_ASKED = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "containerd")


def cache() -> Path:
    """Return the folder of what was built: `$DRAYMAN_CACHE/controlplane`, else in the user's cache."""
    chosen = os.environ.get("DRAYMAN_CACHE")
    if chosen:
        return Path(chosen) / "controlplane"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "drayman" / "controlplane"


def find(programs: Mapping[str, str]) -> dict[str, Path]:
    """Return the paths of `programs`, given with their modules.

    Raises :class:`~drayman.errors.InputError`, naming all that are missing.
    """
    found = {name: path for name, module in programs.items() if (path := _find(name, module)) is not None}
    missing = [name for name in programs if name not in found]
    if missing:
        listed = ", ".join(f"`{name}`" for name in missing)
        places = [str(place) for place in (*_given(), cache())]
        raise InputError(
            f"not found: {listed}; looked in {', '.join(places)}",
            hint="hack/controlplane/build builds what is missing; DRAYMAN_CONTROLPLANE names a folder that has it",
        )
    return found


def available(programs: Mapping[str, str]) -> bool:
    """Return whether all of `programs` are there."""
    return all(_find(name, module) is not None for name, module in programs.items())


async def check_versions(paths: Mapping[str, Path], programs: Mapping[str, str]) -> None:
    """Ask the programs for their versions; raise :class:`~drayman.errors.InputError` for one that does not fit."""
    asked = [name for name in paths if name in _ASKED]
    answers = await asyncio.gather(*(_ask(paths[name]) for name in asked))
    for name, answer in zip(asked, answers, strict=True):
        module = programs[name]
        version = _VERSION.search(answer)
        if version is None or not re.fullmatch(_ACCEPTED[module], version[1]):
            said = f"version {version[1]}" if version else f"of no known version (`{answer.strip()[:200]}`)"
            raise InputError(f"`{paths[name]}` is {said}, where {VERSIONS[module]} is wanted")


def is_static(path: Path) -> bool:
    """Return whether an executable needs no dynamic linker, and so runs in an image that has nothing else."""
    content = path.read_bytes()
    return content[:4] == b"\x7fELF" and not re.search(rb"/ld-(linux|musl)[\w.-]*\.so", content)


def _given() -> Iterable[Path]:
    for variable in ("DRAYMAN_CONTROLPLANE", "KUBEBUILDER_ASSETS"):
        if folder := os.environ.get(variable):
            yield Path(folder)


def _find(name: str, module: str) -> Path | None:
    candidates = [folder / name for folder in _given()]
    if module == "debian":
        on_path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/local/sbin")
        candidates += [Path(on_path)] if on_path else []
        candidates.append(cache() / module / name)
    else:
        candidates.append(cache() / f"{module}-{VERSIONS[module]}" / name)
    usable = (path for path in candidates if os.access(path, os.X_OK))
    if name == "busybox":
        usable = (path for path in usable if is_static(path))
    return next(usable, None)


async def _ask(path: Path) -> str:
    try:
        process = await asyncio.create_subprocess_exec(
            path,
            "--version",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise InputError(f"`{path}` cannot be run: {error.strerror}") from error
    try:
        async with RealClock().timeout(_ANSWER_SECONDS):
            output, _ = await process.communicate()
    except TimeoutError:
        raise InputError(f"`{path} --version` says nothing within {_ANSWER_SECONDS:.0f} s") from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    return output.decode(errors="replace")
