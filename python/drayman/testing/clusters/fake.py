"""The backend `fake`: the embedded cluster in real time, its API server on a loopback socket for any client."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from drayman.clock import RealClock
from drayman.kube import connect
from drayman.kube.config import ServerConfig
from drayman.testing.apiserver import APIServer
from drayman.testing.apiserver.certificates import self_signed
from drayman.testing.apiserver.sockets import serve
from drayman.testing.parts import Options, Parts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@contextlib.asynccontextmanager
async def running(options: Options, *, port: int = 0) -> AsyncIterator[ServerConfig]:
    """Yield how to reach a cluster whose parts have been started; they end with the context.

    Every part, the scheduler among them, talks HTTP to the API server over its socket. A part that fails ends the
    context.
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
            serve(server, port=port, token=token, certificate=certificate) as url,
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
