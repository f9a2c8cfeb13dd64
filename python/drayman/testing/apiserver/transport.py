"""Requests to the fake API server without sockets."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from drayman.kube.http import Request, Response, Stream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from drayman.testing.apiserver.server import APIServer


class InProcessTransport:
    """Hands requests to an :class:`APIServer` on the same event loop."""

    def __init__(self, server: APIServer) -> None:
        self._server = server

    async def request(self, request: Request) -> Response:
        """Return the whole answer; a stream is read to its end."""
        answer = await self._server.handle(request)
        if isinstance(answer, Response):
            return answer
        body = b"".join([chunk async for chunk in answer.chunks])
        return Response(answer.status, body, answer.headers)

    @contextlib.asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[Stream | Response]:
        """Yield the answer; leaving the block ends the stream."""
        answer = await self._server.handle(request)
        if isinstance(answer, Response):
            yield answer
            return
        try:
            yield answer
        finally:
            if isinstance(answer.chunks, AsyncGenerator):
                await answer.chunks.aclose()

    async def close(self) -> None:
        """Do nothing: there is no connection."""
