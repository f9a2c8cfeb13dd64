"""The backend `fake`: the embedded cluster in real time, its API server on a loopback socket for any client."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from drayman.clock import RealClock
from drayman.errors import InputError
from drayman.kube import connect
from drayman.kube.config import ServerConfig
from drayman.testing.apiserver import APIServer
from drayman.testing.apiserver.certificates import self_signed
from drayman.testing.apiserver.sockets import serve
from drayman.testing.parts import Options, Parts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager


@contextlib.asynccontextmanager
async def running(options: Options, *, port: int = 0) -> AsyncIterator[ServerConfig]:
    """Yield how to reach a cluster whose parts have been started; they end with the context.

    Every part, the scheduler among them, talks HTTP to the API server over its socket. A part that fails ends the
    context. Raises :class:`~drayman.errors.InputError` when `port` (0: any) is taken.
    """
    clock = RealClock()
    server = APIServer(
        clock=clock,
        kubernetes_version=options.kubernetes_version,
        feature_gates=options.feature_gates,
        seed=secrets.randbits(64),
    )
    token = secrets.token_urlsafe(24)
    certificate = self_signed("127.0.0.1", clock.now())
    # Unix sockets of plugins are below it, and their paths are limited to 107 bytes: the folder of the user may be
    # too deep.
    root = Path(tempfile.mkdtemp(prefix="drayman-"))
    try:
        async with (
            _serving(serve(server, port=port, token=token, certificate=certificate), port) as url,
            contextlib.AsyncExitStack() as connections,
            asyncio.TaskGroup() as group,
        ):
            config = ServerConfig(url=url, token=token, ca_data=certificate.certificate)
            clients = {
                agent: await connections.enter_async_context(connect.connection(config, user_agent=agent))
                for agent in Parts.user_agents(options)
            }
            parts = Parts(options, clock, root, clients.__getitem__, poll_plugins=1.0)
            parts.start_controllers(group)
            if options.scheduler:
                parts.start_scheduler(group)
            await parts.start_nodes(group)
            yield config
            for task in parts.tasks:
                task.cancel()
    finally:
        shutil.rmtree(root, ignore_errors=True)


@contextlib.asynccontextmanager
async def _serving(serving: AbstractAsyncContextManager[str], port: int) -> AsyncIterator[str]:
    async with contextlib.AsyncExitStack() as stack:
        try:
            url = await stack.enter_async_context(serving)
        except OSError as error:
            raise InputError(f"port {port} cannot be used: {_plain(error)}") from error
        yield url


def _plain(error: OSError) -> str:
    """Return the system's reason, which asyncio puts at the end of a sentence of its own."""
    return os.strerror(error.errno).lower() if error.errno else str(error)
