"""Comparisons that cannot come out as they are meant: of quantities, versions, and values of different types."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from drayman.api.validation import names
from drayman.errors import InputError
from drayman.lint.facts import name_of, written
from drayman.lint.looks import LISTS, SUFFIXES
from drayman.lint.rule import Severity, rule
from drayman.lint.rules.cel_lookups import bare_name
from drayman.lint.rules.cel_published import beside_devices
from drayman.lint.rules.cel_syntax import example
from drayman.quantity import Quantity

if TYPE_CHECKING:
    from drayman.inspection import Access, Comparison, LiteralValue, Member, Operand
    from drayman.lint.context import Context
    from drayman.lint.drivers import Name
    from drayman.lint.looks import Look
    from drayman.lint.rule import Finding, Findings

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_VERSION = re.compile(r"v?\d+(\.\d+)+([-+].*)?")
_FITTING = {
    "int": {"int", "uint", "double"},
    "bool": {"bool"},
    "string": {"string"},
    "version": set[str](),
    "quantity": set[str](),
}
"""The types of literals that an attribute can be equal to."""
_METHODS = frozenset({"compareTo", "isGreaterThan", "isLessThan"})
_METHODS_OF_TEXT = frozenset(
    {"contains", "endsWith", "lowerAscii", "matches", "replace", "split", "startsWith", "substring", "upperAscii"}
)
_CALLS = {
    "version": 'compare it with `isLessThan(semver("…"))` or `isGreaterThan`, or its number `major()`',
    "quantity": 'compare it with `compareTo(quantity("…"))`',
    "int": "compare it with numbers",
    "bool": "it can stand for itself",
}
"""What can be done with an attribute that is no text."""


@rule(
    "cel-compared-by-operator",
    Severity.ERROR,
    summary="a quantity or version is compared by `<`, `<=`, `>` or `>=`",
    why="""
The operators know numbers, texts and truth values. Quantities and versions have methods: `a.compareTo(b) >= 0`,
`a.isGreaterThan(b)`, `a.isLessThan(b)`. Both sides are of one type: `quantity("40Gi")`, `semver("550.0.0")`.
""",
    bad=beside_devices("device.capacity['gpu.example.com'].memory >= quantity('16Gi')"),
    good=beside_devices("device.capacity['gpu.example.com'].memory.compareTo(quantity('16Gi')) >= 0"),
    refines=True,
)
def cel_compared_by_operator(context: Context) -> Findings:
    """Find ordered comparisons of which one side is a quantity or version."""
    for look in context.looks:
        for comparison in look.inspection.comparisons:
            found = _by_operator(look, comparison)
            if found is not None:
                yield found


def _by_operator(look: Look, comparison: Comparison) -> Finding | None:
    if comparison.operator not in _FLIPPED:
        return None
    for subject, other, operator in (
        (comparison.left, comparison.right, comparison.operator),
        (comparison.right, comparison.left, _FLIPPED[comparison.operator]),
    ):
        access = accessed(subject)
        if other.kind in ("quantity", "semver") and subject.kind not in ("quantity", "semver", "literal"):
            kind: str = other.kind
            argument = look.text[other.span.start : other.span.end]
        elif access is not None and (found := _literal_as(look, access, other)) is not None:
            kind, argument = found
        elif access is not None and (both := _kind_of_both(look, access, other)) is not None:
            kind, argument = both, look.text[other.span.start : other.span.end]
        else:
            continue
        things = "quantities" if kind == "quantity" else "versions"
        meant = bare_name(look, access) if access is not None else None
        span = access.span if access is not None and subject.kind == "member" else subject.span
        thing = written(meant) if meant else look.text[span.start : span.end]
        right = f"{thing}.compareTo({argument}) {operator} 0"
        message = f"`{comparison.operator}` does not compare {things}"
        fix = {comparison.span: right} if _in_place(look, comparison) and not meant else None
        said = look.said(comparison.span)
        return look.finding(comparison.operator_span, message, f"write `{right}`", fix=fix, said=said)
    return None


def accessed(operand: Operand) -> Access | None:
    """Return the attribute or capacity that an operand is, also with the type from the slice behind it."""
    if operand.access is not None:
        return operand.access
    member = operand.member
    return member.access if member is not None and member.name in SUFFIXES and not member.arguments else None


def _literal_as(look: Look, access: Access, operand: Operand) -> tuple[str, str] | None:
    """Return what a literal has to become, to be compared with a quantity or version."""
    name = name_of(access)
    if operand.kind != "literal" or name is None:
        return None
    [literal] = operand.literals
    types = look.types(name)
    if types == {"quantity"} and literal.type in ("string", "int", "uint"):
        text = str(literal.value)
        return ("quantity", f'quantity("{text}")') if is_quantity(text) else None
    if types == {"version"} and literal.type == "string" and (version := _as_version(str(literal.value))):
        return "semver", f'semver("{version}")'
    return None


def _kind_of_both(look: Look, access: Access, other: Operand) -> str | None:
    """Return `quantity` or `semver` where two attributes or capacities are compared that both are such."""
    names = [name_of(access), name_of(other.access) if other.access else None]
    types = [look.types(name) for name in names if name is not None]
    kinds = {"quantity": "quantity", "version": "semver"}
    return next((kind for type_, kind in kinds.items() if types == [{type_}] * 2), None)


def is_quantity(text: str) -> bool:
    """Whether a text is a quantity."""
    try:
        Quantity(text)
    except InputError:
        return False
    return True


def _in_place(look: Look, comparison: Comparison) -> bool:
    """Whether the pieces of a comparison are all that there is between its ends: no comment is lost."""
    between = look.text[comparison.left.span.end : comparison.right.span.start]
    return "//" not in between and ")" not in between and "(" not in between


@rule(
    "cel-version-compared-as-string",
    Severity.WARNING,
    summary="versions are compared as texts, letter by letter",
    why="""
