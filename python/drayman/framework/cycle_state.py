"""What plugins keep for each other, and for their later extension points, during one attempt at one pod."""

from __future__ import annotations

from typing import Generic, TypeVar, cast

T = TypeVar("T")


class StateKey(Generic[T]):
    """A name under which values of one type are kept. Two keys are equal only if they are the same object."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"StateKey({self.name!r})"


class CycleState:
    """Lives from PreFilter to PostBind of one attempt.

    `skip_filter` and `skip_score` name the plugins that asked, in PreFilter or PreScore, to be left out.
    """

    __slots__ = ("_values", "skip_filter", "skip_score")

    def __init__(self) -> None:
        self._values: dict[StateKey[object], object] = {}
        self.skip_filter: set[str] = set()
        self.skip_score: set[str] = set()

    def write(self, key: StateKey[T], value: T) -> None:
        """Keep `value` under `key`, in place of what was there."""
        self._values[cast("StateKey[object]", key)] = value

    def read(self, key: StateKey[T]) -> T | None:
        """Return what is kept under `key`."""
        return cast("T | None", self._values.get(cast("StateKey[object]", key)))
