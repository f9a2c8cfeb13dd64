"""Reading parts of objects that were not checked yet: what is missing or of another type reads as empty."""

from __future__ import annotations

from typing import Any


def mapping(parent: Any, *names: str) -> dict[str, Any]:
    """Return the object at `names`, or an empty one that belongs to nobody."""
    for name in names:
        parent = parent.get(name) if isinstance(parent, dict) else None
    return parent if isinstance(parent, dict) else {}


def mappings(parent: Any, *names: str) -> list[dict[str, Any]]:
    """Return the objects in the list at `names`, or none."""
    items = mapping(parent, *names[:-1]).get(names[-1])
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def fill(parent: dict[str, Any], **values: Any) -> None:
    """Set each field that is absent or null."""
    for name, value in values.items():
        if parent.get(name) is None:
            parent[name] = value


def fill_empty(parent: dict[str, Any], **values: Any) -> None:
    """Set each field that is absent, null or has its type's empty value (a plain field in Go)."""
    for name, value in values.items():
        if not parent.get(name):
            parent[name] = value


def nested(parent: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the object in field `name`, made when it is absent; of another type: an empty one of nobody."""
    if parent.get(name) is None:
        parent[name] = {}
    return mapping(parent, name)
