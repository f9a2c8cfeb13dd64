"""The rules of the API about single objects, from :mod:`drayman.api`, as refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from drayman.api import defaults, field, schema, status
from drayman.testing.apiserver.refusal import Refusal

if TYPE_CHECKING:
    import datetime as dt

Object = dict[str, Any]


def with_defaults(obj: Object, now: dt.datetime) -> Object:
    """Return `obj`, in its stored version, with the API's defaults."""
    return defaults.apply(obj, now)


def decoded(obj: Object, version: str, mode: str) -> tuple[Object, tuple[str, ...]]:
    """Return a request's object without unknown fields, and warnings about them.

    `mode` is the request's `fieldValidation`: `Ignore`, `Warn` (the default) or `Strict`. Raises :class:`Refusal`
    (400) for wrong types, and in mode `Strict` for unknown fields.
    """
    result = schema.decode(obj)
    if result.fatal is not None:
        raise Refusal(status.undecodable(obj["kind"], version, [str(result.fatal)], strict=False))
    if mode == "Strict" and result.errors:
        raise Refusal(status.undecodable(obj["kind"], version, [str(error) for error in result.errors]))
    return result.object, _warnings(result, mode)


def patched(obj: Object, shown: str, mode: str) -> tuple[Object, tuple[str, ...]]:
    """Return what a patch made of an object without unknown fields, and warnings about them.

    As :func:`decoded`, but it is the patch that is refused (422); `shown` stands for it in the message.
    """
    result = schema.decode(obj)
    reason = str(result.fatal or "")
    if not reason and mode == "Strict" and result.errors:
        reason = f"strict decoding error: {', '.join(str(error) for error in result.errors)}"
    if reason:
        error = field.invalid(field.Path("patch"), shown, reason)
        raise Refusal(status.invalid("", "", "", [error]))
    return result.object, _warnings(result, mode)


def _warnings(result: schema.Decoded, mode: str) -> tuple[str, ...]:
    return tuple(str(error) for error in result.errors) if mode != "Ignore" else ()


def load_yaml(body: bytes) -> Any:
    """Return the one YAML document of a body. Raises :class:`Refusal` (400)."""
    try:
        return yaml.load(body, Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise Refusal(status.bad_request(f"error converting YAML to JSON: {error}")) from error
