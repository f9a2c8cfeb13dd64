"""Access reviews: what clients ask before they try. Nobody is refused anything here: the answer is always yes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.api import status
from drayman.testing.apiserver import bodies
from drayman.testing.apiserver.refusal import Refusal, answer

if TYPE_CHECKING:
    from drayman.kube.http import Request, Response
    from drayman.testing.apiserver.paths import Place

_GROUP, _VERSION = "authorization.k8s.io", "v1"
_KINDS = {"selfsubjectaccessreviews": "SelfSubjectAccessReview"}


def handle(request: Request, place: Place) -> Response | None:
    """Answer a review, which is created and stored nowhere; None for any other request. Raises :class:`Refusal`."""
    kind = _KINDS.get(place.plural)
    if (place.group, place.version) != (_GROUP, _VERSION) or kind is None or place.name or place.namespace:
        return None
    if request.method != "POST":
        raise Refusal(status.no_such_method())
    body = bodies.decode(request)
    spec = body.get("spec") if isinstance(body, dict) else None
    if not isinstance(spec, dict) or not (spec.get("resourceAttributes") or spec.get("nonResourceAttributes")):
        raise Refusal(status.bad_request("a review needs either resource or non-resource attributes"))
    review = {"kind": kind, "apiVersion": f"{_GROUP}/{_VERSION}", "metadata": {}, "spec": spec}
    return answer(201, {**review, "status": {"allowed": True}})
