"""The transport of long-running parts: HTTP over sockets by aiohttp (extra `scheduler` or `testing`)."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

import aiohttp
from yarl import URL

from drayman.kube.config import ServerConfig
from drayman.kube.http import Request, Response, Stream

_READ_SECONDS = 60.0
"""How long a whole answer may take; watches have no limit."""

_SILENT_SECONDS = 300.0
"""How long a stream may say nothing before it is taken to have ended: servers send bookmarks every minute, and of a
network that has gone away nobody tells."""


class SocketTransport:
    """Carries requests over HTTP/1.1; one connection for each watch, the others are pooled.

    Make it inside a running event loop, and close it there.
    """

    def __init__(self, config: ServerConfig) -> None:
        self._config = config
        connector = aiohttp.TCPConnector(limit=0, ssl=config.ssl_context() or True)
        self._session = aiohttp.ClientSession(connector=connector, auto_decompress=True)

    async def request(self, request: Request) -> Response:
        """Send `request` and return the whole answer."""
        timeout = aiohttp.ClientTimeout(total=_READ_SECONDS)
        try:
            async with self._open(request, timeout) as answer:
                return Response(answer.status, await answer.read(), _headers(answer))
        except TimeoutError as error:
            raise ConnectionError(f"{self._config.url}: no answer within {_READ_SECONDS:.0f} s") from error

    @contextlib.asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[Stream]:
        """Send `request` and yield the answer as it comes."""
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_READ_SECONDS, sock_read=_SILENT_SECONDS)
        async with self._open(request, timeout) as answer:
            try:
                yield Stream(answer.status, _chunks(answer), _headers(answer))
            finally:
                _abort(answer)

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    @contextlib.asynccontextmanager
    async def _open(self, request: Request, timeout: aiohttp.ClientTimeout) -> AsyncIterator[aiohttp.ClientResponse]:
        headers = {**request.headers, **self._config.authorization()}
        url = URL(self._config.url + request.path).with_query(list(request.query))
        try:
            async with self._session.request(
                request.method,
                url,
                data=request.body or None,
                headers=headers,
                timeout=timeout,
                server_hostname=self._config.server_name,
                proxy=self._config.proxy,
            ) as answer:
                yield answer
        except aiohttp.ClientError as error:
            raise ConnectionError(f"{self._config.url}: {error}") from error


def _abort(answer: aiohttp.ClientResponse) -> None:
    """Give up the connection of an answer that has not been read to its end, which nobody can use for anything else.

    To close an encrypted one in its order takes an answer of the server, and the loop may end before it comes.
    """
    connection = answer.connection
    if connection is not None and connection.transport is not None:
        connection.transport.abort()


def _headers(answer: aiohttp.ClientResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in answer.headers.items()}


async def _chunks(answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    try:
        async for chunk in answer.content.iter_any():
            yield chunk
    except aiohttp.SocketTimeoutError:
        return  # as if the server had ended it: who reads goes on from the last event
