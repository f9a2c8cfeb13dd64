"""How Go prints values in messages: `%q` and `encoding/json`. The API server's texts are full of both."""

from __future__ import annotations

import json
from typing import Any

_ESCAPES = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    '"': '\\"',
    "\\": "\\\\",
}


def quote(text: str) -> str:
    """Return `text` as Go's `strconv.Quote` does: double quotes, escapes for what does not print."""
    return '"' + "".join(_quote_character(character) for character in text) + '"'


def _quote_character(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def marshal(value: Any) -> str:
    """Return `value` as Go's `json.Marshal` writes it: no spaces, `<`, `>`, `&` escaped; members keep their order."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def plain(value: Any) -> str:
    """Return a string as it is, anything else as :func:`simple`."""
    return value if isinstance(value, str) else simple(value)


def simple(value: Any) -> str:
    """Return a string quoted, a number or boolean as `%v` prints it, anything else as JSON."""
    return quote(value) if isinstance(value, str) else marshal(value)
