"""What probes are told; texts as `k8s.io/apiserver/pkg/server/healthz` prints them."""

from __future__ import annotations

import logging

import pytest

from drayman.serving import Check, Probes
from drayman.serving.checks import Answer


class Switch:
    """A check that fails for a reason, or not."""

    reason = ""

    async def test(self) -> str:
        return self.reason


def raising() -> str:
    raise OSError("broken")


async def test_ok_is_all_that_is_said_unless_more_is_asked_for() -> None:
    probes = Probes(live=[Check("loop", lambda: "")], ready=[Check("sync", lambda: "")])

    assert await probes.answer("/livez") == Answer(200, "ok")
    assert await probes.answer("/livez", verbose=True) == Answer(200, "[+]ping ok\n[+]loop ok\nlivez check passed\n")
    assert await probes.answer("/readyz", verbose=True) == Answer(200, "[+]ping ok\n[+]sync ok\nreadyz check passed\n")
    assert await probes.answer("/healthz", verbose=True) == Answer(
        200, "[+]ping ok\n[+]loop ok\nhealthz check passed\n"
    )


async def test_failure_withholds_the_reason_except_from_who_asks_for_the_check() -> None:
    probes = Probes(live=[Check("loop", lambda: "it is stuck"), Check("disk", raising)])

    text = "[+]ping ok\n[-]loop failed: reason withheld\n[-]disk failed: reason withheld\nlivez check failed\n"
    assert await probes.answer("/livez") == Answer(500, text)
    assert await probes.answer("/livez/loop") == Answer(500, "internal server error: it is stuck\n")
    assert await probes.answer("/livez/disk") == Answer(500, "internal server error: OSError: broken\n")
    assert await probes.answer("/livez/ping") == Answer(200, "ok")
    assert await probes.answer("/readyz") == Answer(200, "ok")


async def test_checks_can_be_left_out() -> None:
    probes = Probes(live=[Check("loop", lambda: "stuck")])

    assert await probes.answer("/livez", exclude=["loop"]) == Answer(200, "ok")
    text = (
        "[+]ping ok\n[+]loop excluded: ok\n"
        'warn: some health checks cannot be excluded: no matches for "a","b"\nlivez check passed\n'
    )
    assert await probes.answer("/livez", verbose=True, exclude=["loop", "b", "a"]) == Answer(200, text)


@pytest.mark.parametrize("path", ["/", "/metrics", "/livez/nope", "/livez/", "/livez/ping/x"])
async def test_other_paths_are_not_there(path: str) -> None:
    found = await Probes().answer(path)
    assert (found is None) == (path != "/livez/")


async def test_reason_is_logged_once_until_it_changes(caplog: pytest.LogCaptureFixture) -> None:
    switch = Switch()
    probes = Probes(live=[Check("loop", switch.test)])
    with caplog.at_level(logging.INFO, "drayman.serving.checks"):
        for reason in ("", "slow", "slow", "stuck", "", ""):
            switch.reason = reason
            await probes.answer("/livez")

    assert [record.message for record in caplog.records] == [
        "livez check failed: loop: slow",
        "livez check failed: loop: stuck",
        "livez check passed",
    ]
