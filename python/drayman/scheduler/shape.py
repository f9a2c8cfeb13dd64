"""The shape of decoded YAML: which fields there may be and what type each has, held against what a user wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from drayman.errors import InputError


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value of one of `types`, called `name` in messages. A boolean is no number here."""

    name: str
    types: tuple[type, ...]

    def check(self, value: Any, path: str) -> None:
        """Raise :class:`InputError` when `value` has another type."""
        if not isinstance(value, self.types) or (isinstance(value, bool) and bool not in self.types):
            raise InputError(f"must be {self.name}, not {_described(value)}", field=path)


TEXT = Scalar("text", (str,))
WHOLE = Scalar("a whole number", (int,))
NUMBER = Scalar("a number", (int, float))
TRUTH = Scalar("true or false", (bool,))
ANY = Scalar("a value", (object,))


@dataclass(frozen=True, slots=True)
class Many:
    """A list of items of one shape; null is an empty list."""

    item: Shape

    def check(self, value: Any, path: str) -> None:
        """Raise :class:`InputError` for what is no such list."""
        if value is None:
            return
        if not isinstance(value, list | tuple):
            raise InputError(f"must be a list, not {_described(value)}", field=path)
        for index, item in enumerate(value):
            self.item.check(item, f"{path}[{index}]")


@dataclass(frozen=True, slots=True)
class Fields:
    """A mapping with these fields, some of them `required`; None for `known` allows any. Null is an empty mapping."""

    known: Mapping[str, Shape] | None = None
    required: tuple[str, ...] = ()

    def check(self, value: Any, path: str) -> None:
        """Raise :class:`InputError` for an unknown or missing field, or a value of the wrong shape."""
        if value is None and not self.required:
            return
        if not isinstance(value, Mapping):
            raise InputError(f"must be a mapping, not {_described(value)}", field=path or None)
        for name, item in value.items():
            where = f"{path}.{name}" if path else str(name)
            if self.known is not None and name not in self.known:
                raise InputError(f'unknown field "{where}"', field=where)
            if self.known is not None:
                self.known[name].check(item, where)
        for name in self.required:
            if name not in value:
                raise InputError("must be set", field=f"{path}.{name}" if path else name)


Shape = Scalar | Many | Fields


def _described(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    return f"`{value}`"
