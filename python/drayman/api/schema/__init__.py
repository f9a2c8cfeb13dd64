"""The built-in kinds with their fields and types, strict decoding by them, and hints for unknown names."""

from __future__ import annotations

from drayman.api.schema.decoding import Decoded, DecodingError, decode, strict
from drayman.api.schema.hints import did_you_mean, field_hint, places
from drayman.api.schema.table import groups, kinds, ordered, type_of, type_of_object, types, versions

__all__ = [
    "Decoded",
    "DecodingError",
    "decode",
    "did_you_mean",
    "field_hint",
    "groups",
    "kinds",
    "ordered",
    "places",
    "strict",
    "type_of",
    "type_of_object",
    "types",
    "versions",
]
