"""Rules about CEL selectors of devices, in claims and device classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drayman.api.field import Path, forbidden, invalid, required, too_long
from drayman.api.validation import names
from drayman.api.validation.rules import Errors, declared_list
from drayman.errors import CELCompileError

MAX_SELECTORS = 32
MAX_EXPRESSION = 10 * 1024
MAX_COST = 1_000_000


def selectors(path: Path, value: list[Any] | None) -> Errors:
    """The selectors of a request or class are new: they must compile in the API server's environment."""
    yield from declared_list(path, value, MAX_SELECTORS, _selector)


def stored_selectors(path: Path, value: list[Any] | None) -> Errors:
    """The selectors were stored before: they are not compiled again."""
    yield from declared_list(path, value, MAX_SELECTORS, _stored_selector)


def _stored_selector(path: Path, selector: Mapping[str, Any]) -> Errors:
    if selector.get("cel") is None:
        yield required(path.child("cel"))


def _selector(path: Path, selector: Mapping[str, Any]) -> Errors:
    yield from _stored_selector(path, selector)
    if selector.get("cel") is not None:
        yield from _expression(path.child("cel", "expression"), selector["cel"].get("expression", ""))


def _expression(path: Path, expression: str) -> Errors:
    if names.size(expression) > MAX_EXPRESSION:
        yield too_long(path, MAX_EXPRESSION)
        return
    # The evaluator is native code; what has no selectors works without it.
    from drayman import cel

    try:
        compiled = cel.compile(expression, environment="new")
    except CELCompileError as error:
        yield invalid(path, expression, str(error))
        return
    if compiled.max_cost > MAX_COST:
        yield forbidden(path, "too complex, exceeds cost limit")
