"""What a CEL selector asks of a device, told from its text alone; :func:`drayman.cel.inspect` finds it."""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Section: TypeAlias = Literal["attributes", "capacity"]
Form: TypeAlias = Literal["field", "index", "optional-field", "optional-index", "has", "in", "whole"]
OperandKind: TypeAlias = Literal["driver", "access", "literal", "literals", "quantity", "semver", "member", "other"]


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of the text: offsets in characters from 0, and lines and columns from 1; the end is behind the last."""

    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Slip:
    """Something from another language, an error of syntax: a comment that begins with `#`, an operator such as `=` or
    `and`, a typographic quotation mark. `replacement` means the same in CEL.
    """

    kind: Literal["comment", "operator", "quote"]
    span: Span
    replacement: str


@dataclass(frozen=True, slots=True)
class Key:
    """A constant key; `span` includes its quotes."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Access:
    """A look-up in `device.attributes` or `device.capacity`.

    `domain` is None where all domains are used, `name` where a whole domain is, and both where only an evaluation
    tells the key. `guarded`: the expression has a result on devices that do not have it.
    """

    section: Section
    domain: Key | None
    name: Key | None
    form: Form
    guarded: bool
    span: Span


@dataclass(frozen=True, slots=True)
class LiteralValue:
    """A literal; `type` is the CEL type, such as `string` or `int`."""

    type: str
    value: Any


@dataclass(frozen=True, slots=True)
class Operand:
    """One side of a comparison, or an argument; `kind` tells which of the other members is set.

    `text` is that of the literal in `quantity("…")` or `semver("…")`, `member` a call on an attribute, `access` the
    attribute itself, also by `orValue`.
    """

    kind: OperandKind
    span: Span
    access: Access | None = None
    literals: tuple[LiteralValue, ...] = ()
    text: str | None = None
    member: Member | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """A field of an attribute or capacity, or a call on it with its arguments; `span` begins with the dot."""

    access: Access
    name: str
    name_span: Span
    arguments: tuple[Operand, ...] | None
    span: Span


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two operands and `==`, `!=`, `<`, `<=`, `>`, `>=` or `in` between them.

    Comparisons of one `conjunction` have to hold together; those of 0 for the whole expression to be true.
    """

    operator: str
    operator_span: Span
    left: Operand
    right: Operand
    conjunction: int
    span: Span


@dataclass(frozen=True, slots=True)
class Constant:
    """A part that asks nothing of the device, with its value."""

    value: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Inspection:
    """What an expression asks of a device.

    Of an expression with errors of syntax (not `parsed`) only the slips are known; but all else too when comments are
    all that is wrong. `always` is the result when it is the same on every device that has what is asked for.
    """

    expression: str
    parsed: bool
    always: bool | None
    slips: tuple[Slip, ...]
    accesses: tuple[Access, ...]
    members: tuple[Member, ...]
    comparisons: tuple[Comparison, ...]
    constants: tuple[Constant, ...]


def read(expression: str, found: Mapping[str, Any]) -> Inspection:
    """Return the inspection of which `found` are the plain values."""
    return _Reader(expression).inspection(found)


class _Reader:
    """Makes values of what the native module returns."""

    def __init__(self, expression: str) -> None:
        self._expression = expression
        self._lines = [0, *(at + 1 for at, character in enumerate(expression) if character == "\n")]
        self._accesses: tuple[Access, ...] = ()
        self._members: list[Member] = []

    def inspection(self, found: Mapping[str, Any]) -> Inspection:
        self._accesses = tuple(self._access(one) for one in found["accesses"])
        for one in found["members"]:
            self._members.append(self._member(one))
        return Inspection(
            self._expression,
            found["parsed"],
            found["always"],
            tuple(Slip(one["kind"], self._span(one["span"]), one["replacement"]) for one in found["slips"]),
            self._accesses,
            tuple(self._members),
            tuple(self._comparison(one) for one in found["comparisons"]),
            tuple(Constant(one["value"], self._span(one["span"])) for one in found["constants"]),
        )

    def _span(self, span: Sequence[int]) -> Span:
        start, end = span
        return Span(start, end, *self._place(start), *self._place(end))

    def _place(self, offset: int) -> tuple[int, int]:
        line = bisect.bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def _key(self, key: Mapping[str, Any] | None) -> Key | None:
        return Key(key["text"], self._span(key["span"])) if key else None

    def _access(self, one: Mapping[str, Any]) -> Access:
        domain, name = self._key(one["domain"]), self._key(one["name"])
        return Access(one["section"], domain, name, one["form"], one["guarded"], self._span(one["span"]))

    def _member(self, one: Mapping[str, Any]) -> Member:
        arguments = None if one["arguments"] is None else tuple(self._operand(each) for each in one["arguments"])
        access, name_span = self._accesses[one["access"]], self._span(one["name_span"])
        return Member(access, one["name"], name_span, arguments, self._span(one["span"]))

    def _comparison(self, one: Mapping[str, Any]) -> Comparison:
        left, right = self._operand(one["left"]), self._operand(one["right"])
        span = self._span(one["span"])
        return Comparison(one["operator"], self._span(one["operator_span"]), left, right, one["conjunction"], span)

    def _operand(self, one: Mapping[str, Any]) -> Operand:
        kind, value, span = one["kind"], one["value"], self._span(one["span"])
        match kind:
            case "access":
                return Operand(kind, span, access=self._accesses[value])
            case "literal":
                return Operand(kind, span, literals=(LiteralValue(*value),))
            case "literals":
                return Operand(kind, span, literals=tuple(LiteralValue(*each) for each in value))
            case "quantity" | "semver":
                return Operand(kind, span, text=value)
            case "member":
                return Operand(kind, span, member=self._members[value])
            case _:
                return Operand(kind, span)
