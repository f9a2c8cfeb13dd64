"""Where to listen, as users write it: `HOST:PORT`, `:PORT` for all interfaces, `[::1]:PORT` for IPv6."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

_HOST_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?")


@dataclass(frozen=True, slots=True)
class Address:
    """A host, None for all interfaces, and a TCP port, 0 for any that is free."""

    host: str | None
    port: int

    def __str__(self) -> str:
        host = self.host or ""
        return f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read an address. Raises `ValueError` with the reason when it is none."""
        host, colon, port = text.rpartition(":")
        if not colon:
            raise ValueError(f"`{text}` is not HOST:PORT")
        if not (port.isascii() and port.isdigit()) or int(port) > 65535:
            raise ValueError(f"`{text}`: `{port}` is not the number of a port")
        return cls(_host(host, text), int(port))


def _host(host: str, text: str) -> str | None:
    if not host:
        return None
    if host.startswith("[") and host.endswith("]"):
        inner = host[1:-1]
        if _is(ipaddress.IPv6Address, inner):
            return inner
        raise ValueError(f"`{text}`: `{inner}` is not an IPv6 address")
    if _is(ipaddress.IPv6Address, host):
        raise ValueError(f"`{text}` is not HOST:PORT: an IPv6 address stands in brackets, as in `[::1]:8080`")
    if not _HOST_NAME.fullmatch(host) or (re.fullmatch(r"[\d.]+", host) and not _is(ipaddress.IPv4Address, host)):
        raise ValueError(f"`{text}`: `{host}` is neither the name nor the address of a host")
    return host


def _is(kind: type[ipaddress.IPv4Address | ipaddress.IPv6Address], text: str) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True
