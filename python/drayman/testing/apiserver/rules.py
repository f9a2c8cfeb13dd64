"""The rules of the API about single objects, from :mod:`drayman.api`, as refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drayman.api import defaults, disabled, field, schema, status, validation
from drayman.testing.apiserver.refusal import Refusal

if TYPE_CHECKING:
    from drayman.clock import Clock
    from drayman.testing.apiserver.kinds import Kind
    from drayman.testing.apiserver.store import Store

Object = dict[str, Any]


class Rules:
    """Defaults, disabled fields and validation, for the gates of a server."""

    def __init__(self, gates: frozenset[str], clock: Clock, store: Store) -> None:
        self._gates = gates
        self._clock = clock
        self._store = store

    def with_defaults(self, obj: Object) -> Object:
        """Return `obj`, in its stored version, with the API's defaults."""
        return defaults.apply(obj, self._clock.now())

    def without_disabled(self, new: Object, old: Object | None) -> Object:
        """Return `new` without the fields whose gates are off, unless `old` has them already."""
        return disabled.drop(new, old, self._gates)

    def check_create(self, kind: Kind, obj: Object) -> None:
        """Raise :class:`Refusal` (422) when the new object breaks a rule."""
        self._refuse(kind, obj, validation.create(obj, self._context(obj)))

    def check_update(self, kind: Kind, new: Object, old: Object, subresource: str) -> None:
        """Raise :class:`Refusal` (422) when the update breaks a rule."""
        self._refuse(kind, new, validation.update(new, old, self._context(new), subresource or None))

    def _context(self, obj: Object) -> validation.Context:
        namespace = self._store.collection("namespaces").get(obj["metadata"].get("namespace", ""))
        labels = namespace.obj["metadata"].get("labels") or {} if namespace else {}
        return validation.Context(self._gates, labels)

    def _refuse(self, kind: Kind, obj: Object, errors: list[field.FieldError]) -> None:
        if errors:
            # Events of both groups are judged as those of the core group, as which they are stored.
            group = "" if kind.kind == "Event" else kind.group
            raise Refusal(status.invalid(group, kind.kind, obj["metadata"].get("name", ""), errors))


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
