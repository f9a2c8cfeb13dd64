"""Request bodies: media type, size, decoding, strictness, and the version that is stored."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman.api import status
from drayman.testing.apiserver import representation, rules
from drayman.testing.apiserver.refusal import Refusal

if TYPE_CHECKING:
    from drayman.kube.http import Request
    from drayman.testing.apiserver.registry import Served

Object = dict[str, Any]

MAX_BYTES = 3 * 1024 * 1024
_OBJECT_TYPES = ("application/json", "application/yaml")


@dataclass(frozen=True, slots=True)
class Body:
    """An object from a request, in its stored version, and what to warn its author of."""

    obj: Object
    warnings: tuple[str, ...] = ()


def media_type(request: Request) -> str:
    """Return the media type of the body, without parameters."""
    return request.headers.get("content-type", "application/json").partition(";")[0].strip()


def decode(request: Request, accepted: tuple[str, ...] = _OBJECT_TYPES) -> Any:
    """Return the decoded body.

    Raises :class:`Refusal`: 415 for a foreign media type, 413 when it is too large, 400 when it is malformed.
    """
    if media_type(request) not in accepted:
        raise Refusal(status.unsupported_media_type(accepted))
    if len(request.body) > MAX_BYTES:
        raise Refusal(status.too_large(f"limit is {MAX_BYTES}"))
    try:
        return json.loads(request.body)
    except ValueError as error:
        if media_type(request).endswith("json"):
            raise Refusal(status.bad_request(f"invalid JSON: {error}")) from error
    return rules.load_yaml(request.body)


def decode_object(request: Request, served: Served, namespace: str, name: str = "") -> Body:
    """Return the object of a creation or an update. Raises :class:`Refusal` (400, 413, 415, 422)."""
    return admit(decode(request), request.param("fieldValidation"), served, namespace, name)


def admit(obj: Any, field_validation: str, served: Served, namespace: str, name: str = "") -> Body:
    """Check that `obj` is an object of the served kind at this place, and return it in the stored version."""
    if not isinstance(obj, dict):
        raise Refusal(status.bad_request("the body of the request is not an object"))
    obj = {
        "kind": served.kind.kind,
        "apiVersion": served.api_version,
        **{key: value for key, value in obj.items() if value is not None},
    }
    _check_type(obj, served)
    obj, warnings = rules.strict(obj, field_validation)
    metadata = dict(obj.get("metadata") or {})
    _place(metadata, served, namespace, name)
    return Body(representation.to_stored(served, {**obj, "metadata": metadata}), warnings)


def _check_type(obj: Object, served: Served) -> None:
    if obj["apiVersion"] != served.api_version:
        given, expected = obj["apiVersion"], served.api_version
        message = f"the API version in the data ({given}) does not match the expected API version ({expected})"
        raise Refusal(status.bad_request(message))
    if obj["kind"] != served.kind.kind:
        raise Refusal(status.bad_request(f'no kind "{obj["kind"]}" is registered for version "{served.api_version}"'))


def _place(metadata: Object, served: Served, namespace: str, name: str) -> None:
    """Fill in namespace and name from the URL, and refuse others."""
    if not served.kind.namespaced:
        metadata.pop("namespace", None)
    elif metadata.get("namespace", namespace) not in (namespace, ""):
        message = "the namespace of the provided object does not match the namespace sent on the request"
        raise Refusal(status.bad_request(message))
    else:
        metadata["namespace"] = namespace
    if not name:
        return
    if metadata.get("name", name) != name:
        message = f"the name of the object ({metadata['name']}) does not match the name on the URL ({name})"
        raise Refusal(status.bad_request(message))
    metadata["name"] = name
