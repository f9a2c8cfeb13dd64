"""Rules about CEL in claims and device classes: selectors of devices, and derived attributes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drayman.api.field import Path, forbidden, invalid, required, too_long
from drayman.api.validation import names
from drayman.api.validation.context import Context
from drayman.api.validation.rules import Errors, declared_list
from drayman.errors import CELCompileError

MAX_SELECTORS = 32
MAX_EXPRESSION = 10 * 1024
MAX_COST = 1_000_000


def selectors(path: Path, value: list[Any] | None, context: Context) -> Errors:
    """The selectors of a request or class are new: they must compile in the API server's environment."""

    def selector(path: Path, value: Mapping[str, Any]) -> Errors:
        yield from _stored_selector(path, value)
        if value.get("cel") is not None:
            expression = value["cel"].get("expression", "")
            yield from checked_expression(path.child("cel", "expression"), expression, context)

    yield from declared_list(path, value, MAX_SELECTORS, selector)


def stored_selectors(path: Path, value: list[Any] | None) -> Errors:
    """The selectors were stored before: they are not compiled again."""
    yield from declared_list(path, value, MAX_SELECTORS, _stored_selector)


def _stored_selector(path: Path, selector: Mapping[str, Any]) -> Errors:
    if selector.get("cel") is None:
        yield required(path.child("cel"))


def checked_expression(path: Path, expression: str, context: Context, *, costs: list[int] | None = None) -> Errors:
    """A new expression compiles and is not too costly: a selector, or with `costs`, to which its cost is added, that of
    a derived attribute."""
    if names.size(expression) > MAX_EXPRESSION:
        yield too_long(path, MAX_EXPRESSION)
        return
    # The evaluator is native code; what has no selectors works without it.
    from drayman import cel

    compiler = cel.compile if costs is None else cel.compile_derived
    try:
        compiled = compiler(expression, environment="new", gates=context.gates)
    except CELCompileError as error:
        yield invalid(path, expression, str(error))
        return
    if compiled.max_cost > MAX_COST:
        yield forbidden(path, "too complex, exceeds cost limit")
    if costs is not None:
        costs.append(compiled.max_cost)
