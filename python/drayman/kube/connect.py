"""Connecting to the API server that a kubeconfig names."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from drayman.errors import MissingExtraError
from drayman.kube import config
from drayman.kube.client import Client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@contextlib.asynccontextmanager
async def client(
    kubeconfig: str | None = None, *, context: str | None = None, user_agent: str = "drayman"
) -> AsyncIterator[Client]:
    """Yield a client; its connections are closed afterwards.

    Raises :class:`~drayman.errors.InputError` for a kubeconfig that cannot be used, and
    :class:`~drayman.errors.MissingExtraError` where aiohttp is not installed.
    """
    async with connection(config.load(kubeconfig, context=context), user_agent=user_agent) as connected:
        yield connected


@contextlib.asynccontextmanager
async def connection(server: config.ServerConfig, *, user_agent: str) -> AsyncIterator[Client]:
    """Yield a client of `server`; its connections are closed afterwards."""
    try:
        from drayman.kube.sockets import SocketTransport
    except ModuleNotFoundError as error:
        raise MissingExtraError("talking to an API server", "scheduler") from error
    transport = SocketTransport(server)
    try:
        yield Client(transport, user_agent=user_agent)
    finally:
        await transport.close()
