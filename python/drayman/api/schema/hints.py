"""What the author of an unknown name may have meant."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from drayman.api.schema import table

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


def did_you_mean(name: str, choices: Collection[str]) -> str | None:
    """Return the choice nearest to `name`, or None when none is near. Case does not count."""
    by_lower = {choice.lower(): choice for choice in sorted(choices)}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    if not near:
        near = sorted((known for known in by_lower if name.lower().startswith(known)), key=len, reverse=True)
    return by_lower[near[0]] if near else None


def field_hint(obj: Mapping[str, Any], path: str) -> str | None:
    """Return a hint for the unknown field at `path` of `obj`, or None when nothing is like it.

    It names a field of a similar name in the same place, or the neighbours that have a field of that name.
    """
    place, _, name = path.rpartition(".")
    parent = _type_at(obj, place)
    if parent is None:
        return None
    fields = table.types()[parent]
    similar = did_you_mean(name, fields)
    if similar:
        return f"did you mean `{similar}`?"
    owners = sorted(member for member, kind in fields.items() if name in table.types().get(table.element(kind), ()))
    return f"`{name}` is a field of {' and of '.join(f'`{owner}`' for owner in owners)}" if owners else None


def places(obj: Mapping[str, Any], name: str) -> list[str]:
    """Return where objects of this kind have a field called `name` in their spec, the shortest paths first.

    Items of lists are written `[]`. A type that contains itself is looked into once.
    """
    found: list[str] = []
    seen: set[str] = set()
    queue = [("spec", table.types().get(table.type_of_object(obj) or "", {}).get("spec", ""))]
    while queue:
        path, kind = queue.pop(0)
        fields = table.types().get(table.element(kind), {})
        if table.element(kind) in seen:
            continue
        seen.add(table.element(kind))
        path += "[]" if kind.startswith("[]") else ""
        if name in fields:
            found.append(f"{path}.{name}")
        queue += [(f"{path}.{member}", below) for member, below in fields.items()]
    return found


def _type_at(obj: Mapping[str, Any], path: str) -> str | None:
    """Return the type with fields at `path`, or None when there is none."""
    current = table.type_of_object(obj) or ""
    for name in filter(None, path.split(".")):
        if current.startswith("map["):
            current = table.element(current)
        else:
            fields = table.types().get(table.element(current), {})
            current = fields.get(name.partition("[")[0], "")
    current = table.element(current)
    return current if current in table.types() else None
