"""JSON that is pleasant to read: what fits on a line stands on one."""

from __future__ import annotations

import json
from typing import Any

WIDTH = 120


def layout(value: Any, indent: int = 0, prefix: int = 0) -> str:
    """Return `value` as JSON; `prefix` is how much of the first line is taken already."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value or (indent + prefix + len(line) < WIDTH and indent > 0):
        return line
    inner = indent + 2
    if isinstance(value, dict):
        names = [f"{json.dumps(name)}: " for name in value]
        members = [name + layout(member, inner, len(name)) for name, member in zip(names, value.values(), strict=True)]
    else:
        members = [layout(member, inner) for member in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    separator = ",\n" + " " * inner
    return f"{opening}\n{' ' * inner}{separator.join(members)}\n{' ' * indent}{closing}"
