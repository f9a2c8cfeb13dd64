"""Probes over HTTP, by aiohttp."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import socket
from typing import TYPE_CHECKING

from aiohttp import web

from drayman.errors import InputError
from drayman.serving.address import Address

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from drayman.serving.checks import Probes

log = logging.getLogger(__name__)

_SHUTDOWN_SECONDS = 1.0
"""How long answers that are under way hold up the end."""


@contextlib.asynccontextmanager
async def served(address: Address | None, probes: Probes) -> AsyncIterator[Sequence[Address]]:
    """Answer until the block ends, and yield the addresses: a name may have several. None serves nothing.

    Raises :class:`~drayman.errors.InputError` when the address cannot be had.
    """
    if address is None:
        yield ()
        return
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", _Adapter(probes).answer)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=_SHUTDOWN_SECONDS)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, address.host, address.port).start()
        except OSError as error:
            raise _refusal(address, error) from error
        bound = [Address(each[0], each[1]) for each in runner.addresses]
        log.info("health is served on %s", ", ".join(map(str, bound)))
        yield bound
    finally:
        await runner.cleanup()


def _refusal(address: Address, error: OSError) -> InputError:
    if isinstance(error, socket.gaierror):
        return InputError(f"health cannot be served on `{address}`: the host `{address.host}` is not known")
    if error.errno == errno.EADDRINUSE:
        return InputError(
            f"health cannot be served on `{address}`: the port is taken",
            hint="choose another one with --health-bind-address",
        )
    reason = os.strerror(error.errno).lower() if error.errno else str(error)
    return InputError(f"health cannot be served on `{address}`: {reason}")


class _Adapter:
    """Translates between aiohttp's messages and the probes."""

    def __init__(self, probes: Probes) -> None:
        self._probes = probes

    async def answer(self, request: web.Request) -> web.Response:
        found = await self._probes.answer(
            request.path, verbose="verbose" in request.query, exclude=request.query.getall("exclude", [])
        )
        if found is None:
            return _text(404, "404 page not found\n")
        return _text(found.status, found.text)


def _text(status: int, text: str) -> web.Response:
    headers = {"X-Content-Type-Options": "nosniff"}
    return web.Response(status=status, text=text, content_type="text/plain", charset="utf-8", headers=headers)
