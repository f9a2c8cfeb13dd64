"""What containers printed, served to a real API server as its kubelets do."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from aiohttp import web

if TYPE_CHECKING:
    import ssl

HOST = "127.0.0.1"
_SHUTDOWN_SECONDS = 0.1


class LogServer:
    """The kubelet servers of all fake nodes of a cluster in one; output is kept until its pod's name is used again."""

    def __init__(self) -> None:
        self._logs: dict[tuple[str, str, str], bytes] = {}
        self.port = 0

    def store(self, namespace: str, pod: str, container: str, output: bytes) -> None:
        """Keep the output of a container."""
        self._logs[namespace, pod, container] = output

    @contextlib.asynccontextmanager
    async def serving(self, context: ssl.SSLContext) -> AsyncIterator[None]:
        """Serve on a free port of the loopback address until the block ends; `context` says to whom."""
        application = web.Application()
        application.router.add_get("/containerLogs/{namespace}/{pod}/{container}", self._answer)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=_SHUTDOWN_SECONDS)
        await runner.setup()
        try:
            await web.TCPSite(runner, HOST, 0, ssl_context=context).start()
            self.port = runner.addresses[0][1]
            yield
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        names = request.match_info
        log = self._logs.get((names["namespace"], names["pod"], names["container"]))
        if log is None:
            return web.Response(status=404, text=f"container {names['container']} has not started")
        tail, limit = request.query.get("tailLines", ""), request.query.get("limitBytes", "")
        if tail.isdecimal():
            lines = log.splitlines(keepends=True)
            log = b"".join(lines[len(lines) - min(int(tail), len(lines)) :])
        return web.Response(body=log[: int(limit)] if limit.isdecimal() else log, content_type="text/plain")
