"""Lists: selection, resource versions, and pages that all show the same moment."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman.api import field, status
from drayman.testing.apiserver import parameters
from drayman.testing.apiserver.refusal import Refusal
from drayman.testing.apiserver.store import Collection, Store, Stored, encode, key_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drayman.kube.http import Request
    from drayman.testing.apiserver.selectors import Selector

Object = dict[str, Any]

_CONTINUE_EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)
_PRESENT = -1


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a list with the list's metadata."""

    items: Sequence[Stored]
    metadata: Object


@dataclass(frozen=True, slots=True)
class _Token:
    """Where the next page starts, and at which revision it is read."""

    revision: int
    start: str

    def encode(self) -> str:
        value = {"v": "meta.k8s.io/v1", "rv": self.revision, "start": self.start}
        return base64.urlsafe_b64encode(encode(value)).decode().rstrip("=")


def page(store: Store, collection: Collection, request: Request, namespace: str, selector: Selector) -> Page:
    """Return what a list request shows.

    Raises :class:`Refusal`: 400 for parameters that do not fit, 410 for a version that is too old.
    """
    check_options(request)
    limit = parameters.number(request, "limit")
    token = _continue(request)
    start, revision = ("", _revision(store, request)) if token is None else (token.start, token.revision)
    if revision == _PRESENT or revision == store.revision:
        revision, objects = store.revision, collection.items()
    elif revision < collection.oldest:
        raise Refusal(
            _expired(start) if token else status.expired(f"too old resource version: {revision} ({collection.oldest})")
        )
    else:
        objects = collection.at(revision)
    selected = [
        stored
        for stored in objects
        if (not namespace or stored.obj["metadata"].get("namespace") == namespace) and selector.matches(stored.obj)
    ]
    rest = [stored for stored in selected if key_of(stored.obj["metadata"]) >= start] if start else selected
    metadata: Object = {"resourceVersion": str(revision)}
    if not limit or len(rest) <= limit:
        return Page(rest, metadata)
    metadata["continue"] = _Token(revision, key_of(rest[limit].obj["metadata"])).encode()
    if not selector:
        metadata["remainingItemCount"] = len(rest) - limit
    return Page(rest[:limit], metadata)


def _revision(store: Store, request: Request) -> int:
    """Return the revision to list at.

    Everything that is stored is as new as any version asked for with `NotOlderThan`.
    """
    wanted = parameters.revision(request)
    match = request.param("resourceVersionMatch")
    if wanted > store.revision:
        raise too_new(wanted, store.revision)
    return wanted if match == "Exact" else _PRESENT


def check_options(request: Request) -> None:
    """Raise :class:`Refusal` (422) for parameters of a list or a watch that do not fit together."""
    match, wanted = request.param("resourceVersionMatch"), request.param("resourceVersion")
    initial = request.param("sendInitialEvents")
    reason = ""
    if initial and match != "NotOlderThan":
        reason = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
    elif match and not initial and not wanted:
        reason = "resourceVersionMatch is forbidden unless resourceVersion is provided"
    elif match and request.param("continue"):
        reason = "resourceVersionMatch is forbidden when continue is provided"
    elif match == "Exact" and wanted == "0":
        reason = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
    if reason:
        error = field.forbidden(field.Path("resourceVersionMatch"), reason)
        raise Refusal(status.invalid("meta.k8s.io", "ListOptions", "", [error]))


def too_new(wanted: int, present: int) -> Refusal:
    """Return the refusal of a version that does not exist yet."""
    refusal = status.timeout(f"Too large resource version: {wanted}, current: {present}", 1)
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    return Refusal({**refusal, "details": {**refusal.get("details", {}), "causes": [cause]}})


def _continue(request: Request) -> _Token | None:
    text = request.param("continue")
    if not text:
        return None
    if request.param("resourceVersion") not in ("", "0"):
        raise Refusal(status.bad_request("specifying resource version is not allowed when using continue"))
    try:
        value = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        return _Token(int(value["rv"]), str(value["start"]))
    except (ValueError, KeyError, TypeError, binascii.Error) as error:
        raise Refusal(status.bad_request(f"invalid continue token: continue key is not valid: {error}")) from error


def _expired(start: str) -> Object:
    refusal = status.expired(_CONTINUE_EXPIRED)
    return {**refusal, "metadata": {"continue": _Token(_PRESENT, start).encode()}}
