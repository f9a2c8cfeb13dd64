"""Query parameters that several handlers read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.api import status
from drayman.testing.apiserver.refusal import Refusal

if TYPE_CHECKING:
    from drayman.kube.http import Request


def is_set(request: Request, name: str) -> bool:
    """Return whether a boolean parameter is true."""
    return request.param(name) in ("true", "1")


def number(request: Request, name: str) -> int:
    """Return a number, 0 where the parameter is not given. Raises :class:`Refusal` (400) when it is none."""
    text = request.param(name)
    if not text:
        return 0
    if not text.isdecimal():
        raise Refusal(status.bad_request(f'strconv.ParseUint: parsing "{text}": invalid syntax'))
    return int(text)


def dry_run(request: Request) -> bool:
    """Return whether nothing is to be written. Raises :class:`Refusal` (400) for an unknown stage."""
    stages = [value for name, value in request.query if name == "dryRun"]
    for stage in stages:
        if stage != "All":
            raise Refusal(status.bad_request(f'invalid dryRun "{stage}": supported values: "All"'))
    return bool(stages)
