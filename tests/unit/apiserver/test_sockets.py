"""Requests that no well-behaved client sends, over a socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from drayman.clock import RealClock
from drayman.testing.apiserver import APIServer
from drayman.testing.apiserver.sockets import serve

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


class Raw:
    """Sends requests byte by byte; each gets a connection of its own."""

    def __init__(self, url: str) -> None:
        host, _, port = url.removeprefix("http://").partition(":")
        self._address = (host, int(port))

    async def __call__(self, line: str, *headers: bytes, body: bytes = b"", token: bytes = b"secret") -> bytes:
        reader, writer = await asyncio.open_connection(*self._address)
        fixed = [b"host: x", b"connection: close", b"authorization: Bearer " + token, b"content-length: %d" % len(body)]
        writer.write(b"\r\n".join([f"{line} HTTP/1.1".encode(), *fixed, *headers, b"", body]))
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer


@pytest.fixture
async def raw() -> AsyncIterator[Raw]:
    async with serve(APIServer(clock=RealClock()), token="secret") as url:
        yield Raw(url)


async def test_token_that_is_not_text_is_unauthorized(raw: Raw) -> None:
    assert (await raw(f"GET {CONFIG_MAPS}", token=b"\xff")).startswith(b"HTTP/1.1 401 ")


async def test_client_whose_name_is_not_text_can_write_what_others_can_read(raw: Raw) -> None:
    body = b'{"metadata": {"name": "c"}}'

    written = await raw(f"POST {CONFIG_MAPS}?fieldManager=%ED%A0%80", b"user-agent: \xff/1", body=body)
    applied = await raw(
        f"PATCH {CONFIG_MAPS}/c?fieldManager=%FF", b"content-type: application/merge-patch+json", body=b'{"data": {}}'
    )

    assert written.startswith(b"HTTP/1.1 201 ")
    assert applied.startswith(b"HTTP/1.1 200 ")
    assert (await raw(f"GET {CONFIG_MAPS}")).startswith(b"HTTP/1.1 200 ")
