"""The folder of a cluster of processes: made, recorded, cleaned up; also that of a cluster that crashed."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from drayman.errors import DraymanError, InputError
from drayman.testing.clusters.local import record
from drayman.testing.clusters.local.processes import Processes, kill

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from drayman.clock import Clock

log = logging.getLogger(__name__)

_PLACE = Path("/tmp")  # noqa: S108 - not $TMPDIR: unix sockets have short paths, and a node does not see every folder
_PREFIX, _LOGS = "drayman-", "drayman-logs-"
_NEEDED_MIB = 512
_REMOVE_SECONDS = 10.0


@contextlib.asynccontextmanager
async def cluster_folder(clock: Clock, logs: Path | None) -> AsyncIterator[tuple[Path, Processes]]:
    """Yield a new folder, and what starts processes in it; afterwards neither is there any more.

    What an earlier cluster left behind is cleaned up first. The output of processes goes to `logs`, or is kept only
    when the block fails; the error then names it as its hint. Raises :class:`~drayman.errors.InputError` on a full
    disk, and :class:`~drayman.errors.DraymanError` when something cannot be removed.
    """
    await clean_up(clock)
    _check_space(_PLACE)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_PLACE))
    kept = logs or Path(tempfile.mkdtemp(prefix=_LOGS, dir=_PLACE))
    written = record.mine(folder, "" if logs else str(kept))
    keep = False
    try:
        _save(written)
        async with asyncio.TaskGroup() as group:
            processes = Processes(kept, written, clock, group)
            try:
                yield folder, processes
            finally:
                await asyncio.shield(_end(processes, written, clock))
    except (ExceptionGroup, DraymanError, OSError) as error:
        keep = True
        raise _first(error) from error
    finally:
        if not keep and logs is None:
            shutil.rmtree(kept, ignore_errors=True)


async def clean_up(clock: Clock) -> None:
    """End and remove what clusters left whose process was killed.

    Raises :class:`~drayman.errors.DraymanError` when something cannot be removed.
    """
    for left in record.abandoned():
        log.warning("cleaning up what an earlier cluster left in %s", left.folder)
        await kill(left, clock)
        await _remove(left, clock)
        if Path(left.logs).name.startswith(_LOGS):
            shutil.rmtree(left.logs, ignore_errors=True)


def _save(written: record.Record) -> None:
    """Write the record down. What it is about goes where that fails: nobody would find it later."""
    try:
        written.save()
    except OSError:
        written.remove()
        raise


async def _end(processes: Processes, written: record.Record, clock: Clock) -> None:
    await processes.stop()
    await _remove(written, clock)


async def _remove(written: record.Record, clock: Clock) -> None:
    """Remove the folder and the control groups, which the kernel frees a moment after their last process."""
    limit = clock.monotonic() + _REMOVE_SECONDS
    while left := await asyncio.to_thread(written.remove):
        if clock.monotonic() > limit:
            raise DraymanError(f"an ended cluster's {', '.join(f'`{one}`' for one in left)} cannot be removed")
        await clock.sleep(0.05)


def _check_space(place: Path) -> None:
    free = shutil.disk_usage(place).free >> 20
    if free < _NEEDED_MIB:
        raise InputError(f"{free} MiB are free in `{place}`, and a cluster needs {_NEEDED_MIB}")


def _first(error: Exception) -> Exception:
    """Return the first error of a group, of which the others are consequences; a full disk is the user's matter."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ConnectionError) or not isinstance(error, OSError):
        return error
    if error.errno == errno.ENOSPC:
        return InputError(f"the disk that holds `{error.filename}` is full")
    return DraymanError(f"`{error.filename}`: {(error.strerror or str(error)).lower()}")
