"""What a cluster of processes has started, written down so that a next start can clean up after a crash.

A record is a file under `$XDG_STATE_HOME/drayman/local`. Processes count by id and start time, as ids are used again;
those on the node, containers among them, are known by the cluster's folder among their mounts.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from drayman.testing.clusters import registry

_CGROUPS = Path("/sys/fs/cgroup")


@dataclass(slots=True)
class Record:
    """A cluster's folder and processes, and the process that owns them. Processes are pairs of id and start time.

    `logs` is a folder that nobody asked for: it stays only where the cluster can say so.
    """

    folder: str
    owner: tuple[int, str]
    logs: str = ""
    processes: list[tuple[int, str]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name of the folder, which is also that of the cluster's control groups."""
        return Path(self.folder).name

    def save(self) -> None:
        """Write the record; a reader never sees half of it. Raises `OSError` with its file's name."""
        path = _path(self.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(".new")
        try:
            temporary.write_text(json.dumps(asdict(self)))
        except OSError as error:
            temporary.unlink(missing_ok=True)
            # Opening names the file, and writing, which is what finds a disk full, does not.
            raise OSError(error.errno, error.strerror, str(path)) from error
        temporary.replace(path)

    def add(self, pid: int) -> None:
        """Note a process that was started."""
        self.processes.append((pid, registry.process_start(pid) or ""))
        self.save()

    def alive(self) -> list[int]:
        """Return the processes that were noted and are still there, and all that live on the cluster's node."""
        noted = [pid for pid, started in self.processes if started and registry.process_start(pid) == started]
        return list(dict.fromkeys([*noted, *_with_mounts_of(self.name)]))

    def kill(self) -> list[int]:
        """Kill what is alive, and return it."""
        alive = self.alive()
        for pid in alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return alive

    def remove(self) -> list[str]:
        """Remove control groups, folder and record when no process is left; return what could not be removed."""
        left = [str(path) for path in _cgroups(self.name) if not _rmdir(path)]
        shutil.rmtree(self.folder, ignore_errors=True)
        left += [self.folder] if Path(self.folder).exists() else []
        if not left:
            _path(self.name).unlink(missing_ok=True)
        return left


def mine(folder: Path, logs: str = "") -> Record:
    """Return a new record of a cluster that this process owns."""
    pid = os.getpid()
    return Record(str(folder), (pid, registry.process_start(pid) or ""), logs)


def abandoned() -> list[Record]:
    """Return the records of clusters whose owner is gone."""
    records = [_load(path) for path in sorted(_root().glob("*.json"))]
    return [one for one in records if one is not None and registry.process_start(one.owner[0]) != one.owner[1]]


def _load(path: Path) -> Record | None:
    try:
        data = json.loads(path.read_text())
        processes = [(pid, start) for pid, start in data["processes"]]
        record = Record(data["folder"], tuple(data["owner"]), str(data["logs"]), processes)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    # What it says is removed: it must be about a folder that we make.
    return record if _path(record.name) == path else None


def _with_mounts_of(name: str) -> Iterator[int]:
    """Yield the processes that have a mount from the folder `name`: nothing outside the cluster's node has one."""
    needle = f"/{name}/"
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                if needle in (entry / "mountinfo").read_text():
                    yield int(entry.name)


def make_cgroups(name: str) -> None:
    """Make the cluster's control group in each hierarchy. Raises `OSError`."""
    for top in hierarchies():
        group = top / name
        group.mkdir(exist_ok=True)
        for setting in ("cpuset.cpus", "cpuset.mems"):
            # In the older kind of hierarchy a new group has no processors, and takes no process.
            if (group / setting).exists() and not (group / setting).read_text().strip():
                (group / setting).write_text((top / setting).read_text())


def hierarchies() -> list[Path]:
    """Return the roots of the control groups: one, or one for each controller."""
    if (_CGROUPS / "cgroup.controllers").exists():
        return [_CGROUPS]
    return sorted(path for path in _CGROUPS.glob("*") if (path / "cgroup.procs").exists() and not path.is_symlink())


def _cgroups(name: str) -> Iterator[Path]:
    """Yield the control groups of the cluster, inner ones first, in each hierarchy where there are several."""
    for top in (hierarchy / name for hierarchy in hierarchies()):
        if top.is_dir():
            yield from sorted((path for path in top.rglob("*") if path.is_dir()), reverse=True)
            yield top


def _rmdir(path: Path) -> bool:
    try:
        path.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _path(name: str) -> Path:
    return _root() / f"{name}.json"


def _root() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "drayman" / "local"
