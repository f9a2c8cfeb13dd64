"""The columns of `kubectl get`, as upstream prints them; one module for each family of kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.testing.apiserver.tables.column import AGE, NAME, Column

if TYPE_CHECKING:
    from drayman.testing.apiserver.kinds import Kind

_BY_KIND: dict[str, tuple[Column, ...]] = {}
_DEFAULT = (NAME, AGE)


def columns(kind: Kind) -> tuple[Column, ...]:
    """Return the columns of `kind`; name and age for kinds without columns of their own."""
    return _BY_KIND.get(kind.kind, _DEFAULT)
