"""gRPC servers on unix sockets, whose work is done on the driver's event loop.

The servers are the threaded ones of gRPC: its asyncio servers share one completion queue between all event loops of a
process, and a test process has many.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import grpc

from drayman.errors import InputError

if TYPE_CHECKING:
    import threading

T = TypeVar("T")

PATH_LIMIT = 107
"""Bytes that Linux has for the path of a unix socket, without the final zero."""

THREADS = 16
"""Calls that one socket serves at a time; a kubelet that watches health needs one for as long as it is there."""


GRACE_SECONDS = 2.0
"""How long calls may take to end once their work has been cancelled; without grace, clients log a broken connection."""


class EventLoopBridge:
    """Lets gRPC's threads run coroutines on one event loop, as tasks of `group`."""

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self._loop = asyncio.get_running_loop()
        self._group = group
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    def call(self, work: Callable[[], Coroutine[Any, Any, T]], context: grpc.ServicerContext) -> T:
        """Run `work` on the loop and return or raise what it does. Called by a thread of gRPC.

        The coroutine is cancelled when the client goes away or the driver ends; the call is aborted then.
        """
        future: concurrent.futures.Future[T] = concurrent.futures.Future()
        context.add_callback(lambda: _cancel(future))
        self._loop.call_soon_threadsafe(self._start, work, future)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            context.abort(grpc.StatusCode.CANCELLED, "the driver is being stopped")

    def close(self) -> None:
        """Cancel what runs and refuse what comes."""
        self._closed = True
        for task in self._tasks:
            task.cancel()

    def _start(self, work: Callable[[], Coroutine[Any, Any, T]], future: concurrent.futures.Future[T]) -> None:
        if self._closed or future.cancelled():
            future.cancel()
            return
        task = self._group.create_task(self._run(work, future))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        future.add_done_callback(lambda done: self._cancel(task) if done.cancelled() else None)

    async def _run(self, work: Callable[[], Coroutine[Any, Any, T]], future: concurrent.futures.Future[T]) -> None:
        try:
            result = await work()
        except asyncio.CancelledError:
            future.cancel()
            raise
        except Exception as error:  # belongs to the caller, which is a thread of gRPC
            with contextlib.suppress(concurrent.futures.InvalidStateError):  # the client went away just now
                future.set_exception(error)
        else:
            with contextlib.suppress(concurrent.futures.InvalidStateError):
                future.set_result(result)

    def _cancel(self, task: asyncio.Task[None]) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(task.cancel)


def checked_path(path: Path) -> Path:
    """Return `path`. Raises :class:`~drayman.errors.InputError` when it is too long for a socket."""
    size = len(os.fsencode(path))
    if size > PATH_LIMIT:
        raise InputError(
            f"socket path `{path}` has {size} bytes; a unix socket can have {PATH_LIMIT}",
            hint="choose a shorter directory for plugins and registration",
        )
    return path


def _cancel(future: concurrent.futures.Future[Any]) -> None:
    future.cancel()


class SocketServer:
    """A gRPC server on the unix socket `path`, which is there exactly while the server runs.

    `services` add themselves to the server that they are given.
    """

    def __init__(self, path: Path, *services: Callable[[grpc.Server], None]) -> None:
        self.path = path
        self._services = services
        self._server: grpc.Server | None = None

    def start(self) -> None:
        """Listen. A socket left behind by a killed driver is removed first."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.unlink(missing_ok=True)
        threads = concurrent.futures.ThreadPoolExecutor(THREADS, thread_name_prefix=self.path.name)
        self._server = grpc.server(threads)
        for add in self._services:
            add(self._server)
        self._server.add_insecure_port(f"unix:{self.path}")
        self._server.start()

    def stop(self) -> threading.Event | None:
        """Remove the socket and end all calls; return what is set when they have ended, None if nothing ran."""
        self.path.unlink(missing_ok=True)
        server, self._server = self._server, None
        return server.stop(GRACE_SECONDS) if server is not None else None
