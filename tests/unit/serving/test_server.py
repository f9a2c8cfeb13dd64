"""The probes over real sockets."""

from __future__ import annotations

import asyncio
import socket
import urllib.error
import urllib.request

import pytest

from drayman.errors import InputError
from drayman.serving import Address, Check, Probes
from drayman.serving.server import served


def fetch(address: Address, path: str) -> tuple[int, str, dict[str, str]]:
    try:
        with urllib.request.urlopen(f"http://{address}{path}", timeout=10) as answer:
            return answer.status, answer.read().decode(), dict(answer.headers)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode(), dict(error.headers)


async def test_endpoints_answer_over_http() -> None:
    probes = Probes(live=[Check("loop", lambda: "stuck")])
    async with served(Address("127.0.0.1", 0), probes) as (address,):
        ready = await asyncio.to_thread(fetch, address, "/readyz?verbose")
        live = await asyncio.to_thread(fetch, address, "/livez")
        without = await asyncio.to_thread(fetch, address, "/livez?verbose&exclude=loop&exclude=ping")
        other = await asyncio.to_thread(fetch, address, "/metrics")

    assert ready[:2] == (200, "[+]ping ok\nreadyz check passed\n")
    assert live[:2] == (500, "[+]ping ok\n[-]loop failed: reason withheld\nlivez check failed\n")
    assert without[:2] == (200, "[+]ping excluded: ok\n[+]loop excluded: ok\nlivez check passed\n")
    assert other[:2] == (404, "404 page not found\n")
    assert live[2]["Content-Type"] == "text/plain; charset=utf-8"
    assert live[2]["X-Content-Type-Options"] == "nosniff"


async def test_port_is_free_when_the_block_has_ended() -> None:
    async with served(Address("127.0.0.1", 0), Probes()) as (address,):
        pass
    with socket.create_server(("127.0.0.1", address.port)) as again:
        assert again.getsockname()[1] == address.port


async def test_nothing_is_served_without_an_address() -> None:
    async with served(None, Probes()) as bound:
        assert bound == ()


async def test_all_interfaces_are_served_when_no_host_is_named() -> None:
    async with served(Address(None, 0), Probes()) as bound:
        here = next(one for one in bound if one.host == "0.0.0.0")
        assert (await asyncio.to_thread(fetch, Address("127.0.0.1", here.port), "/livez"))[:2] == (200, "ok")


async def test_taken_port_is_one_clear_message() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError) as caught:
            async with served(Address("127.0.0.1", port), Probes()):
                raise AssertionError("the port was taken")
    assert str(caught.value) == f"health cannot be served on `127.0.0.1:{port}`: the port is taken"
    assert caught.value.hint == "choose another one with --health-bind-address"


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("192.0.2.1", "cannot assign requested address"),
        ("no-such-host.invalid", "the host `no-such-host.invalid` is not known"),
    ],
)
async def test_host_that_is_not_ours_is_refused(host: str, reason: str) -> None:
    with pytest.raises(InputError) as caught:
        async with served(Address(host, 0), Probes()):
            raise AssertionError("the host was not ours")
    assert str(caught.value) == f"health cannot be served on `{host}:0`: {reason}"
