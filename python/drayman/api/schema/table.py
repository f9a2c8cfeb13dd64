"""The table of built-in kinds: which there are, and which fields of which types they have.

It is `table.json`, made by `hack/update` from Kubernetes' OpenAPI files and read on first use. Types are in Go's
notation: `string`, `int64`, `[]T`, `map[string]T`, or the name of another type such as `core.v1.PodSpec`; `any` takes
every value.
"""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@functools.cache
def _table() -> dict[str, Any]:
    text = resources.files("drayman.api.schema").joinpath("table.json").read_text("utf-8")
    table: dict[str, Any] = json.loads(text)
    return table


def types() -> Mapping[str, Mapping[str, str]]:
    """Return all types: name to fields, field to type."""
    found: dict[str, dict[str, str]] = _table()["types"]
    return found


def groups() -> frozenset[str]:
    """Return the built-in API groups; core is the empty name."""
    return frozenset(version.rpartition("/")[0] for version in _table()["kinds"])


def versions(group: str) -> list[str]:
    """Return the `apiVersion` values of a group."""
    return sorted(version for version in _table()["kinds"] if version.rpartition("/")[0] == group)


def kinds(api_version: str) -> list[str]:
    """Return the kinds of an `apiVersion`, none when it is not built in."""
    return sorted(_table()["kinds"].get(api_version, ()))


def type_of(api_version: str, kind: str) -> str | None:
    """Return the name of the type of a kind, or None when it is not built in."""
    name: str | None = _table()["kinds"].get(api_version, {}).get(kind)
    return name


def type_of_object(obj: Mapping[str, Any]) -> str | None:
    """Return the name of the type of an object, or None when its kind is not built in."""
    return type_of(str(obj.get("apiVersion", "")), str(obj.get("kind", "")))


def element(kind: str) -> str:
    """Return the type of the items of a list or map, or the type itself."""
    return kind.removeprefix("map[string]").removeprefix("[]")


def ordered(type_name: str, value: Any) -> Any:
    """Return a value of a type with its fields in the order in which Go prints them, which messages show."""
    if type_name.startswith("[]"):
        return [ordered(type_name[2:], item) for item in value] if isinstance(value, list) else value
    if not isinstance(value, dict):
        return value
    if type_name.startswith("map[string]"):
        return {key: ordered(element(type_name), value[key]) for key in sorted(value)}
    fields = types().get(type_name)
    if fields is None:
        return value
    return {name: ordered(kind, value[name]) for name, kind in fields.items() if name in value}
