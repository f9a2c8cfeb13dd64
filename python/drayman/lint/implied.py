"""Whether one selector asks for no less than another, told from their texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from drayman.errors import DraymanError
from drayman.quantity import Quantity

if TYPE_CHECKING:
    from collections.abc import Iterable

_AT_LEAST = re.compile(
    r"(?P<what>.+)\.(?:compareTo\(quantity\((?P<quote>['\"])(?P<least>[^'\"]+)(?P=quote)\)\)(?P<operator>>=?)0"
    r"|isGreaterThan\(quantity\((?P<mark>['\"])(?P<bound>[^'\"]+)(?P=mark)\)\))"
)
_OPENING, _CLOSING = "([{", ")]}"


def implies(stricter: Iterable[str], wider: Iterable[str]) -> bool:
    """Return whether whatever all of `stricter` select is surely selected by all of `wider`.

    Every part that `&&` joins in `wider` has to stand in `stricter`, or ask for no more of a capacity there.
    """
    given = [part for text in stricter for part in conjuncts(text)]
    wanted = [part for text in wider for part in conjuncts(text)]
    return all(any(one == part or _is_more(one, part) for one in given) for part in wanted)


def conjuncts(text: str) -> list[str]:
    """Return the parts of an expression that `&&` joins outside all brackets, without spaces; or all of it as one."""
    parts, start, depth, quote, at = [], 0, 0, "", 0
    bare = []  # the text without spaces outside quotation marks
    while at < len(text):
        letter = text[at]
        if quote:
            bare.append(letter)
            if letter == "\\":
                bare.append(text[at + 1 : at + 2])
                at += 1
            elif letter == quote:
                quote = ""
        elif text.startswith(("'''", '"""', "//"), at) or (text.startswith(("||", "?"), at) and not depth):
            return [text.strip()]
        elif letter in "'\"":
            quote = letter
            bare.append(letter)
        elif text.startswith("&&", at) and not depth:
            parts.append("".join(bare[start:]))
            start = len(bare)
            at += 1
        elif not letter.isspace():
            depth += (letter in _OPENING) - (letter in _CLOSING)
            bare.append(letter)
        at += 1
    return [*parts, "".join(bare[start:])]


def _is_more(part: str, of: str) -> bool:
    """Whether both ask for a least amount of the same, and `part` for no less than `of`."""
    one, other = _AT_LEAST.fullmatch(part), _AT_LEAST.fullmatch(of)
    if one is None or other is None or one["what"] != other["what"]:
        return False
    try:
        amount, least = Quantity(one["least"] or one["bound"]), Quantity(other["least"] or other["bound"])
    except DraymanError:
        return False
    return amount > least or (amount == least and (_is_strict(one) or not _is_strict(other)))


def _is_strict(found: re.Match[str]) -> bool:
    return found["operator"] != ">="
