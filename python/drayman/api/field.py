"""Paths to fields and errors about them, with the texts of apimachinery's `field` package.

Every rule of :mod:`drayman.api.validation` is a function from a path and a value to a list of :class:`FieldError`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman.api import gotext

if TYPE_CHECKING:
    from collections.abc import Iterable

_BODIES = {
    "FieldValueNotFound": "Not found",
    "FieldValueRequired": "Required value",
    "FieldValueDuplicate": "Duplicate value",
    "FieldValueInvalid": "Invalid value",
    "FieldValueTypeInvalid": "Invalid value",
    "FieldValueNotSupported": "Unsupported value",
    "FieldValueForbidden": "Forbidden",
    "FieldValueTooLong": "Too long",
    "FieldValueTooShort": "Too short",
    "FieldValueTooMany": "Too many",
    "InternalError": "Internal error",
}
_WITHOUT_VALUE = frozenset(
    {"FieldValueRequired", "FieldValueForbidden", "FieldValueTooLong", "FieldValueTooShort", "InternalError"}
)


@dataclass(frozen=True, slots=True)
class Path:
    """Where a value stands in an object: `spec.devices.requests[0].name`. The empty path is the object itself."""

    text: str = ""

    def child(self, *names: str) -> Path:
        """Return the path of a field below this one."""
        return Path(".".join((self.text, *names) if self.text else names))

    def index(self, position: int) -> Path:
        """Return the path of a list item."""
        return Path(f"{self.text}[{position}]")

    def key(self, name: str) -> Path:
        """Return the path of a map entry."""
        return Path(f"{self.text}[{name}]")

    def __str__(self) -> str:
        return self.text or "<nil>"


@dataclass(frozen=True, slots=True)
class FieldError:
    """One reason why an object is refused; `type` is a cause type of `metav1.Status`, `str()` the API server's text.

    `declared` tells the errors of rules that upstream generates from the API's types: they come after the others.
    """

    type: str
    field: str
    value: Any = ""
    detail: str = ""
    declared: bool = dataclasses.field(default=False, compare=False, repr=False)

    @property
    def body(self) -> str:
        """The text without the field."""
        text = _BODIES[self.type]
        if self.type not in _WITHOUT_VALUE:
            text += f": {gotext.simple(self.value)}"
        return f"{text}: {self.detail}" if self.detail else text

    def __str__(self) -> str:
        return f"{self.field}: {self.body}"


def required(path: Path, detail: str = "") -> FieldError:
    """Return the error of a value that must be given."""
    return FieldError("FieldValueRequired", str(path), "", detail)


def invalid(path: Path, value: Any, detail: str) -> FieldError:
    """Return the error of a value that breaks a rule."""
    return FieldError("FieldValueInvalid", str(path), value, detail)


def duplicate(path: Path, value: Any) -> FieldError:
    """Return the error of a value that must be unique and is not."""
    return FieldError("FieldValueDuplicate", str(path), value)


def not_found(path: Path, value: Any, detail: str = "") -> FieldError:
    """Return the error of a reference to something that does not exist."""
    return FieldError("FieldValueNotFound", str(path), value, detail)


def forbidden(path: Path, detail: str) -> FieldError:
    """Return the error of a value that other conditions do not permit."""
    return FieldError("FieldValueForbidden", str(path), "", detail)


def not_supported(path: Path, value: Any, supported: Iterable[str]) -> FieldError:
    """Return the error of a value outside an enumeration; `supported` in the order to print."""
    choices = ", ".join(gotext.quote(choice) for choice in supported)
    return FieldError("FieldValueNotSupported", str(path), value, f"supported values: {choices}" if choices else "")


def too_long(path: Path, limit: int) -> FieldError:
    """Return the error of a text longer than `limit` bytes."""
    unit = "byte" if limit == 1 else "bytes"
    return FieldError("FieldValueTooLong", str(path), "<value omitted>", f"may not be more than {limit} {unit}")


def too_many(path: Path, count: int, limit: int) -> FieldError:
    """Return the error of a list or map with more than `limit` entries."""
    unit = "item" if limit == 1 else "items"
    return FieldError("FieldValueTooMany", str(path), count, f"must have at most {limit} {unit}")


def aggregate(errors: Iterable[FieldError]) -> str:
    """Return the errors as one text: alone as it is, several in brackets, repeated texts once."""
    texts = list(dict.fromkeys(str(error) for error in errors))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]" if texts else ""
