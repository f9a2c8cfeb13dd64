"""The API server on a TCP socket, for clients that are programs of their own (extra `testing`)."""

from __future__ import annotations

import contextlib
import hmac
import ssl
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TYPE_CHECKING

from aiohttp import web

from drayman.api import status
from drayman.kube.http import Request, Response, Stream
from drayman.testing.apiserver.bodies import MAX_BYTES
from drayman.testing.apiserver.refusal import Refusal, refusal_answer

if TYPE_CHECKING:
    from drayman.testing.apiserver.certificates import Certificate
    from drayman.testing.apiserver.server import APIServer

_SHUTDOWN_SECONDS = 0.1
"""How long open watches hold up the end; clients resume them elsewhere or fail, as when a real server goes away."""


@contextlib.asynccontextmanager
async def serve(
    server: APIServer, *, host: str = "127.0.0.1", port: int = 0, token: str, certificate: Certificate | None = None
) -> AsyncIterator[str]:
    """Serve until the block ends, and yield the base URL. Port 0 takes a free one.

    With a `certificate` the server speaks TLS, which kubectl and client-go need: they send tokens over nothing else.
    Requests without the bearer `token` get 401. Raises `OSError` when the port is taken.
    """
    application = web.Application(client_max_size=MAX_BYTES + 1)
    application.router.add_route("*", "/{path:.*}", _Adapter(server, token).answer)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=_SHUTDOWN_SECONDS)
    await runner.setup()
    try:
        context = None if certificate is None else _server_context(certificate)
        site = web.TCPSite(runner, host, port, ssl_context=context)
        await site.start()
        bound = runner.addresses[0]
        yield f"{'http' if certificate is None else 'https'}://{host}:{bound[1]}"
    finally:
        await runner.cleanup()


def _server_context(certificate: Certificate) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # The ssl module reads keys from files only.
    with tempfile.NamedTemporaryFile(suffix=".pem") as pem:
        pem.write(certificate.certificate + certificate.key)
        pem.flush()
        context.load_cert_chain(pem.name)
    return context


class _Adapter:
    """Translates between aiohttp's messages and ours."""

    def __init__(self, server: APIServer, token: str) -> None:
        self._server = server
        self._authorization = f"Bearer {token}".encode()

    async def answer(self, http: web.Request) -> web.StreamResponse:
        given = http.headers.get("Authorization", "").encode(errors="surrogateescape")
        if not hmac.compare_digest(given, self._authorization):
            return _whole(refusal_answer(Refusal(status.unauthorized())))
        try:
            body = await http.read()
        except web.HTTPRequestEntityTooLarge:
            return _whole(refusal_answer(Refusal(status.too_large(f"limit is {MAX_BYTES}"))))
        request = Request(
            method=http.method,
            path=_text(http.path),
            query=tuple((_text(name), _text(value)) for name, value in http.query.items()),
            headers={name.lower(): _text(value) for name, value in http.headers.items()},
            body=body,
        )
        answer = await self._server.handle(request)
        return _whole(answer) if isinstance(answer, Response) else await _stream(http, answer)


def _text(given: str) -> str:
    """Return what a request says without bytes that are not UTF-8: they would end up in objects that nobody can read.

    aiohttp hands them on as halves of surrogate pairs.
    """
    return given.encode(errors="surrogateescape").decode(errors="replace")


def _whole(answer: Response) -> web.Response:
    return web.Response(status=answer.status, body=answer.body, headers=answer.headers)


async def _stream(http: web.Request, answer: Stream) -> web.StreamResponse:
    response = web.StreamResponse(status=answer.status, headers=answer.headers)
    response.enable_chunked_encoding()
    try:
        await response.prepare(http)
        async for chunk in answer.chunks:
            await response.write(chunk)
        await response.write_eof()
    except ConnectionError:
        # The reader went away; there is nobody left to tell.
        return response
    finally:
        if isinstance(answer.chunks, AsyncGenerator):
            await answer.chunks.aclose()
    return response
