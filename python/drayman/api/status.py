"""`metav1.Status` objects with the texts of apimachinery's `errors` package.

`group` and `resource` (the plural, lower case) name what was asked for; the core group is empty. Each function returns
a new dict whose `code` is the HTTP status.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drayman.api import field
from drayman.api.gotext import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from drayman.api.field import FieldError


def _failure(code: int, reason: str, message: str, details: dict[str, Any] | None = None) -> dict[str, Any]:
    status: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
    }
    present = {name: value for name, value in (details or {}).items() if value}
    if details is not None:
        status["details"] = present
    status["code"] = code
    return status


def _details(group: str, resource: str, name: str = "") -> dict[str, Any]:
    return {"name": name, "group": group, "kind": resource}


def qualified(group: str, resource: str) -> str:
    """Return `resource.group`, or `resource` alone in the core group."""
    return f"{resource}.{group}" if group else resource


def success(details: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the answer to a request that has no object to give back, such as a deletion."""
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return {**status, "details": details} if details else status


def not_found(group: str, resource: str, name: str) -> dict[str, Any]:
    """404: the object does not exist."""
    message = f"{qualified(group, resource)} {quote(name)} not found"
    return _failure(404, "NotFound", message, _details(group, resource, name))


def path_not_found() -> dict[str, Any]:
    """404: the server has no such path."""
    return _failure(404, "NotFound", "the server could not find the requested resource", {})


def already_exists(group: str, resource: str, name: str) -> dict[str, Any]:
    """409: an object of that name exists."""
    message = f"{qualified(group, resource)} {quote(name)} already exists"
    return _failure(409, "AlreadyExists", message, _details(group, resource, name))


def conflict(group: str, resource: str, name: str, reason: str) -> dict[str, Any]:
    """409: the write does not fit the state of the object; `reason` says how, see :data:`OBJECT_MODIFIED`."""
    message = f"Operation cannot be fulfilled on {qualified(group, resource)} {quote(name)}: {reason}"
    return _failure(409, "Conflict", message, _details(group, resource, name))


OBJECT_MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"
"""The reason of a conflict of resource versions."""


def precondition_failed(name: str, expected: str, actual: str) -> str:
    """Return the reason of a conflict of a deletion's precondition `name` (`UID` or `ResourceVersion`)."""
    return f"Precondition failed: {name} in precondition: {expected}, {name} in object meta: {actual}"


def apply_conflict(message: str, causes: Sequence[dict[str, str]]) -> dict[str, Any]:
    """409: a server-side apply clashes with other managers."""
    return _failure(409, "Conflict", message, {"causes": list(causes)})


def invalid(group: str, kind: str, name: str, errors: Iterable[FieldError]) -> dict[str, Any]:
    """422: the object breaks rules; each error becomes a cause."""
    errors = list(errors)
    message = f"{qualified(group, kind)} {quote(name)} is invalid"
    if errors:
        message += f": {field.aggregate(errors)}"
    causes = [{"reason": error.type, "message": error.body, "field": error.field} for error in errors]
    return _failure(422, "Invalid", message, {**_details(group, kind, name), "causes": causes})


def bad_request(message: str) -> dict[str, Any]:
    """400: the request cannot be understood."""
    return _failure(400, "BadRequest", message)


def undecodable(kind: str, version: str, errors: Sequence[str], *, strict: bool = True) -> dict[str, Any]:
    """400: the body is not an object of `kind`; strict errors are joined as the API server does."""
    reason = ", ".join(errors)
    if strict:
        reason = f"strict decoding error: {reason}"
    return bad_request(f"{kind} in version {quote(version)} cannot be handled as a {kind}: {reason}")


def unauthorized() -> dict[str, Any]:
    """401: no usable credentials."""
    return _failure(401, "Unauthorized", "Unauthorized")


def forbidden(group: str, resource: str, name: str, reason: str) -> dict[str, Any]:
    """403: the request is understood and not permitted."""
    what = f"{qualified(group, resource)} {quote(name)}" if name else qualified(group, resource)
    message = f"{what} is forbidden: {reason}" if resource else f"forbidden: {reason}"
    return _failure(403, "Forbidden", message, _details(group, resource, name))


def method_not_allowed(group: str, resource: str, action: str) -> dict[str, Any]:
    """405: the resource has no such verb."""
    message = f"{action} is not supported on resources of kind {quote(qualified(group, resource))}"
    return _failure(405, "MethodNotAllowed", message, _details(group, resource))


def no_such_method() -> dict[str, Any]:
    """405: the path has no such method."""
    message = "the server does not allow this method on the requested resource"
    return _failure(405, "MethodNotAllowed", message, {})


def not_acceptable(accepted: Iterable[str]) -> dict[str, Any]:
    """406: none of the media types asked for can be produced."""
    message = f"only the following media types are accepted: {', '.join(accepted)}"
    return _failure(406, "NotAcceptable", message)


def unsupported_media_type(accepted: Iterable[str]) -> dict[str, Any]:
    """415: the body's media type is not understood."""
    types = ", ".join(accepted)
    message = f"the body of the request was in an unknown format - accepted media types include: {types}"
    return _failure(415, "UnsupportedMediaType", message)


def unsupported_patch() -> dict[str, Any]:
    """415: there is no such kind of patch."""
    return _failure(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})


def expired(message: str) -> dict[str, Any]:
    """410: the resource version is too old, or a continue token has run out."""
    return _failure(410, "Expired", message)


def too_large(message: str) -> dict[str, Any]:
    """413: the body is larger than the server reads."""
    return _failure(413, "RequestEntityTooLarge", f"Request entity too large: {message}")


def too_many_requests(message: str, retry_after_seconds: int) -> dict[str, Any]:
    """429: try again later."""
    return _failure(429, "TooManyRequests", message, {"retryAfterSeconds": retry_after_seconds})


def internal_error(message: str) -> dict[str, Any]:
    """500: the server failed."""
    causes = [{"message": message}]
    return _failure(500, "InternalError", f"Internal error occurred: {message}", {"causes": causes})


def unexplained_error(message: str) -> dict[str, Any]:
    """500: an error that the server passes on as it is."""
    failure = _failure(500, "", message)
    del failure["reason"]
    return failure


def unprocessable() -> dict[str, Any]:
    """422: a patch that cannot be carried out."""
    return _failure(422, "Invalid", "the server rejected our request due to an error in our request", {})


def service_unavailable(message: str) -> dict[str, Any]:
    """503: the server cannot answer now."""
    return _failure(503, "ServiceUnavailable", message)


def timeout(message: str, retry_after_seconds: int = 0) -> dict[str, Any]:
    """504: the server gave up; the write may still happen."""
    return _failure(504, "Timeout", f"Timeout: {message}", {"retryAfterSeconds": retry_after_seconds})
