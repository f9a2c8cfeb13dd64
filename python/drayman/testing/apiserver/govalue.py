"""JSON values as Go's `%+v` prints them, for messages that show a request."""

from __future__ import annotations

from typing import Any


def go_value(value: Any) -> str:
    """Return `value` as Go prints a `map[string]interface{}`: `map[a:1 b:[x y]]`."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return str(value).lower()
        case dict():
            return f"map[{' '.join(f'{name}:{go_value(value[name])}' for name in sorted(value))}]"
        case list():
            return f"[{' '.join(go_value(item) for item in value)}]"
        case _:
            return str(value)
