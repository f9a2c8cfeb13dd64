"""Rules about configuration for drivers, in claims, classes and allocations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drayman.api import gotext
from drayman.api.field import Path, invalid, required, too_long
from drayman.api.validation import names
from drayman.api.validation.device_names import declared_driver_name
from drayman.api.validation.rules import Errors

MAX_PARAMETERS = 10 * 1024


def device_configuration(path: Path, configuration: Mapping[str, Any], *, stored: bool = False) -> Errors:
    """A configuration has opaque parameters for a driver; stored ones may be larger than new ones."""
    opaque = configuration.get("opaque")
    if opaque is None:
        yield required(path.child("opaque"))
        return
    yield from declared_driver_name(path.child("opaque", "driver"), opaque.get("driver", ""))
    yield from raw_object(path.child("opaque", "parameters"), opaque.get("parameters"), MAX_PARAMETERS, stored=stored)


def raw_object(path: Path, value: Any, limit: int, *, stored: bool = False) -> Errors:
    """A value of the author's own is a JSON object, and not larger than `limit` bytes of JSON."""
    if value is None:
        yield required(path)
    elif not stored and names.size(gotext.marshal(value)) > limit:
        yield too_long(path, limit)
    elif not isinstance(value, dict):
        yield invalid(path, "<value omitted>", "must be a valid JSON object")
