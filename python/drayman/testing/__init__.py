"""The shipped test harness: a fake cluster in one process, and the same face on real ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from drayman.testing.cluster import AsyncFakeCluster, FakeCluster

__all__ = ["AsyncFakeCluster", "FakeCluster"]


def __getattr__(name: str) -> Any:
    """Import the cluster when it is asked for: parts of this package are used without it."""
    if name in __all__:
        from drayman.testing import cluster

        return getattr(cluster, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
