"""Any text can be inspected: places lie in it, and what is called guarded is never what an evaluation misses."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.property.expressions import devices, expressions, mangled

from drayman import cel
from drayman.errors import CELCompileError
from drayman.inspection import Span


def spans(value: object) -> Iterator[Span]:
    """Yield all spans in a value, at any depth."""
    if isinstance(value, Span):
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from spans(one)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from spans(getattr(value, field.name))


@given(expression=st.one_of(expressions(), mangled(), st.text(), st.text("device.attributes[]()\"'?:&|#= é\n𝔡")))
def test_places_lie_in_any_text(expression: str) -> None:
    lines = expression.split("\n")
    for span in spans(cel.inspect(expression)):
        assert 0 <= span.start <= span.end <= len(expression)
        for offset, line, column in ((span.start, span.line, span.column), (span.end, span.end_line, span.end_column)):
            assert sum(len(one) + 1 for one in lines[: line - 1]) + column - 1 == offset
            assert column <= len(lines[line - 1]) + 1


@given(expression=expressions())
def test_what_is_named_stands_where_it_is_said_to(expression: str) -> None:
    found = cel.inspect(expression)
    for access in found.accesses:
        for key in (access.domain, access.name):
            if key is not None and "\\" not in expression:
                assert key.text in expression[key.span.start : key.span.end]
    for comparison in found.comparisons:
        assert expression[comparison.operator_span.start : comparison.operator_span.end] == comparison.operator
        assert comparison.left.span.end <= comparison.operator_span.start
        assert comparison.operator_span.end <= comparison.right.span.start


@given(expression=expressions(), device=devices())
def test_nothing_guarded_is_missed(expression: str, device: dict[str, Any]) -> None:
    try:
        selector = cel.compile(expression)
    except CELCompileError:
        return
    error = selector.evaluate(device).error
    missing = str(error).partition("no such key: ")[2].partition(". consider")[0] if error else ""
    found = cel.inspect(expression)
    looked_up = [access for access in found.accesses if access.form in ("field", "index")]
    if any(access.domain is None or access.name is None for access in found.accesses) or "{" in expression:
        return
    if any(member.name == missing for member in found.members):
        return
    of_that_name = [access for access in looked_up if access.name and access.name.text == missing]
    assert not of_that_name or any(not access.guarded for access in of_that_name)


@given(expression=expressions(), device=devices())
def test_a_result_that_is_always_the_same_is(expression: str, device: dict[str, Any]) -> None:
    always = cel.inspect(expression).always
    if always is None:
        return
    try:
        evaluation = cel.compile(expression).evaluate(device)
    except CELCompileError:
        return
    assert evaluation.error is not None or evaluation.value is always
