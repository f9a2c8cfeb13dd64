"""Rules about the capacity of devices, and about how shares of it may be requested.

Source: `pkg/apis/resource/validation`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from drayman.api.field import Path, duplicate, forbidden, invalid, required, too_many
from drayman.api.validation.context import Context
from drayman.api.validation.rules import Errors
from drayman.quantity import Quantity

_MAX_VALUES = 10
_MAX_INT64 = Quantity(2**63 - 1)
_ZERO = Quantity(0)


def device_capacity(path: Path, capacity: Mapping[str, Any], *, shareable: bool, context: Context) -> Errors:
    """Only devices that can be allocated several times have a policy for requests."""
    policy = capacity.get("requestPolicy")
    if policy is None:
        return
    path = path.child("requestPolicy")
    if not shareable:
        yield forbidden(path, "allowMultipleAllocations must be true")
    elif policy.get("validValues") and policy.get("validRange") is not None:
        text = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
        yield forbidden(path, text)
    else:
        yield from _policy(path, policy, Quantity(capacity.get("value", "0")), context)


def _policy(path: Path, policy: Mapping[str, Any], available: Quantity, context: Context) -> Errors:
    kind = "validValues" if policy.get("validValues") else "validRange"
    if policy.get(kind) is None:
        return
    if policy.get("default") is None:
        yield required(path.child("default"), f"required when {kind} is defined")
        return
    default = Quantity(policy["default"])
    fractional = "DRAFractionalCapacityRange" in context.gates
    if kind == "validValues":
        values = [Quantity(value) for value in policy[kind]]
        yield from _valid_values(path.child(kind), values, default, available, fractional=fractional)
    else:
        bounds = {name: Quantity(value) for name, value in policy[kind].items() if value is not None}
        yield from _valid_range(path.child(kind), bounds, default, available, fractional=fractional)


def _valid_values(
    path: Path, values: Sequence[Quantity], default: Quantity, available: Quantity, *, fractional: bool
) -> Errors:
    for index, (value, following) in enumerate(itertools.pairwise(values)):
        if value > following:
            yield invalid(path.index(index + 1), str(following), "values must be sorted in ascending order")
    if len(values) > _MAX_VALUES:
        yield too_many(path, len(values), _MAX_VALUES)
        return
    seen = set()
    duplicates = []
    for index, value in enumerate(values):
        if value > available:
            yield invalid(path.index(index), str(value), f"option is larger than capacity value: {available}")
        key = value if fractional else value.value()
        if key in seen:
            duplicates.append(duplicate(path.index(index), str(key)))
        seen.add(key)
    yield from duplicates
    if default not in values:
        yield invalid(path, str(default), "default value is not valid according to the requestPolicy")


def _valid_range(
    path: Path, bounds: Mapping[str, Quantity], default: Quantity, available: Quantity, *, fractional: bool
) -> Errors:
    if "min" not in bounds:
        yield required(path.child("min"), "required when validRange is defined")
        return
    yield from _bounds(path, bounds, default, available)
    named = {"default": default, **{name: bounds[name] for name in ("min", "max", "step") if name in bounds}}
    use_milli = fractional and any(_is_fractional(value) for value in named.values())
    if use_milli:
        unsafe = [name for name, value in named.items() if not _is_milli(value)]
        for name in unsafe:
            yield invalid(path.child(name), str(named[name]), "value cannot be represented as a milli value")
        if unsafe:
            return
    if "step" in bounds:
        yield from _step(path, bounds, named, available, use_milli=use_milli)


def _bounds(path: Path, bounds: Mapping[str, Quantity], default: Quantity, available: Quantity) -> Errors:
    low, high = bounds["min"], bounds.get("max")
    if low > available:
        yield invalid(path.child("min"), str(low), f"min is larger than capacity value: {available}")
    if default < low:
        yield invalid(path.child("default"), str(default), f"default is less than min: {low}")
    if high is None:
        return
    if low > high:
        yield invalid(path.child("max"), str(low), f"min is larger than max: {high}")
    if high > available:
        yield invalid(path.child("max"), str(high), f"max is larger than capacity value: {available}")
    if default > high:
        yield invalid(path.child("default"), str(default), f"default is more than max: {high}")


def _step(
    path: Path, bounds: Mapping[str, Quantity], named: Mapping[str, Quantity], available: Quantity, *, use_milli: bool
) -> Errors:
    step, low = bounds["step"], bounds["min"]
    if step <= _ZERO:
        yield invalid(path.child("step"), str(step), "must be greater than zero")
        return
    if low + step > available:
        text = f"one step {low + step} is larger than capacity value: {available}"
        yield invalid(path.child("step"), str(step), text)
    if not use_milli:
        # Above or below these bounds upstream's arithmetic would overflow.
        errors = [error for name, value in named.items() for error in _int64(path.child(name), value)]
        yield from errors
        if errors:
            return
    number: Callable[[Quantity], int] = Quantity.milli_value if use_milli else Quantity.value
    for value in (named["default"], named.get("max")):
        if value is not None and (number(value) - number(low)) % number(step) != 0:
            text = f"value is not a multiple of a given step ({step}) from ({low})"
            yield invalid(path.child("step"), str(value), text)


def _int64(path: Path, value: Quantity) -> Errors:
    if value < _ZERO:
        yield invalid(path, str(value), "must be greater than or equal to 0")
    elif value > _MAX_INT64:
        yield invalid(path, str(value), f"must not be larger than {2**63 - 1}")


def _is_fractional(value: Quantity) -> bool:
    return Quantity(value.value()) != value


def _is_milli(value: Quantity) -> bool:
    return Quantity(f"{value.milli_value()}m") == value
