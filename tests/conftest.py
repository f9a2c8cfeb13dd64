"""What more than one kind of test uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hack.oracle.client import GoMissingError, Oracle, build

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def oracle() -> Iterator[Oracle]:
    """Upstream, built from `hack/oracle`; tests that use it are marked `oracle`."""
    try:
        program = build()
    except GoMissingError as error:
        pytest.skip(str(error))
    with Oracle(program) as running:
        yield running
