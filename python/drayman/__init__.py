"""Which devices would this claim get, and if none, why: DRA allocation for Kubernetes, offline and in a scheduler."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    __version__: str

KUBERNETES = "1.37.2"
"""The release of Kubernetes whose allocator is followed."""


def __getattr__(name: str) -> str:
    """Read the version when it is asked for: `importlib.metadata` takes longer to import than all the rest."""
    if name == "__version__":
        from importlib.metadata import version

        return version("drayman")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
