"""API servers on loopback sockets, on threads of their own, for clients that block."""

from __future__ import annotations

import asyncio
import contextlib
import http.server
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from drayman.clock import RealClock
from drayman.kube import config
from drayman.kube.client import Client
from drayman.kube.resources import Resource
from drayman.testing.access import Access
from drayman.testing.apiserver import APIServer, InProcessTransport
from drayman.testing.apiserver.certificates import self_signed
from drayman.testing.apiserver.sockets import serve

TOKEN = "secret"


class LiveServer:
    """The fake API server; `kubeconfig` is a file that leads to it."""

    def __init__(self, kubeconfig: Path, runtime_config: Mapping[str, bool]) -> None:
        self.kubeconfig = kubeconfig
        self._runtime_config = runtime_config
        self._stop = asyncio.Event()

    def apply(self, *objects: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        return asyncio.run_coroutine_threadsafe(self.access.apply(objects), self._loop).result()

    def list(self, kind: str) -> Sequence[Mapping[str, Any]]:
        return asyncio.run_coroutine_threadsafe(self.access.list(kind), self._loop).result()

    def delete(self, kind: str, name: str) -> None:
        asyncio.run_coroutine_threadsafe(self.access.delete(kind, name), self._loop).result()

    def get(self, kind: str, name: str) -> Mapping[str, Any]:
        return asyncio.run_coroutine_threadsafe(self.access.get(kind, name), self._loop).result()

    def patch(self, resource: Resource, name: str, patch: Mapping[str, Any]) -> None:
        work = self.access.client.patch(resource, name, "default", patch)
        asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def run(self, started: Future[None]) -> None:
        with asyncio.Runner() as runner:
            self._loop = runner.get_loop()
            runner.run(self._serve(started))

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)

    async def _serve(self, started: Future[None]) -> None:
        clock = RealClock()
        server = APIServer(clock=clock, runtime_config=self._runtime_config)
        self.access = Access(Client(InProcessTransport(server)))
        certificate = self_signed("127.0.0.1", clock.now())
        async with serve(server, token=TOKEN, certificate=certificate) as url:
            self.config = config.ServerConfig(url=url, token=TOKEN, ca_data=certificate.certificate, namespace="team-a")
            config.write(self.kubeconfig, self.config, name="test")
            started.set_result(None)
            await self._stop.wait()


@contextlib.contextmanager
def live_server(folder: Path, runtime_config: Mapping[str, bool] | None = None) -> Iterator[LiveServer]:
    """Yield the fake API server, with its kubeconfig in `folder`."""
    server = LiveServer(folder / "live.kubeconfig", runtime_config or {})
    started: Future[None] = Future()
    thread = threading.Thread(target=server.run, args=(started,))
    thread.start()
    try:
        started.result(timeout=60)
        yield server
    finally:
        server.end()
        thread.join()


class CannedServer:
    """Answers every GET with what `answers` has for its path: the same each time, or the next of a list.

    The paths, with their queries, are in `asked`.
    """

    def __init__(self, answers: Mapping[str, tuple[int, Any] | list[tuple[int, Any]]]) -> None:
        self.answers = answers
        self.asked: list[str] = []
        self.headers: list[Mapping[str, str]] = []
        self.url = ""

    def answer(self, path: str) -> tuple[int, bytes]:
        self.asked.append(path)
        found = self.answers.get(path) or self.answers.get(path.partition("?")[0]) or (404, "no such path")
        code, body = found.pop(0) if isinstance(found, list) else found
        return code, body.encode() if isinstance(body, str) else json.dumps(body).encode()


@contextlib.contextmanager
def canned_server(answers: Mapping[str, tuple[int, Any] | list[tuple[int, Any]]]) -> Iterator[CannedServer]:
    """Yield a server that knows nothing but `answers`, over plain HTTP."""
    canned = CannedServer(answers)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            canned.headers.append(dict(self.headers))
            code, body = canned.answer(self.path)
            self.send_response(code)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        canned.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield canned
        finally:
            server.shutdown()
            thread.join()
