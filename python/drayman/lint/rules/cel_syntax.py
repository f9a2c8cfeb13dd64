"""CEL that is written as in another language, and literals that no function takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from drayman.api.validation import names
from drayman.errors import InputError
from drayman.lint.rule import Severity, rule
from drayman.quantity import Quantity

if TYPE_CHECKING:
    from drayman.inspection import Inspection, Operand
    from drayman.lint.context import Context
    from drayman.lint.rule import Findings

EXAMPLE = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec:
  selectors:
  - cel:
      expression: |-
        EXPRESSION
"""
"""A class with one selector, for examples of rules."""


def example(expression: str) -> str:
    """Return a manifest with one selector, for examples of rules."""
    return EXAMPLE.replace("EXPRESSION", expression.replace("\n", "\n        "))


@rule(
    "cel-comment",
    Severity.ERROR,
    summary="a comment in an expression begins with `#`",
    why="""
Comments in CEL begin with `//`. A `#` inside a YAML block belongs to the expression, which then does not compile.
""",
    bad=example("device.driver == 'gpu.example.com' && # only ours\ntrue"),
    good=example("device.driver == 'gpu.example.com' && // only ours\ntrue"),
    refines=True,
)
def cel_comment(context: Context) -> Findings:
    """Find comments of YAML or a shell."""
    for look in context.looks:
        for slip in look.inspection.slips:
            if slip.kind == "comment":
                fix = {slip.span: slip.replacement}
                message = "comments in CEL begin with `//`, not `#`"
                yield look.finding(slip.span, message, "write `//`", fix=fix, said=look.first_said)


@rule(
    "cel-foreign-syntax",
    Severity.ERROR,
    summary="an expression has an operator or a quotation mark of another language",
    why="""
CEL compares with `==`, and joins with `&&`, `||` and `!`. Word processors and web pages turn `"` into typographic
quotation marks, which begin no text.
""",
    bad=example("device.driver = 'gpu.example.com'"),
    good=example("device.driver == 'gpu.example.com'"),
    refines=True,
)
def cel_foreign_syntax(context: Context) -> Findings:
    """Find operators and quotation marks that CEL does not have."""
    for look in context.looks:
        for slip in look.inspection.slips:
            if slip.kind == "comment":
                continue
            written = look.text[slip.span.start : slip.span.end]
            message = f"`{written}` means nothing in CEL"
            hint = f"write `{slip.replacement}`" if slip.replacement else "leave it out"
            fix = {slip.span: slip.replacement}
            yield look.finding(slip.span, message, hint, fix=fix, safe=False, said=look.first_said)


@rule(
    "cel-invalid-literal",
    Severity.ERROR,
    summary="the text in `quantity()` or `semver()` is no quantity or version",
    why="""
The expression compiles, and fails on every device on which it is evaluated that far: the scheduling attempt ends with
an error. Versions have three numbers without leading zeros, so that `550.127.08` is written `550.127.8`. Quantities
have suffixes such as `Gi` or `G`, but no `B`.
""",
    bad=example("device.driver == 'a.example' && device.attributes['a.example'].v.isGreaterThan(semver('550.127.08'))"),
    good=example("device.driver == 'a.example' && device.attributes['a.example'].v.isGreaterThan(semver('550.127.8'))"),
)
def cel_invalid_literal(context: Context) -> Findings:
    """Read the texts as the functions do."""
    for look in context.looks:
        for operand in _operands(look.inspection):
            text = operand.text or ""
            span = operand.span
            hint: str | None
            if operand.kind == "semver" and (problems := names.semver(text)):
                better = _as_semver(text)
                fix = {span: f"semver('{better}')"} if better else None
                hint = f"write `semver('{better}')`" if better else "a version has three numbers: `1.2.3`"
                yield look.finding(span, f"`{text}` is no version: {problems[0]}", hint, fix=fix)
            if operand.kind == "quantity" and (problem := _no_quantity(text)):
                plain = text.removesuffix("B").removesuffix("b")
                hint = f"write `quantity('{plain}')`" if plain != text and not _no_quantity(plain) else None
                yield look.finding(span, f"`{text}` is no quantity: {problem}", hint)


def _operands(inspection: Inspection) -> Iterator[Operand]:
    seen = set()
    for comparison in inspection.comparisons:
        seen |= {comparison.left, comparison.right}
    for member in inspection.members:
        seen |= set(member.arguments or ())
    yield from sorted(seen, key=lambda one: one.span.start)


def _as_semver(text: str) -> str | None:
    parts = text.split(".")
    if len(parts) == 3 and all(part.isdecimal() for part in parts):
        return ".".join(str(int(part)) for part in parts)
    return None


def _no_quantity(text: str) -> str | None:
    try:
        Quantity(text)
    except InputError as error:
        return str(error)
    return None
