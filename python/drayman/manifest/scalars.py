"""Plain YAML scalars as kubectl reads them: `sigs.k8s.io/yaml`, on go-yaml v2.

YAML 1.1's booleans and octal numbers count, its base-60 numbers do not, and dates stay text.
"""

from __future__ import annotations

import math
import re
from typing import Any

_CONSTANTS: dict[str, Any] = {
    **dict.fromkeys(["", "~", "null", "Null", "NULL"]),
    **dict.fromkeys(["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"], True),
    **dict.fromkeys(["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"], False),
    **dict.fromkeys([".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"], math.inf),
    **dict.fromkeys(["-.inf", "-.Inf", "-.INF"], -math.inf),
    **dict.fromkeys([".nan", ".NaN", ".NAN"], math.nan),
}
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ].*)?")
_INTEGER = re.compile(r"([+-]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]{0,19})")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_TAG = "tag:yaml.org,2002:"
_SHOWN = 60


class ScalarError(ValueError):
    """A scalar that its tag does not permit, or that JSON cannot hold."""


def resolve(text: str, tag: str | None) -> Any:
    """Return the value of a scalar. `tag` is None for a plain one without a tag.

    Raises :class:`ScalarError`.
    """
    if tag in {"!", _TAG + "str"}:
        return text
    value = plain(text)
    if isinstance(value, float) and not math.isfinite(value):
        raise ScalarError(f"`{cut(text)}` is not a number that JSON has")
    if tag is None:
        return value
    expected = {"null": type(None), "bool": bool, "int": int, "float": float}.get(tag.removeprefix(_TAG))
    if expected is None:
        raise ScalarError(f"tag `{tag.replace(_TAG, '!!')}` is not supported")
    if expected is float and type(value) is int:
        return value
    if type(value) is not expected:
        raise ScalarError(f"`{cut(text)}` is not of type `{tag.replace(_TAG, '!!')}`")
    return value


def cut(text: str) -> str:
    """Return `text` for a message, not more of it than fits on a line."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def plain(text: str) -> Any:
    """Return the value of a plain scalar without a tag."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if not text or text[0] not in "+-.0123456789" or _DATE.fullmatch(text):
        return text
    number = text if text[0] == "." else text.replace("_", "")
    integer = _INTEGER.fullmatch(number)
    if integer:
        value = _integer(integer[2])
        value = -value if integer[1] == "-" else value
        if -(2**63) <= value < 2**64:
            return value
    return _float(number) if _FLOAT.fullmatch(number) else text


def _float(number: str) -> int | float:
    """Return a whole number as an integer: in the JSON that kubectl makes of YAML, `1e3` is `1000`."""
    value = float(number)
    return int(value) if value.is_integer() and abs(value) < 1e21 else value


def _integer(digits: str) -> int:
    prefix = digits[:2].lower()
    if prefix in {"0x", "0b", "0o"}:
        return int(digits, 0)
    return int(digits, 8) if digits.startswith("0") and len(digits) > 1 else int(digits)
