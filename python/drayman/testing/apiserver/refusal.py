"""How a handler says no, and how an answer becomes a response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drayman.kube.http import Response
from drayman.testing.apiserver.store import encode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

JSON = "application/json"


class Refusal(Exception):  # noqa: N818 - not an error of ours: the answer to a bad request
    """Ends a request with a `metav1.Status`."""

    def __init__(self, status: Mapping[str, Any]) -> None:
        super().__init__(str(status.get("message", "")))
        self.status = dict(status)


def answer(code: int, value: object, warnings: Sequence[str] = ()) -> Response:
    """Return `value` as a JSON response; `warnings` become headers that kubectl prints."""
    return raw_answer(code, encode(value), warnings)


def raw_answer(code: int, body: bytes, warnings: Sequence[str] = ()) -> Response:
    """Return encoded JSON as a response."""
    headers = {"content-type": JSON}
    if warnings:
        headers["warning"] = ", ".join(f'299 - "{_quoted(text)}"' for text in warnings)
    return Response(code, body, headers)


def refusal_answer(refusal: Refusal) -> Response:
    """Return the response for a refusal."""
    return answer(int(refusal.status["code"]), refusal.status)


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
