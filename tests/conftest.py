"""What more than one kind of test uses."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest
from hack.oracle.client import GoMissingError, Oracle, build
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

# How long an example takes is a matter of the machine's load, and no property.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(scope="session", autouse=True)
def _heeded_interrupts() -> None:
    """Let programs that tests start heed Ctrl-C: jobs in the background of a script ignore it, and pass that on."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def oracle() -> Iterator[Oracle]:
    """Upstream, built from `hack/oracle`; tests that use it are marked `oracle`."""
    try:
        program = build()
    except GoMissingError as error:
        pytest.skip(str(error))
    with Oracle(program) as running:
        yield running
