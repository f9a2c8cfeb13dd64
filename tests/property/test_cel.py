"""Random expressions on random devices compile, evaluate and cost as upstream's, or fail with the same text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hack.oracle.client import UpstreamPanicError
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from tests.property.expressions import devices, expressions, mangled
from tests.property.support import agree, comparison

import drayman
from drayman import cel

if TYPE_CHECKING:
    from hack.oracle.client import Oracle

Answer = dict[str, Any]


@comparison(6)
@given(expression=expressions(), device=devices())
def test_expression_is_answered_as_upstream(oracle: Oracle, expression: str, device: Answer) -> None:
    compare(oracle, expression, device)


@comparison(3)
@given(expression=mangled(), device=devices())
def test_broken_expression_is_answered_as_upstream(oracle: Oracle, expression: str, device: Answer) -> None:
    compare(oracle, expression, device)


# Also bytes that are no text.
scrawls = st.text() | st.binary().map(lambda data: data.decode(errors="surrogateescape")) | mangled()


@given(text=scrawls, device=devices())
@settings(max_examples=300, database=None)
def test_any_text_is_an_expression_or_refused(text: str, device: Answer) -> None:
    try:
        selector = cel.compile(text)
    except drayman.DraymanError:
        return
    selector.evaluate(device)


def compare(oracle: Oracle, expression: str, device: Answer) -> None:
    question = {"expression": expression, "device": device}
    drayman, upstream = answer(expression, device), upstreams(oracle, question)
    if agreeing(drayman, upstream) == upstream:
        return
    # Upstream walks maps in random order, which costs more or less, and may meet an error or not.
    others = [upstreams(oracle, question) for _ in range(100)]
    sure = {name: value for name, value in upstream.items() if all(other.get(name) == value for other in others)}
    agree("cel", question, agreeing(drayman, sure), sure)


def agreeing(drayman: Answer, upstream: Answer) -> Answer:
    """Return of an answer what upstream's has too: it has no cost where the device cannot be read."""
    return {name: drayman.get(name) for name in upstream}


def upstreams(oracle: Oracle, question: Answer) -> Answer:
    try:
        answer = oracle.ask("cel", question)
    except UpstreamPanicError:
        reject()
    return {**answer, "compileError": compared(answer["compileError"])} if "compileError" in answer else answer


def answer(expression: str, device: Answer) -> Answer:
    try:
        selector = cel.compile(expression)
    except drayman.CELCompileError as error:
        return {"compileError": compared(str(error))}
    evaluation = selector.evaluate(device)
    given: Answer = {"maxCost": selector.max_cost, "cost": evaluation.cost}
    try:
        return {"match": selector.matches(device), **given}
    except drayman.CELRuntimeError as error:
        return {"matchError": str(error), **given}


_SYNTAX = "Syntax error: "
_TOKENS = re.compile("reserved identifier|invalid (u?int|double) literal")
_MACROS = re.compile(
    "invalid argument to has|simple name|not an identifier|simple identifier|duplicate variable|overwrites accumulator"
    "|can only be applied to"
)
"""What upstream says of macros."""


def compared(text: str) -> list[str]:
    """Return what must agree.

    Where the grammar is broken: all its positions and causes, and the whole of the first. Not which tokens would have
    been liked after that, nor what upstream finds wrong with the names, numbers and macros that it read all the same.
    """
    issues = text.removeprefix("compilation failed: ERROR: ").split("\nERROR: ")
    heads = [issue.partition("\n")[0] for issue in issues]
    if any(_SYNTAX in head for head in heads):
        broken = [(issue, head) for issue, head in zip(issues, heads, strict=True) if _SYNTAX in head]
        return [broken[0][0], *(head.partition(" expecting ")[0] for _, head in broken[1:])]
    if any(_TOKENS.search(head) for head in heads):
        return [issue for issue, head in zip(issues, heads, strict=True) if _MACROS.search(head) is None]
    return [text]
