"""Rules that devices in a ResourceSlice share with devices in an allocation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drayman.api.field import Path, invalid, not_supported
from drayman.api.validation import names
from drayman.api.validation.rules import Errors, declared, declared_list, matching, repeated

_MAX_CONDITIONS = 4
_OPERATIONS = ("*", "NodePrepareResources", "NodeUnprepareResources")


def binding_conditions(path: Path, device: Mapping[str, Any]) -> Errors:
    """Conditions to wait for come with conditions to give up at; none is in both lists."""
    wanted = device.get("bindingConditions") or []
    failures = device.get("bindingFailureConditions") or []
    for name, values in (("bindingConditions", wanted), ("bindingFailureConditions", failures)):
        yield from declared_list(path.child(name), values, _MAX_CONDITIONS, _condition_type)
    yield from repeated(path.child("bindingConditions"), wanted)
    failures_path = path.child("bindingFailureConditions")
    yield from repeated(failures_path, failures)
    for index, condition in enumerate(failures):
        if condition in wanted:
            text = "bindingFailureConditions must not overlap with bindingConditions"
            yield invalid(failures_path.index(index), condition, text)
    if failures and not wanted:
        text = "bindingConditions are required to use bindingFailureConditions"
        yield invalid(path.child("bindingConditions"), wanted or None, text)
    if wanted and not failures:
        text = "bindingFailureConditions are required to use bindingConditions"
        yield invalid(failures_path, failures or None, text)


def _condition_type(path: Path, value: str) -> Errors:
    yield from matching(path, value, names.label_key)


def skipped_node_operations(path: Path, operations: Sequence[str] | None) -> Errors:
    """Preparing a device cannot be skipped without skipping to undo it."""
    operations = operations or ()
    if "NodePrepareResources" in operations and not {"NodeUnprepareResources", "*"} & set(operations):
        text = "NodePrepareResources cannot be skipped unless NodeUnprepareResources is also skipped"
        yield invalid(path, list(operations), text)
    yield from declared(repeated(path, operations))
    for index, operation in enumerate(operations):
        if operation not in _OPERATIONS:
            yield from declared([not_supported(path.index(index), operation, _OPERATIONS)])
