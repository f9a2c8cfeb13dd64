"""What validation must know beside the object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from drayman import features


@dataclass(frozen=True, slots=True)
class Context:
    """The gates that are on, and the labels of the object's namespace."""

    gates: frozenset[str] = field(default_factory=features.defaults)
    namespace_labels: Mapping[str, str] = field(default_factory=dict)
