"""Random expressions on random devices compile, evaluate and cost as upstream's, or fail with the same text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hack.oracle.client import UpstreamPanicError
from hypothesis import given, reject
from tests.property.expressions import devices, expressions, mangled
from tests.property.support import agree, comparison

import drayman
from drayman import cel

if TYPE_CHECKING:
    from hack.oracle.client import Oracle

Answer = dict[str, Any]


@comparison(3)
@given(expression=expressions(), device=devices())
def test_expression_is_answered_as_upstream(oracle: Oracle, expression: str, device: Answer) -> None:
    compare(oracle, expression, device)


@comparison(1)
@given(expression=mangled(), device=devices())
def test_broken_expression_is_answered_as_upstream(oracle: Oracle, expression: str, device: Answer) -> None:
    compare(oracle, expression, device)


def compare(oracle: Oracle, expression: str, device: Answer) -> None:
    question = {"expression": expression, "device": device}
    drayman, upstream = answer(expression, device), upstreams(oracle, question)
    if agreeing(drayman, upstream) == upstream:
        return
    # Upstream walks maps in random order, which costs more or less, and may meet an error or not.
    others = [upstreams(oracle, question) for _ in range(8)]
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


def compared(text: str) -> str:
    """Return what must agree: of a syntax error the first line, without the tokens that the parser would have liked."""
    return text.partition("\n")[0].partition(" expecting ")[0] if ": Syntax error: " in text else text
