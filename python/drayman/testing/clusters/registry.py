"""The clusters that this user has running, by name: one folder each, with a kubeconfig and what is needed to end it.

Folders lie under `$XDG_STATE_HOME/drayman/clusters` (`~/.local/state/drayman/clusters`). A cluster whose process is
gone does not count, unless it was to stay without one. What a cluster has outside of its process and its folder, such
as containers, its backend notes there before it makes it: the folder stays for as long as the note does.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import re
import shutil
import signal
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

from drayman.errors import InputError
from drayman.kube import config

_NOTE = "outside.json"
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Entry:
    """A running cluster.

    `started` is the process's start time in clock ticks since boot: process ids are used again. `stays` says that the
    cluster goes on without that process, until it is ended by name.
    """

    name: str
    backend: str
    kubernetes: str
    nodes: int
    server: str
    created: str
    pid: int
    started: str
    stays: bool = False

    def alive(self) -> bool:
        """Return whether the cluster counts as running."""
        return self.stays or self.attended()

    def attended(self) -> bool:
        """Return whether the process that runs the cluster is still the one that was recorded."""
        return process_start(self.pid) == self.started


def folder(name: str) -> Path:
    """Return the folder of the cluster `name`. Raises :class:`~drayman.errors.InputError` for a name that is none."""
    if not _NAME.fullmatch(name):
        raise InputError(
            f"`{name}` is not a name for a cluster: lower case letters, digits and `-`, 42 at most, no `-` at an end"
        )
    return _root() / name


def kubeconfig(name: str) -> Path:
    """Return where the kubeconfig of the cluster is."""
    return folder(name) / "kubeconfig"


def log(name: str) -> Path:
    """Return where a detached cluster logs to."""
    return folder(name) / "log"


def note(name: str, left: Mapping[str, str]) -> None:
    """Write down what the cluster `name` has outside of its folder; `left` names its backend as `backend`."""
    _write(folder(name) / _NOTE, json.dumps(dict(left)))


def noted(name: str) -> dict[str, str] | None:
    """Return what the cluster `name` has outside of its folder, or None."""
    try:
        read = json.loads((folder(name) / _NOTE).read_text())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return {str(key): str(value) for key, value in read.items()} if isinstance(read, dict) else None


def erase_note(name: str) -> None:
    """Say that the cluster `name` has nothing outside of its folder any more."""
    (folder(name) / _NOTE).unlink(missing_ok=True)


def left_behind(backend: str) -> list[str]:
    """Return the clusters that have ended and still have something outside of their folders."""
    names = (path.parent.name for path in _root().glob(f"*/{_NOTE}"))
    return sorted(name for name in names if find(name) is None and (noted(name) or {}).get("backend") == backend)


def record(entry: Entry, server: config.ServerConfig) -> None:
    """Write down a cluster that is ready. Its entry comes last, so that who sees it can use the rest."""
    place = folder(entry.name)
    place.mkdir(parents=True, exist_ok=True)
    config.write(kubeconfig(entry.name), server, name=f"drayman-{entry.name}")
    _write(place / "cluster.json", json.dumps(asdict(entry)))


@contextlib.contextmanager
def reserved(name: str) -> Iterator[None]:
    """Keep the name of a cluster for this process, from before its start until after its end; its folder goes with it,
    except that of a cluster which still has something outside.

    Raises :class:`~drayman.errors.InputError` when another process has it.
    """
    path = folder(name).with_suffix(".lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path, name):
        try:
            yield
        finally:
            if noted(name) is None:
                shutil.rmtree(folder(name), ignore_errors=True)
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def _locked(path: Path, name: str) -> Iterator[TextIO]:
    """Hold the lock of a file, which the system gives back when this process dies."""
    while True:
        with path.open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InputError(f"another process starts or runs a cluster `{name}`") from None
            # Whoever had it until now may have removed it meanwhile, and the next one would lock another file.
            if os.fstat(file.fileno()).st_nlink:
                yield file
                return


def find(name: str) -> Entry | None:
    """Return the running cluster `name`, or None."""
    entry = last(name)
    return entry if entry is not None and entry.alive() else None


def last(name: str) -> Entry | None:
    """Return the cluster `name` even when it no longer runs: its process was killed, and could not clean up."""
    try:
        return Entry(**json.loads((folder(name) / "cluster.json").read_text()))
    except (FileNotFoundError, NotADirectoryError, ValueError, TypeError):
        return None


def existing(name: str) -> Entry:
    """Return the running cluster `name`. Raises :class:`~drayman.errors.InputError` when there is none."""
    entry = find(name)
    if entry is None:
        others = ", ".join(f"`{other.name}`" for other in running())
        raise InputError(
            f"no cluster `{name}` is running", hint=f"running: {others}" if others else "drayman cluster up"
        )
    return entry


def running() -> list[Entry]:
    """Return the running clusters, by name."""
    names = sorted(path.name for path in _root().glob("*") if _NAME.fullmatch(path.name))
    return [entry for entry in map(find, names) if entry is not None]


def free_name(base: str) -> str:
    """Return `base`, or `base-2`, `base-3`, … when clusters of these names are running."""
    candidates = (base if number == 1 else f"{base}-{number}" for number in itertools.count(1))
    return next(name for name in candidates if find(name) is None)


def forget(name: str) -> None:
    """Remove the folder of a cluster that has ended; that of one which starts or runs stays."""
    with contextlib.suppress(InputError), reserved(name):
        pass


def forget_killed() -> None:
    """Remove the folders of clusters whose process was killed."""
    recorded = {path.parent.name for path in _root().glob("*/cluster.json")}
    starting = {path.stem for path in _root().glob("*.lock")}
    for name in sorted(recorded | starting):
        if _NAME.fullmatch(name) and find(name) is None:
            forget(name)


def ask_to_end(entry: Entry) -> None:
    """Tell the process of the cluster to end; it cleans up after itself."""
    if entry.attended():
        os.kill(entry.pid, signal.SIGTERM)


def process_start(pid: int) -> str | None:
    """Return the start time of a living process, in clock ticks since boot, or None."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # Counted from the state, the first field after the command's name: a zombie has ended, and the start time is the
    # 20th.
    return None if fields[0] == "Z" else fields[19]


def _write(path: Path, text: str) -> None:
    """Write a file that is there as a whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".new")
    temporary.write_text(text)
    temporary.replace(path)


def _root() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "drayman" / "clusters"
