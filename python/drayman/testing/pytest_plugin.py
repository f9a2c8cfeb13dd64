"""Fixtures for tests of drivers, controllers and manifests; loaded by pytest where drayman is installed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from drayman.testing.cluster import FakeCluster


@pytest.fixture
def fake_cluster() -> Iterator[FakeCluster]:
    """A fake cluster: two nodes with eight devices each, scheduler, kubelets and mock driver, in virtual time."""
    from drayman.testing.cluster import FakeCluster

    with FakeCluster(nodes=2) as cluster:
        yield cluster
