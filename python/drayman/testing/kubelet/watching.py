"""Tells when entries of a directory come or go, without looking again and again."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_CREATED, _DELETED, _MOVED_FROM, _MOVED_TO = 0x100, 0x200, 0x40, 0x80
_EVENTS = _CREATED | _DELETED | _MOVED_FROM | _MOVED_TO
_BUFFER = 1 << 16


@contextlib.contextmanager
def watching(directory: Path, on_change: Callable[[], object]) -> Iterator[bool]:
    """Call `on_change` on the running loop when entries of `directory` come or go.

    Yields whether that works here: it needs Linux. Several changes at once are one call.
    """
    descriptor = _open(directory)
    if descriptor is None:
        yield False
        return
    loop = asyncio.get_running_loop()

    def changed() -> None:
        os.read(descriptor, _BUFFER)
        on_change()

    loop.add_reader(descriptor, changed)
    try:
        yield True
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


def _open(directory: Path) -> int | None:
    """Return an inotify descriptor for `directory`, or None where there is no inotify."""
    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "inotify_init1"):
        return None
    descriptor: int = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if descriptor < 0:
        return None
    if library.inotify_add_watch(descriptor, os.fsencode(directory), ctypes.c_uint32(_EVENTS)) < 0:
        os.close(descriptor)
        return None
    return descriptor
