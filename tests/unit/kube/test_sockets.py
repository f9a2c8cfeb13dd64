"""The transport of long-running parts, against servers on real sockets."""

from __future__ import annotations

import asyncio
import dataclasses
import socket
from typing import TYPE_CHECKING

import pytest
from tests.unit.servers import TOKEN, live_server

from drayman.errors import APIStatusError
from drayman.kube import config, connect, sockets
from drayman.kube.http import Request, Stream
from drayman.kube.resources import NODES
from drayman.kube.sockets import SocketTransport

if TYPE_CHECKING:
    from pathlib import Path


async def test_token_that_has_been_replaced_on_disk_is_used_at_once(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(TOKEN)
    with live_server(tmp_path) as server:
        as_pod = dataclasses.replace(server.config, token=None, token_file=token)
        async with connect.connection(as_pod, user_agent="test") as client:
            await client.list(NODES)
            token.write_text("expired")
            with pytest.raises(APIStatusError) as caught:
                await client.list(NODES)
            token.write_text(TOKEN)
            await client.list(NODES)

    assert caught.value.code == 401


async def test_stream_that_says_nothing_for_too_long_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "_SILENT_SECONDS", 0.05)

    def answer(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n")
            assert connection.recv(1) == b""

    with socket.create_server(("127.0.0.1", 0)) as listening:
        answering = asyncio.ensure_future(asyncio.to_thread(answer, listening))
        transport = SocketTransport(config.ServerConfig(url=f"http://127.0.0.1:{listening.getsockname()[1]}"))
        async with transport.stream(Request("GET", "/")) as stream:
            assert isinstance(stream, Stream)
            assert [chunk async for chunk in stream.chunks] == [b"{}"]
        await transport.close()
        await answering


async def test_server_that_does_not_even_begin_to_answer_is_a_connection_that_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sockets, "_SILENT_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        transport = SocketTransport(config.ServerConfig(url=url))
        with pytest.raises(ConnectionError, match=url):
            async with transport.stream(Request("GET", "/")):
                raise AssertionError("nothing was answered")
        await transport.close()
