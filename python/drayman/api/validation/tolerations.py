"""Rules about the taints of devices and the tolerations of requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drayman.api.field import Path, invalid, not_supported, required
from drayman.api.validation import names
from drayman.api.validation.rules import Errors, declared, matching, one_of

EFFECTS = ("NoExecute", "NoSchedule", "None")
_OPERATORS = ("Equal", "Exists")


def device_taint(path: Path, taint: Mapping[str, Any]) -> Errors:
    """A taint has a key and an effect."""
    yield from _taint_key(path, taint)
    yield from declared(one_of(path.child("effect"), taint.get("effect"), EFFECTS))


def device_taint_update(path: Path, taint: Mapping[str, Any], old: Mapping[str, Any]) -> Errors:
    """An effect that did not change is not checked again."""
    if taint.get("effect") == old.get("effect"):
        yield from _taint_key(path, taint)
    else:
        yield from device_taint(path, taint)


def _taint_key(path: Path, taint: Mapping[str, Any]) -> Errors:
    yield from matching(path.child("key"), taint.get("key", ""), names.label_key)
    if taint.get("value"):
        yield from matching(path.child("value"), taint["value"], names.label_value)


def device_toleration(path: Path, toleration: Mapping[str, Any]) -> Errors:
    """A toleration says how it compares; without key or effect it means all."""
    if toleration.get("key"):
        yield from declared(matching(path.child("key"), toleration["key"], names.label_key))
    operator, value = toleration.get("operator"), toleration.get("value", "")
    if operator == "Exists" and value:
        yield invalid(path.child("value"), value, "must be empty for operator `Exists`")
    elif operator == "Equal":
        yield from matching(path.child("value"), value, names.label_value)
    elif not operator:
        yield from declared([required(path.child("operator"))])
    elif operator not in _OPERATORS:
        yield from declared([not_supported(path.child("operator"), operator, _OPERATORS)])
    effect = toleration.get("effect")
    if effect and effect not in EFFECTS:
        yield from declared([not_supported(path.child("effect"), effect, EFFECTS)])
