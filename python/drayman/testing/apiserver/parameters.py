"""Query parameters that several handlers read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.api import field, status
from drayman.api.gotext import quote
from drayman.testing.apiserver.patches.managers import Manager
from drayman.testing.apiserver.refusal import Refusal

if TYPE_CHECKING:
    from drayman.kube.http import Request

_LARGEST = 2**64 - 1
_VERBS = {"POST": "Create", "PUT": "Update", "PATCH": "Patch", "DELETE": "Delete"}


def is_set(request: Request, name: str) -> bool:
    """Return whether a boolean parameter is true."""
    return request.param(name) in ("true", "1")


def number(request: Request, name: str) -> int:
    """Return a number, 0 where the parameter is not given. Raises :class:`Refusal` (400) when it is none."""
    text = request.param(name)
    if not text:
        return 0
    if not (text.isascii() and text.isdecimal()):
        raise Refusal(status.bad_request(f'strconv.ParseUint: parsing "{text}": invalid syntax'))
    digits = text.lstrip("0")
    if len(digits) > len(str(_LARGEST)) or int(digits or "0") > _LARGEST:
        raise Refusal(status.bad_request(f'strconv.ParseUint: parsing "{text}": value out of range'))
    return int(digits or "0")


def revision(request: Request) -> int:
    """Return the `resourceVersion` of a list or a watch, 0 where it is not given.

    Raises :class:`Refusal` when it is none: 400 for a list, 500 for a watch.
    """
    try:
        return number(request, "resourceVersion")
    except Refusal as refusal:
        shown = quote(request.param("resourceVersion"))
        text = f"resourceVersion: Invalid value: {shown}: {refusal.status['message']}"
        if is_set(request, "watch"):
            raise Refusal(status.unexplained_error(text)) from refusal
        raise Refusal(status.bad_request(f"invalid resource version: {text}")) from refusal


def dry_run(request: Request) -> bool:
    """Return whether nothing is to be written. Raises :class:`Refusal` (422) for an unknown stage."""
    stages = [value for name, value in request.query if name == "dryRun"]
    if any(stage != "All" for stage in stages):
        error = field.not_supported(field.Path("dryRun"), stages, ["All"])
        raise Refusal(status.invalid("meta.k8s.io", f"{_VERBS[request.method]}Options", "", [error]))
    return bool(stages)


def author(request: Request, api_version: str, subresource: str, operation: str, now: str) -> Manager:
    """Return who writes: the `fieldManager` parameter or, but for an apply, the first word of the user agent.

    Raises :class:`Refusal` (422) when an apply does not say.
    """
    name = request.param("fieldManager")
    if not name and operation == "Apply":
        error = field.required(field.Path("fieldManager"), "is required for apply patch")
        raise Refusal(status.invalid("meta.k8s.io", "PatchOptions", "", [error]))
    name = name or request.headers.get("user-agent", "unknown").partition("/")[0]
    return Manager(name, operation, api_version, subresource, now, frozenset())
