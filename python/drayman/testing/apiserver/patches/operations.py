"""JSON patch (RFC 6902)."""

from __future__ import annotations

import copy
from typing import Any

from drayman.api import status
from drayman.testing.apiserver.refusal import Refusal
from drayman.testing.apiserver.store import encode

MAX_OPERATIONS = 10_000
MAX_COPIED = 3 * 1024 * 1024
"""Bytes of JSON that all copies of a patch may add: each could double the object."""

_LONGEST_INDEX = 18


class _PatchError(Exception):
    """An operation cannot be carried out; the text says why."""


def apply(document: Any, operations: Any) -> Any:
    """Return `document` after `operations`.

    Raises :class:`Refusal`: 400 when they are malformed, 413 when there are too many, 422 when one does not fit the
    document.
    """
    if not isinstance(operations, list) or not all(isinstance(operation, dict) for operation in operations):
        raise Refusal(status.bad_request("json patch must be a list of operations"))
    if len(operations) > MAX_OPERATIONS:
        message = f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(operations)}"
        raise Refusal({**status.too_large(message), "message": message})
    result, copied = copy.deepcopy(document), 0
    try:
        for operation in operations:
            if operation.get("op") == "copy":
                copied = _add_copied(copied, _copied(result, operation))
            result = _apply_one(result, operation)
    except _PatchError as error:
        raise Refusal(status.unprocessable()) from error
    return result


def _apply_one(document: Any, operation: dict[str, Any]) -> Any:
    path = _pointer(operation.get("path"))
    match operation.get("op"):
        case "add":
            return _add(document, path, copy.deepcopy(_value(operation)))
        case "remove":
            return _remove(document, path)[0]
        case "replace":
            _read(document, path, "replace")
            return _set(document, path, copy.deepcopy(_value(operation)))
        case "move":
            document, moved = _remove(document, _pointer(operation.get("from")))
            return _add(document, path, moved)
        case "copy":
            return _add(document, path, copy.deepcopy(_copied(document, operation)))
        case "test":
            if not _equals(document, path, operation.get("value")):
                raise _PatchError(f"testing value {operation.get('path')} failed")
            return document
        case other:
            raise _PatchError(f"Unexpected kind: {other}")


def _copied(document: Any, operation: dict[str, Any]) -> Any:
    return _read(document, _pointer(operation.get("from")), "copy")


def _add_copied(before: int, value: Any) -> int:
    """Return how many bytes were copied with `value`. Raises when they are too many."""
    copied = before + len(encode(value))
    if copied > MAX_COPIED:
        raise _PatchError(
            f"Unable to complete the copy, the accumulated size increase of copy is {copied}, "
            f"exceeding the limit {MAX_COPIED}"
        )
    return copied


def _is_index(step: str) -> bool:
    return step.isdecimal() and len(step) <= _LONGEST_INDEX


def _pointer(text: Any) -> list[str]:
    if not isinstance(text, str) or (text and not text.startswith("/")):
        raise _PatchError(f"invalid path: {text}")
    return [step.replace("~1", "/").replace("~0", "~") for step in text.split("/")[1:]]


def _value(operation: dict[str, Any]) -> Any:
    if "value" not in operation:
        raise _PatchError(f"{operation['op']} operation needs a value: {operation['path']}")
    return operation["value"]


def _equals(document: Any, path: list[str], value: Any) -> bool:
    try:
        found = _read(document, path, "test")
    except _PatchError:
        return value is None
    return bool(found == value) and isinstance(found, bool) is isinstance(value, bool)


def _read(document: Any, path: list[str], operation: str) -> Any:
    for step in path:
        if isinstance(document, dict) and step in document:
            document = document[step]
        elif isinstance(document, list) and _is_index(step) and int(step) < len(document):
            document = document[int(step)]
        else:
            raise _PatchError(
                f"{operation} operation does not apply: doc is missing key: /{'/'.join(path)}: missing value"
            )
    return document


def _parent(document: Any, path: list[str], operation: str) -> Any:
    return _read(document, path[:-1], operation)


def _add(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent, last = _parent(document, path, "add"), path[-1]
    if isinstance(parent, dict):
        parent[last] = value
    elif isinstance(parent, list) and (last == "-" or (_is_index(last) and int(last) <= len(parent))):
        parent.insert(len(parent) if last == "-" else int(last), value)
    else:
        raise _PatchError(f"add operation does not apply: doc is missing path: /{'/'.join(path)}: missing value")
    return document


def _set(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent, last = _parent(document, path, "replace"), path[-1]
    parent[last if isinstance(parent, dict) else int(last)] = value
    return document


def _remove(document: Any, path: list[str]) -> tuple[Any, Any]:
    if not path:
        raise _PatchError("remove operation does not apply: doc is missing path: : missing value")
    _read(document, path, "remove")
    parent, last = _parent(document, path, "remove"), path[-1]
    return document, parent.pop(last if isinstance(parent, dict) else int(last))
