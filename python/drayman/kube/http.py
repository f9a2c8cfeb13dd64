"""HTTP messages without HTTP: what a :class:`Transport` carries and what the fake API server's handlers take and
return.

The same handlers answer over sockets (for real clients) and by in-process dispatch (for tests and `simulate`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `path` is decoded and has no query; `query` keeps order and repeats; header names are lower case."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def param(self, name: str, default: str = "") -> str:
        """Return the first query parameter called `name`."""
        return next((value for key, value in self.query if key == name), default)


@dataclass(frozen=True, slots=True)
class Response:
    """One whole response. Header names are lower case."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stream:
    """A response whose body comes in pieces of any size until the server or the reader ends it."""

    status: int
    chunks: AsyncIterator[bytes]
    headers: dict[str, str] = field(default_factory=dict)


class Transport(Protocol):
    """Carries requests to one API server. Safe for concurrent use by the tasks of one event loop.

    Both methods raise `ConnectionError` when the server cannot be reached or the connection breaks.
    """

    async def request(self, request: Request) -> Response:
        """Send `request` and return the whole answer, whatever its status."""

    def stream(self, request: Request) -> AbstractAsyncContextManager[Stream | Response]:
        """Send `request` and return a :class:`Stream`, or a :class:`Response` when the server refuses or does not
        stream.
        """

    async def close(self) -> None:
        """Release connections. Idempotent."""
