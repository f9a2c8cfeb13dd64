"""Kubernetes objects that come with drayman: the roles of its parts, the same wherever they run."""

from __future__ import annotations

from importlib import resources
from typing import Any

from drayman import manifest


def role(part: str) -> dict[str, Any]:
    """Return the ClusterRole of `part`: `scheduler` or `driver`."""
    folder = resources.files(__name__) / "charts" / f"drayman-{part}" / "files"
    with resources.as_file(folder / "role.yaml") as path:
        (loaded,) = manifest.load([str(path)])
    return dict(loaded.object)
