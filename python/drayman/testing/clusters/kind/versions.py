"""What differs between versions of Kubernetes on kind; `versions.json` is the table, for jobs of CI as well."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

from drayman.errors import InputError


@dataclass(frozen=True, slots=True)
class Version:
    """A version of Kubernetes: its public node image, and what is switched on there for DRA."""

    kubernetes: str
    image: str
    feature_gates: Mapping[str, bool]
    runtime_config: Mapping[str, str]
    containerd_patches: tuple[str, ...]


def table() -> list[Version]:
    """Return the versions, oldest first."""
    read = json.loads((resources.files(__package__) / "versions.json").read_text())
    return [
        Version(
            row["kubernetes"],
            row["image"],
            row["featureGates"],
            row["runtimeConfig"],
            tuple(row["containerdConfigPatches"]),
        )
        for row in read
    ]


def find(kubernetes: str) -> Version:
    """Return a version like `1.37`. Raises :class:`~drayman.errors.InputError` for one that is not in the table."""
    rows = table()
    for row in rows:
        if row.kubernetes == kubernetes:
            return row
    known = ", ".join(row.kubernetes for row in rows)
    raise InputError(f"the backend `kind` does not know Kubernetes {kubernetes}; it knows {known}")
