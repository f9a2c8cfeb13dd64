from __future__ import annotations

import re

import pytest

from drayman.serving import Address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:10251", Address("127.0.0.1", 10251)),
        (":10251", Address(None, 10251)),
        ("[::1]:10251", Address("::1", 10251)),
        ("[::]:0", Address("::", 0)),
        ("localhost:65535", Address("localhost", 65535)),
    ],
)
def test_address_is_read_and_written(text: str, address: Address) -> None:
    assert Address.parse(text) == address
    assert str(address) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "`` is not HOST:PORT"),
        ("10251", "`10251` is not HOST:PORT"),
        ("localhost", "`localhost` is not HOST:PORT"),
        ("localhost:", "`localhost:`: `` is not the number of a port"),
        (":http", "`:http`: `http` is not the number of a port"),
        (":-1", "`:-1`: `-1` is not the number of a port"),
        (":65536", "`:65536`: `65536` is not the number of a port"),
        (":１", "`:１`: `１` is not the number of a port"),
        ("::1:80", "`::1:80` is not HOST:PORT: an IPv6 address stands in brackets, as in `[::1]:8080`"),
        ("[::1]", "`[::1]`: `1]` is not the number of a port"),
        ("[127.0.0.1]:80", "`[127.0.0.1]:80`: `127.0.0.1` is not an IPv6 address"),
        ("[]:80", "`[]:80`: `` is not an IPv6 address"),
        ("http://x:80", "`http://x:80`: `http://x` is neither the name nor the address of a host"),
        ("a b:80", "`a b:80`: `a b` is neither the name nor the address of a host"),
        ("1.2.3:80", "`1.2.3:80`: `1.2.3` is neither the name nor the address of a host"),
        ("1.2.3.400:80", "`1.2.3.400:80`: `1.2.3.400` is neither the name nor the address of a host"),
    ],
)
def test_what_is_no_address_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(reason)}$"):
        Address.parse(text)
