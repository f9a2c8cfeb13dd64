"""JSON documents. Values come from the standard library's fast parser; positions are found later, when someone asks."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class JSONTextError(ValueError):
    """Text that is not JSON; `line` is 1-based, or None when it is not known."""

    def __init__(self, message: str, line: int | None) -> None:
        super().__init__(message)
        self.line = line


def looks_like_json(text: str) -> bool:
    """Return whether `text` starts like a JSON object or list, as kubectl decides."""
    return text.lstrip()[:1] in {"{", "["}


def documents(text: str) -> Iterator[tuple[Any, int, int]]:
    """Yield the JSON documents that stand one after the other in `text`, each with where it starts and ends.

    Raises :class:`JSONTextError`.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse_constant)
    at = _skip_space(text, 0)
    while at < len(text):
        try:
            value, end = decoder.raw_decode(text, at)
        except JSONTextError:
            raise
        except json.JSONDecodeError as error:
            raise JSONTextError(error.msg[:1].lower() + error.msg[1:], error.lineno) from error
        except RecursionError as error:
            raise JSONTextError("nested too deep", None) from error
        except ValueError as error:
            raise JSONTextError("number with too many digits", None) from error
        if _SURROGATE.search(text, at, end):
            _check_text(value)
        yield value, at, end
        at = _skip_space(text, end)


def _check_text(value: Any) -> None:
    """Refuse half a surrogate pair: no file could hold it."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise JSONTextError("half a surrogate pair", None) from error


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for index, name in enumerate(names) if name in names[:index])
        raise JSONTextError(f"field `{twice}` is given twice", None)
    return value


def _refuse_constant(name: str) -> Any:
    raise JSONTextError(f"`{name}` is not a number that JSON has", None)
