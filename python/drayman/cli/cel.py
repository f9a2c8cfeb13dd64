"""evaluate a CEL device selector: its type, its cost, and its value on devices

The devices are those of ResourceSlices, one that a file gives alone (`driver`, and what it has in a slice:
`attributes`, `capacity`, `allowMultipleAllocations`), or those of the catalogue. Without a device the expression is
only compiled. Exit code 1 when it does not compile or fails on a device, for that ends a scheduling attempt; 3 when it
selects none.

examples:
  drayman cel 'device.driver == "gpu.example.com"'
  drayman cel 'device.attributes["gpu.example.com"].index < 2' --with gpu.example.com
  kubectl get resourceslices -o yaml | drayman cel "$EXPRESSION" --device - -o json
"""

from __future__ import annotations

import base64
import json
import sys
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman import cli
from drayman.cli import devices, inputs
from drayman.cli.output import Printer, note, print_json
from drayman.errors import CELCompileError, CELRuntimeError, InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from drayman.cel import Selector
    from drayman.cli.devices import Device

ERROR_WIDTH = 60
"""How many columns an error has in the table, beside the name of its device."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a selector says of a device: a value, an error, or both where the value is no bool; `cost` in any case."""

    device: Device
    value: Any
    error: CELRuntimeError | None
    cost: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("expression", metavar="EXPRESSION", help="the selector, or - for standard input")
    parser.add_argument(
        "--device",
        dest="device_files",
        action="append",
        default=[],
        metavar="FILE",
        help="ResourceSlices or a single device; a folder, a glob, or - for standard input; repeatable",
    )
    inputs.add_context(parser)
    parser.add_argument(
        "--environment",
        choices=("stored", "new"),
        default="stored",
        help="compile as the scheduler does, or as the API server does for new objects (default: %(default)s)",
    )
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table", help="how to print")
    parser.set_defaults(usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """Compile, evaluate and print."""
    from drayman import cel

    if arguments.expression == "-" and "-" in arguments.device_files:
        arguments.usage_error("standard input is either the EXPRESSION or a device")
    expression = _standard_input() if arguments.expression == "-" else arguments.expression
    try:
        selector = cel.compile(expression, arguments.environment)
    except CELCompileError as error:
        if arguments.output == "json":
            print_json(_document(arguments, expression) | _refusal(error))
        raise
    _check_limits(selector, arguments.environment)
    given = devices.load(arguments.device_files, arguments.context_files)
    answers = [_answer(selector, device) for device in given]
    if arguments.output == "json":
        static = {"type": selector.result_type, "maxCost": selector.max_cost}
        print_json(_document(arguments, expression) | static | {"devices": [_json(answer) for answer in answers]})
    else:
        _print_table(selector, answers)
    if any(answer.error for answer in answers):
        return cli.ERROR
    return cli.DONE if not answers or any(answer.value for answer in answers) else cli.NO


def _standard_input() -> str:
    from drayman.manifest import files

    return "".join(text for _, text in files.texts(["-"])).rstrip("\n")


def _check_limits(selector: Selector, environment: str) -> None:
    """Complain of what only the API server refuses. Raises :class:`InputError` where it is the one that is meant."""
    from drayman.api.validation.selectors import MAX_COST, MAX_EXPRESSION

    refusals = []
    if len(selector.expression.encode()) > MAX_EXPRESSION:
        refusals.append(f"Too long: may not be more than {MAX_EXPRESSION} bytes")
    if selector.max_cost > MAX_COST:
        refusals.append(f"too complex, exceeds cost limit: it can cost {selector.max_cost} of {MAX_COST}")
    for refusal in refusals:
        if environment == "new":
            raise InputError(refusal, object="expression")
        note(f"the API server refuses it in new objects: {refusal}")


def _answer(selector: Selector, device: Device) -> Answer:
    evaluation = selector.evaluate(device.content, device.driver)
    error = evaluation.error
    if error is None:
        try:
            selector.matches(device.content, device.driver)
        except CELRuntimeError as no_bool:
            error = no_bool
    return Answer(device, evaluation.value, error, evaluation.cost)


def _document(arguments: argparse.Namespace, expression: str) -> dict[str, Any]:
    return {
        "version": 1,
        "kubernetes": "1.37",
        "compatibility": "1.37",
        "environment": arguments.environment,
        "expression": expression,
    }


def _refusal(error: CELCompileError) -> dict[str, Any]:
    issues = [{"line": line, "column": column, "message": message} for line, column, message in error.issues]
    return {"error": str(error), "issues": issues}


def _json(answer: Answer) -> dict[str, Any]:
    described: dict[str, Any] = {"device": answer.device.name, "cost": answer.cost}
    if answer.error is None or answer.value is not None:
        described["value"] = _plain(answer.value)
    if answer.error is not None:
        described["error"] = str(answer.error)
        described |= {"hint": answer.error.hint} if answer.error.hint else {}
    return described


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: quantities, versions and what it has no type for are text."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, list):
        return [_plain(element) for element in value]
    if isinstance(value, dict):
        return {str(_plain(key)): _plain(element) for key, element in value.items()}
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)


def _print_table(selector: Selector, answers: Sequence[Answer]) -> None:
    printer = Printer()
    printer.table(("TYPE", "MAX COST"), [(selector.result_type, str(selector.max_cost))])
    if not answers:
        return
    printer.line()
    rows = [(answer.device.name, _cell(answer), str(answer.cost)) for answer in answers]
    printer.table(("DEVICE", "VALUE", "COST"), rows)
    for hint in dict.fromkeys(answer.error.hint for answer in answers if answer.error and answer.error.hint):
        print(f"hint: {hint}", file=sys.stderr)


def _cell(answer: Answer) -> str:
    """Return the value as JSON, and below it what is wrong with it."""
    lines = []
    if answer.error is None or answer.value is not None:
        lines.append(json.dumps(_plain(answer.value), ensure_ascii=False))
    if answer.error is not None:
        lines += textwrap.wrap(f"error: {answer.error}", ERROR_WIDTH, break_long_words=False)
    return "\n".join(lines)
