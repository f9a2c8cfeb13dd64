"""Quantities and versions read, print, compare and add up as apimachinery's and blang/semver's do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from tests.property.quantities import quantities, quantity_texts, versions
from tests.property.support import agree, comparison

import drayman

if TYPE_CHECKING:
    from hack.oracle.client import Oracle


@comparison(2)
@given(text=quantity_texts)
def test_quantity_is_read_and_printed_as_upstream(oracle: Oracle, text: str) -> None:
    agree("quantity", {"a": text}, described(text), chosen(oracle.ask("quantity", {"a": text}), DESCRIPTION))


@comparison(2)
@given(a=quantities, b=quantities)
def test_quantities_compare_and_add_up_as_upstream(oracle: Oracle, a: str, b: str) -> None:
    question = {"a": a, "b": b}
    agree("quantities", question, combined(a, b), chosen(oracle.ask("quantity", question), COMBINATION))


@comparison(2)
@given(a=versions, b=versions)
def test_versions_are_read_and_compare_as_upstream(oracle: Oracle, a: str, b: str) -> None:
    question = {"a": a, "b": b}
    agree("versions", question, versions_compared(a, b), chosen(oracle.ask("version", question), ("compare",)))


DESCRIPTION = ("text", "format", "value", "milliValue", "float")
COMBINATION = ("compare", "sum", "difference")


def chosen(answer: dict[str, Any], members: tuple[str, ...]) -> dict[str, Any]:
    if "error" in answer:
        return {"error": answer["error"]}
    return {name: repr(float(answer[name])) if name == "float" else answer[name] for name in members}


def described(text: str) -> dict[str, Any]:
    try:
        quantity = drayman.Quantity(text)
    except drayman.InputError as error:
        return {"error": error.message}
    values = (str(quantity), quantity.format, quantity.value(), quantity.milli_value(), repr(float(quantity)))
    return dict(zip(DESCRIPTION, values, strict=True))


def combined(a: str, b: str) -> dict[str, Any]:
    try:
        left, right = drayman.Quantity(a), drayman.Quantity(b)
    except drayman.InputError as error:
        return {"error": error.message}
    order = (left > right) - (left < right)
    return dict(zip(COMBINATION, (order, str(left + right), str(left - right)), strict=True))


def versions_compared(a: str, b: str) -> dict[str, Any]:
    try:
        left, right = drayman.Version(a), drayman.Version(b)
    except drayman.InputError as error:
        return {"error": error.message}
    return {"compare": (left > right) - (left < right)}
