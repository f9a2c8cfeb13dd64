"""How the values of the API's types are merged: what a list is keyed by, and what is replaced whole.

`list_types.json` is extracted from upstream's OpenAPI document; the types of fields come from the schema of
:mod:`drayman.api`.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from importlib import resources
from typing import Any

from drayman.api.schema import table

UNKNOWN = "any"
"""The type of what the schema does not describe."""


@dataclass(frozen=True, slots=True)
class Type:
    """The type of a value. `name` is that of an object type or a plain one; of the items where it is a list or a map.

    `keys` identify the items of a `map` list. `merge_key` and `patch` are those of strategic merge patches, which are
    older and differ for a few fields.
    """

    name: str = UNKNOWN
    is_list: bool = False
    is_map: bool = False
    list_type: str = "atomic"
    keys: tuple[str, ...] = ()
    atomic: bool = False
    patch: frozenset[str] = frozenset()
    merge_key: str = ""

    def member(self, name: str) -> Type:
        """Return the type of a field of an object, or of a value of a map."""
        return self.item if self.is_map else field(self.name, name)

    @property
    def item(self) -> Type:
        """The type of the items of a list or the values of a map."""
        return _parse(self.name)


def root(api_version: str, kind: str) -> Type:
    """Return the type of a whole object."""
    return Type(table.type_of(api_version, kind) or UNKNOWN)


@functools.cache
def field(type_name: str, name: str) -> Type:
    """Return the type of a field of an object type."""
    declared = table.types().get(type_name, {}).get(name)
    if declared is None:
        return Type()
    plain = _parse(declared)
    entry = _list_types()["fields"].get(type_name, {}).get(name, {})
    return Type(
        plain.name,
        plain.is_list,
        plain.is_map,
        entry.get("list", "atomic"),
        tuple(entry.get("keys", ())),
        entry.get("map") == "atomic" or plain.atomic,
        frozenset(entry.get("patch", ())),
        entry.get("mergeKey", ""),
    )


def _parse(declared: str) -> Type:
    if declared.startswith("[]"):
        return Type(declared[2:], is_list=True)
    if declared.startswith("map[string]"):
        return Type(declared.removeprefix("map[string]"), is_map=True)
    return Type(declared, atomic=declared in _list_types()["atomic"])


@functools.cache
def _list_types() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((resources.files(__package__) / "list_types.json").read_text())
    return loaded
