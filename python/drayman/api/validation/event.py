"""Rules about events: those that say when they happened are held to what `events.k8s.io` asks for.

Source: upstream's `pkg/apis/core/validation/events.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drayman.api.field import Path, invalid, required
from drayman.api.validation import names
from drayman.api.validation.context import Context
from drayman.api.validation.metadata import METADATA, descriptive_metadata
from drayman.api.validation.rules import Errors

_LIMITS = {"reportingComponent": 0, "reportingInstance": 128, "action": 128, "reason": 128, "message": 1024}
_TYPES = ("Normal", "Warning")


def event(obj: Mapping[str, Any], context: Context) -> Errors:
    """A new event, in the fields of `core/v1`."""
    yield from descriptive_metadata(METADATA, obj.get("metadata") or {})
    if not obj.get("eventTime"):
        return
    for name, limit in _LIMITS.items():
        text = str(obj.get(name) or "")
        if not text and name != "message":
            yield required(Path(name if name != "reportingComponent" else "reportingController"))
        elif limit and names.size(text) > limit:
            yield invalid(Path(name), "", f"can have at most {limit} characters")
    if obj.get("type") not in _TYPES:
        yield invalid(Path("type"), "", f"has invalid value: {obj.get('type', '')}")
