"""Request bodies: media type, size, decoding, strictness, and the version that is stored."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman.api import schema, status
from drayman.manifest import json_text, yaml_text
from drayman.testing.apiserver import representation, rules
from drayman.testing.apiserver.govalue import go_value
from drayman.testing.apiserver.refusal import Refusal
from drayman.testing.apiserver.store import encode

if TYPE_CHECKING:
    from drayman.kube.http import Request
    from drayman.testing.apiserver.registry import Served

Object = dict[str, Any]

MAX_BYTES = 3 * 1024 * 1024
APPLY = "application/apply-patch+yaml"
STRATEGIC = "application/strategic-merge-patch+json"
_OBJECT_TYPES = ("application/json", "application/yaml")
_SHOWN_TYPES = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class Body:
    """An object from a request, in its stored version, and what to warn its author of."""

    obj: Object
    warnings: tuple[str, ...] = ()


def media_type(request: Request) -> str:
    """Return the media type of the body, without parameters."""
    return request.headers.get("content-type", "application/json").partition(";")[0].strip()


def decode(request: Request, accepted: tuple[str, ...] = _OBJECT_TYPES, kind: str = "") -> Any:
    """Return the decoded body.

    Raises :class:`Refusal`: 415 for a foreign media type, 413 when it is too large, 400 when it is malformed.
    """
    if media_type(request) not in accepted:
        if request.method == "PATCH":
            raise Refusal(status.unsupported_patch())
        raise Refusal(status.unsupported_media_type(_SHOWN_TYPES))
    if len(request.body) > MAX_BYTES:
        raise Refusal(status.too_large(f"limit is {MAX_BYTES}"))
    try:
        if media_type(request).endswith("json") or json_text.looks_like_json(request.body[:64].decode(errors="ignore")):
            return _json(request.body)
        return _yaml(request.body.decode())
    except RecursionError as error:
        raise Refusal(status.bad_request("exceeded max depth")) from error
    except ValueError as error:
        message = _unrecognized(kind, str(error)) if kind else f"error decoding the body of the request: {error}"
        raise Refusal(status.bad_request(message)) from error


def _unrecognized(kind: str, error: str) -> str:
    what = f"the object provided is unrecognized (must be of type {kind})"
    return f"{what}: couldn't get version/kind; json parse error: {error}"


def _json(body: bytes) -> Any:
    """Return the value of a text in JSON.

    Half a surrogate pair, which no UTF-8 can hold, becomes U+FFFD, as with upstream's decoder.
    """
    value = json.loads(body, parse_constant=_refuse_constant)
    if not _SURROGATE.search(body):
        return value
    text = json.dumps(value, ensure_ascii=False)
    return json.loads(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))


def _refuse_constant(name: str) -> object:
    raise ValueError(f"invalid number {name}")


def _yaml(text: str) -> Any:
    """Return the first document of a text; the reader bounds its depth and what aliases stand for."""
    return next((tree.value for tree in yaml_text.documents(text)), None)


def decode_object(request: Request, served: Served, namespace: str, name: str = "") -> Body:
    """Return the object of a creation, an update or an apply. Raises :class:`Refusal` (400, 413, 415)."""
    accepted = (*_OBJECT_TYPES, APPLY)
    decoded = decode(request, accepted, served.kind.kind)
    if not isinstance(decoded, dict):
        raise Refusal(status.bad_request(_unrecognized(served.kind.kind, "the value is not an object")))
    obj = _typed(decoded, served)
    _check_type(obj, served)
    obj, warnings = rules.decoded(obj, served.version, request.param("fieldValidation"))
    return Body(_placed(obj, served, namespace, name), warnings)


def patched_object(request: Request, patch: Any, patched: Any, served: Served, namespace: str, name: str) -> Body:
    """Return what `patch` made of an object. Raises :class:`Refusal`: 422 when that is not one, 400 when it moved."""
    obj = _typed(patched, served)
    _check_type(obj, served)
    # Upstream shows a strategic patch as it is, and what the other kinds of patch have made.
    shown = go_value(patch) if media_type(request) == STRATEGIC else encode(obj).decode()
    obj, warnings = rules.patched(obj, shown, request.param("fieldValidation"))
    return Body(_placed(obj, served, namespace, name), warnings)


def decode_part(request: Request, api_version: str, kind: str) -> Object:
    """Return the body of a request to a subresource with a type of its own. Raises :class:`Refusal` (400, 413, 415)."""
    return part(decode(request), api_version, kind)


def part(obj: Any, api_version: str, kind: str) -> Object:
    """Return `obj` as an object of the type of a subresource. Raises :class:`Refusal` (400)."""
    obj = {**_object(obj), "kind": kind, "apiVersion": api_version}
    decoded, _ = rules.decoded(obj, api_version.rpartition("/")[2], "Ignore")
    return decoded


def _typed(obj: Any, served: Served) -> Object:
    given = {name: value for name, value in _object(obj).items() if value is not None and value != ""}
    return {"kind": served.kind.kind, "apiVersion": served.api_version, **given}


def _object(obj: Any) -> Object:
    if not isinstance(obj, dict):
        raise Refusal(status.bad_request("the body of the request is not an object"))
    return obj


def _check_type(obj: Object, served: Served) -> None:
    given, version, kind = obj["kind"], obj["apiVersion"], served.kind.kind
    if (given, version) == (kind, served.api_version):
        return
    if schema.type_of_object(obj):
        group = served.kind.group.partition(".")[0] or "core"
        go_type = f"{version.rpartition('/')[2]}.{given}"
        reason = f"converting ({go_type}) to ({group}.{kind}): unknown conversion"
    else:
        reason = f'no kind "{given}" is registered for version "{version}" in scheme "pkg/runtime/scheme.go:111"'
    message = f'{given} in version "{version.rpartition("/")[2]}" cannot be handled as a {kind}: {reason}'
    raise Refusal(status.bad_request(message))


def _placed(obj: Object, served: Served, namespace: str, name: str) -> Object:
    """Return the object in its stored version, with namespace and name of the URL; others are refused."""
    metadata = {key: value for key, value in (obj.get("metadata") or {}).items() if key != "managedFields"}
    if not served.kind.namespaced:
        metadata.pop("namespace", None)
    elif metadata.get("namespace", namespace) not in (namespace, ""):
        message = "the namespace of the provided object does not match the namespace sent on the request"
        raise Refusal(status.bad_request(message))
    else:
        metadata["namespace"] = namespace
    if name:
        if metadata.get("name", name) != name:
            message = f"the name of the object ({metadata['name']}) does not match the name on the URL ({name})"
            raise Refusal(status.bad_request(message))
        metadata["name"] = name
    return representation.to_stored(served, {**obj, "metadata": metadata})
