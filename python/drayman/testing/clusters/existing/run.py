"""One run on a cluster of others: what is its own there, by name and label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from drayman import names

if TYPE_CHECKING:
    import random

LABEL = names.PREFIX + "run"
"""The label of everything that a run creates in a cluster; nothing without it is ever removed."""

HOST, STARTED = names.PREFIX + "host", names.PREFIX + "started"
"""Annotations of a run's namespace: for people who find it and wonder whose it is."""

_FIRST, _LETTERS, _LENGTH = "bcdfghjklmnpqrstvwxz", "bcdfghjklmnpqrstvwxz2456789", 6


@dataclass(frozen=True, slots=True)
class Run:
    """A run; `id` is at the end of the name of everything that it has in the cluster."""

    id: str

    @property
    def namespace(self) -> str:
        """The namespace of what is installed."""
        return self.named("drayman")

    @property
    def scheduler(self) -> str:
        """The schedulerName that only this run's scheduler serves."""
        return self.named("drayman")

    @property
    def driver(self) -> str:
        """The name of a mock driver that is installed for this run, and of its DeviceClass."""
        return f"{self.named('gpu')}.example.com"

    @property
    def labels(self) -> dict[str, str]:
        """The labels of everything that the run creates."""
        return {LABEL: self.id}

    @property
    def selector(self) -> str:
        """What selects all that."""
        return f"{LABEL}={self.id}"

    def named(self, name: str) -> str:
        """Return the name that `name` has in this run."""
        return f"{name}-{self.id}"


def new(source: random.Random) -> Run:
    """Return a run with an id that no other has."""
    rest = "".join(source.choice(_LETTERS) for _ in range(_LENGTH - 1))
    return Run(source.choice(_FIRST) + rest)