As text, "10.0.0" comes before "9.0.0". A driver publishes versions as `version`, and selectors compare them with
`compareTo`, `isGreaterThan` or `isLessThan` of `semver("9.0.0")`. A text that holds a version can be made one:
`semver(device.attributes["gpu.example.com"].firmware)`.
""",
    bad=example("device.driver == 'a.example' && device.attributes['a.example'].firmware >= '9.0.0'"),
    good=example(
        "device.driver == 'a.example' && semver(device.attributes['a.example'].firmware).isGreaterThan(semver('8.9.0'))"
    ),
)
def cel_version_compared_as_string(context: Context) -> Findings:
    """Find ordered comparisons with a text that looks like a version."""
    for look in context.looks:
        for comparison in look.inspection.comparisons:
            if comparison.operator not in _FLIPPED:
                continue
            for subject, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
                access = accessed(subject)
                name = name_of(access) if access else None
                if access is None or name is None or other.kind != "literal" or bare_name(look, access):
                    continue
                text = other.literals[0].value
                if not isinstance(text, str) or not _VERSION.fullmatch(text):
                    continue
                if look.types(name) <= {"string"}:
                    message = f'`{comparison.operator}` compares `{name.name}` with "{text}" letter by letter'
                    operator = comparison.operator if subject is comparison.left else _FLIPPED[comparison.operator]
                    call = f'.compareTo(semver("{_three(text)}")) {operator} 0'
                    hint = f"publish it as a version and write `{look.text[access.span.start : access.span.end]}{call}`"
                    yield look.finding(comparison.operator_span, message, hint)


def _as_version(text: str) -> str | None:
    """Return a text as a version: one or two numbers have the others as 0."""
    if not names.semver(text):
        return text
    return _three(text) if re.fullmatch(r"v?\d+(\.\d+){0,2}", text) else None


def _three(text: str) -> str:
    parts = re.split(r"[.+-]", text.removeprefix("v"))
    numbers = [str(int(part)) for part in parts if part.isdecimal()]
    return ".".join([*numbers, "0", "0"][:3])


@rule(
    "cel-type-mismatch",
    Severity.ERROR,
    summary="an attribute is compared with a value of another type",
    why="""
