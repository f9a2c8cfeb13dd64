"""What lint says: diagnostics with exact places, and the edits that put things right."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from drayman.manifest import Position


class Severity(StrEnum):
    """How bad a finding is: only errors make the command fail."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Edit:
    """Put `text` in place of what stands at `position`."""

    position: Position
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits of one file that belong together. Only a safe one is applied by `--fix`: it changes no meaning but the
    one that the finding is about.
    """

    edits: tuple[Edit, ...]
    safe: bool = True


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `object` is "Kind namespace/name"; `path` the field in the object as it stands in the file."""

    rule: str
    severity: Severity
    object: str
    path: str
    message: str
    hint: str | None
    file: str
    position: Position
    fix: Fix | None = None
