"""Where the programs are that clusters are made of, and whether they are of the right versions.

Looked for in `$DRAYMAN_CONTROLPLANE`, in `$KUBEBUILDER_ASSETS`, and in the cache that `hack/controlplane/build` fills;
what distributions and people have installed, on the PATH as well.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from drayman.clock import RealClock
from drayman.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

VERSIONS = {
    "etcd": "v3.7.3",
    "kubernetes": "v1.37.2",
    "containerd": "v2.4.2",
    "cri-tools": "v1.37.0",
    "kind": "v0.33.0",
    "helm": "v3.19.0",
}
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
KIND = {"kind": "kind", "helm": "helm", "kubectl": "kubernetes"}
"""Programs by name, with the module that each is built from; `debian`: taken from the machine or a package."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The versions of a program that fit: from `least` on, before `below`; how to say so, and how to ask for it."""

    text: str
    least: tuple[int, ...]
    below: tuple[int, ...]
    question: tuple[str, ...] = ("--version",)

    def accepts(self, version: str) -> bool:
        """Return whether `1.2.3` fits."""
        return self.least <= tuple(int(part) for part in version.split(".")) < self.below


_KUBERNETES = _Wanted(VERSIONS["kubernetes"], (1, 37), (1, 38))
_WANTED = {
    "etcd": _Wanted(VERSIONS["etcd"], (3,), (4,)),
    "kube-apiserver": _KUBERNETES,
    "kube-controller-manager": _KUBERNETES,
    "kube-scheduler": _KUBERNETES,
    "kubelet": _KUBERNETES,
    "containerd": _Wanted(VERSIONS["containerd"], (2,), (3,)),
    "kind": _Wanted("v0.31 or newer", (0, 31), (1,)),
    "helm": _Wanted("v3 or v4", (3,), (5,), ("version", "--short")),
    "kubectl": _Wanted("v1.33 or newer", (1, 33), (2,), ("version", "--client")),
}
_VERSION = re.compile(r"\bv?(\d+\.\d+\.\d+)")
_ANSWER_SECONDS = 30.0


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
        places = ", ".join(str(place) for place in (*_given(), cache()))
        on_path = " and on the PATH" if any(_may_be_on_path(name, programs[name]) for name in missing) else ""
        raise InputError(
            f"not found: {listed}; looked in {places}{on_path}",
            hint="hack/controlplane/build builds what is missing; DRAYMAN_CONTROLPLANE names a folder that has it",
        )
    return found


def available(programs: Mapping[str, str]) -> bool:
    """Return whether all of `programs` are there."""
    return all(_find(name, module) is not None for name, module in programs.items())


async def check_versions(paths: Mapping[str, Path]) -> None:
    """Ask the programs for their versions; raise :class:`~drayman.errors.InputError` for one that does not fit."""
    asked = [name for name in paths if name in _WANTED]
    answers = await asyncio.gather(*(_ask(paths[name], *_WANTED[name].question) for name in asked))
    for name, answer in zip(asked, answers, strict=True):
        version = _VERSION.search(answer)
        if version is None or not _WANTED[name].accepts(version[1]):
            said = f"version {version[1]}" if version else f"of no known version (`{answer.strip()[:200]}`)"
            raise InputError(f"`{paths[name]}` is {said}, where {_WANTED[name].text} is wanted")


def is_static(path: Path) -> bool:
    """Return whether an executable needs no dynamic linker, and so runs in an image that has nothing else."""
    content = path.read_bytes()
    return content[:4] == b"\x7fELF" and not re.search(rb"/ld-(linux|musl)[\w.-]*\.so", content)


def _given() -> Iterable[Path]:
    for variable in ("DRAYMAN_CONTROLPLANE", "KUBEBUILDER_ASSETS"):
        if folder := os.environ.get(variable):
            yield Path(folder)


def _may_be_on_path(name: str, module: str) -> bool:
    """Whether any version that fits will do; the others have to be those that the cluster is tested with."""
    return module == "debian" or name in KIND


def _find(name: str, module: str) -> Path | None:
    candidates = [folder / name for folder in _given()]
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/local/sbin")
    on_path = [Path(found)] if found and _may_be_on_path(name, module) else []
    if module == "debian":
        candidates += [*on_path, cache() / module / name]
    else:
        candidates += [cache() / f"{module}-{VERSIONS[module]}" / name, *on_path]
    usable = (path for path in candidates if os.access(path, os.X_OK))
    if name == "busybox":
        usable = (path for path in usable if is_static(path))
    return next(usable, None)


async def _ask(path: Path, *question: str) -> str:
    try:
        process = await asyncio.create_subprocess_exec(
            path,
            *question,
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
        raise InputError(f"`{path} {' '.join(question)}` says nothing within {_ANSWER_SECONDS:.0f} s") from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    return output.decode(errors="replace")
