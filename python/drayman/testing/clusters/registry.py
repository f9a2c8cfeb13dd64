"""The clusters that this user has running, by name: one folder each, with a kubeconfig and what is needed to end it.

Folders lie under `$XDG_STATE_HOME/drayman/clusters` (`~/.local/state/drayman/clusters`). A cluster whose process is
gone does not count.
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
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

from drayman.errors import InputError
from drayman.kube import config

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Entry:
    """A running cluster.

    `started` is the process's start time in clock ticks since boot: process ids are used again.
    """

    name: str
    backend: str
    kubernetes: str
    nodes: int
    server: str
    created: str
    pid: int
    started: str

    def alive(self) -> bool:
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


def record(entry: Entry, server: config.ServerConfig) -> None:
    """Write down a cluster that is ready. Its entry comes last, so that who sees it can use the rest."""
    place = folder(entry.name)
    place.mkdir(parents=True, exist_ok=True)
    config.write(kubeconfig(entry.name), server, name=f"drayman-{entry.name}")
    temporary = place / "cluster.json.new"
    temporary.write_text(json.dumps(asdict(entry)))
    temporary.replace(place / "cluster.json")


@contextlib.contextmanager
def reserved(name: str) -> Iterator[None]:
    """Keep the name of a cluster for this process, from before its start until after its end; its folder goes with it.

    Raises :class:`~drayman.errors.InputError` when another process has it.
    """
    path = folder(name).with_suffix(".lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path, name):
        try:
            yield
        finally:
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
    if entry.alive():
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


def _root() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "drayman" / "clusters"
