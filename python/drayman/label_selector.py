"""Label selectors as people type them, such as `a=b,c in (d,e),!f`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drayman.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ONE = r"""\s*(?:
        (?P<absent>!)\s*(?P<absent_key>[^\s=!,()]+)
      | (?P<key>[^\s=!,()<>]+)\s*(?:
            (?P<operator>==|=|!=|<|>)\s*(?P<value>[^\s,()]*)
          | (?P<set>in|notin)\s*\((?P<values>[^()]*)\)
        )?
    )\s*"""
_TERM = re.compile(rf"{_ONE}(?:,|$)", re.VERBOSE)
_BEGINNING = re.compile(_ONE, re.VERBOSE)
_OPEN = re.compile(r"\s*[^\s=!,()<>]+\s*(?:in|notin)\s*(?P<parenthesis>\([^()]*)?")
_LEXEME = re.compile(r"\s*([=!<>]+|[(),]|[^\s=!,()<>]*)")


@dataclass(frozen=True, slots=True)
class Requirement:
    """One term of a selector."""

    key: str
    operator: str
    values: frozenset[str]

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether the term holds for `labels`."""
        value = labels.get(self.key)
        match self.operator:
            case "exists":
                return value is not None
            case "!":
                return value is None
            case "in":
                return value in self.values
            case "notin":
                return value not in self.values
            case order:
                return value is not None and _compare(value, order, next(iter(self.values)))


def _compare(value: str, operator: str, bound: str) -> bool:
    try:
        left, right = int(value), int(bound)
    except ValueError:
        return False
    return left > right if operator == ">" else left < right


def parse(text: str) -> tuple[Requirement, ...]:
    """Read a selector; the empty one takes everything. Raises :class:`InputError` in upstream's words."""
    requirements: list[Requirement] = []
    position = 0
    while position < len(text):
        found = _TERM.match(text, position)
        if found is None or found.end() == position:
            raise InputError(_problem(text[position:]))
        position = found.end()
        requirements.append(_requirement(found))
    return tuple(requirements)


def _problem(text: str) -> str:
    """Return what is wrong with the first term of `text`, in upstream's words."""
    first = _lexeme(text)
    if first[:1] in "=<>(),":
        return f"found '{first}', expected: !, identifier, or 'end of string'"
    if found := _OPEN.match(text):
        expected = "',' or ')'" if found["parenthesis"] else "'('"
        return f"unable to parse requirement: found '{_lexeme(text[found.end() :])}', expected: {expected}"
    found = _BEGINNING.match(text)
    if found is None:
        return f"unable to parse requirement: found '{_lexeme(text[text.index('!') + 1 :])}', expected: identifier"
    return f"found '{_lexeme(text[found.end() :])}', expected: ',' or 'end of string'"


def _lexeme(text: str) -> str:
    found = _LEXEME.match(text)
    return found[1] if found else ""


def matches(requirements: Sequence[Requirement], labels: Mapping[str, str]) -> bool:
    """Return whether all terms hold for `labels`."""
    return all(requirement.matches(labels) for requirement in requirements)


def _requirement(term: re.Match[str]) -> Requirement:
    if term["absent"]:
        return Requirement(term["absent_key"], "!", frozenset())
    if term["set"]:
        return Requirement(term["key"], term["set"], frozenset(value.strip() for value in term["values"].split(",")))
    match term["operator"]:
        case None:
            return Requirement(term["key"], "exists", frozenset())
        case "=" | "==":
            return Requirement(term["key"], "in", frozenset({term["value"]}))
        case "!=":
            return Requirement(term["key"], "notin", frozenset({term["value"]}))
        case order:
            return Requirement(term["key"], order, frozenset({term["value"]}))
