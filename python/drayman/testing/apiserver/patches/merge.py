"""JSON merge patch (RFC 7386)."""

from __future__ import annotations

from typing import Any


def merge(document: Any, patch: Any) -> Any:
    """Return `document` with `patch` merged in: objects are merged, null removes, everything else replaces."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(document) if isinstance(document, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge(merged.get(name), value)
    return merged