A number never equals a text, and an order between them is an error, which ends the scheduling attempt. Versions compare
with `semver("…")`, quantities with `quantity("…")`. The types are those in the ResourceSlices among the files and in
`--with`; without any, what is known of public drivers.
""",
    bad=beside_devices("device.attributes['gpu.example.com'].driverVersion == '550.54.15'"),
    good=beside_devices("device.attributes['gpu.example.com'].driverVersion == semver('550.54.15')"),
    refines=True,
)
def cel_type_mismatch(context: Context) -> Findings:
    """Compare the types of attributes with those of literals and arguments."""
    for look in context.looks:
        for comparison in look.inspection.comparisons:
            for subject, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
                if subject.access is not None and (comparison.operator != "in" or other is comparison.right):
                    found = _mismatch(look, comparison, subject.access, other)
                    if found is not None:
                        yield found
        for member in look.inspection.members:
            found = _argument(look, member)
            if found is not None:
                yield found


def _mismatch(look: Look, comparison: Comparison, access: Access, other: Operand) -> Finding | None:
    name = name_of(access)
    types = look.types(name) if name else set()
    if name is None or len(types) != 1 or bare_name(look, access) or name.section == "capacity":
        return None
    [kind] = types
    if kind in LISTS or _by_operator(look, comparison) is not None:
        return None
    wrong = [literal for literal in other.literals if literal.type not in _FITTING[kind]]
    if other.kind in ("quantity", "semver") and kind != {"semver": "version"}.get(other.kind, other.kind):
        message = f"`{name.name}` is {_a(kind)}, and is compared with `{look.text[other.span.start : other.span.end]}`"
        return look.finding(comparison.span, message)
    if not wrong:
        return None
    message = f"`{name.name}` is {_a(kind)}, and is compared with {', '.join(map(shown, wrong))}"
    better = [_converted(literal, kind) if literal in wrong else _source(literal) for literal in other.literals]
    sure = len(better) == 1 and better[0] is not None and other.kind == "literal"
    hint = f"write `{', '.join(one or '…' for one in better)}`" if all(better) else None
    fix = {other.span: better[0] or ""} if sure else None
    fails = kind == "version" or comparison.operator in _FLIPPED
    return look.finding(other.span, message, hint, fix=fix, severity=None if fails else Severity.WARNING)


def _argument(look: Look, member: Member) -> Finding | None:
    """Check a method, and the argument of one of quantities and versions."""
    name = name_of(member.access)
    types = look.types(name) if name else set()
    if name is None or len(types) != 1 or member.arguments is None or bare_name(look, member.access):
        return None
    [kind] = types
    if member.name in _METHODS_OF_TEXT and kind in _CALLS:
        message = f"`{name.name}` is {_a(kind)}, and has no `{member.name}`"
        return look.finding(member.name_span, message, _CALLS[kind], said=look.said(member.span))
    if member.name not in _METHODS or not member.arguments:
        return None
    argument = member.arguments[0]
    fitting = {"quantity": "quantity", "version": "semver"}.get(kind)
    if argument.kind == "literal" and fitting is not None:
        return _plain_argument(look, name, kind, argument)
    if argument.kind not in ("quantity", "semver") or argument.kind == fitting or look.refusal:
        return None
    other = look.text[argument.span.start : argument.span.end]
    message = f"`{name.name}` is {_a(kind)}, and is compared with `{other}`"
    if fitting is None:
        plain = "compare it by `==`, `<`, `<=`, `>` or `>=`" if kind in ("int", "string") else None
        return look.finding(member.span, message, plain, said=look.said(member.span))
    return look.finding(argument.span, message, f"write `{fitting}(…)`")


def _plain_argument(look: Look, name: Name, kind: str, argument: Operand) -> Finding:
    """Report a literal where a quantity or version is to be."""
    literal = argument.literals[0]
    better = f'quantity("{literal.value}")' if kind == "quantity" and is_quantity(str(literal.value)) else None
    better = better or _converted(literal, kind)
    message = f"`{name.name}` is {_a(kind)}, and is compared with {shown(literal)}"
    hint, fix = (f"write `{better}`", {argument.span: better}) if better else (None, None)
    return look.finding(argument.span, message, hint, fix=fix, said=look.said(argument.span))


def _converted(literal: LiteralValue, kind: str) -> str | None:
    """Return the literal that is meant, in the type of the attribute."""
    value = str(literal.value)
    if kind == "version":
        text = _as_version(value)
        return f'semver("{text}")' if literal.type == "string" and text else None
    if kind == "int" and literal.type == "string" and re.fullmatch(r"-?\d{1,18}", value):
        return str(int(value))
    if kind == "bool" and value.lower() in ("true", "false"):
        return value.lower()
    return f'"{value}"' if kind == "string" and literal.type in ("int", "uint") else None


def _source(literal: LiteralValue) -> str:
    value = str(literal.value)
    return f'"{value}"' if literal.type == "string" else value.lower()


def shown(literal: LiteralValue) -> str:
    """Return a literal as messages name it."""
    if literal.type == "bool":
        return f"the truth value `{str(literal.value).lower()}`"
    return f'the text "{literal.value}"' if literal.type == "string" else f"the number `{literal.value}`"


def _a(kind: str) -> str:
    return {"int": "a number", "bool": "a truth value", "string": "a text"}.get(kind, f"a {kind}")
