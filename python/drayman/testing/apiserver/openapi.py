"""As much OpenAPI as kubectl needs to apply objects: that the server validates fields, for every kind.

kubectl asks whether post and patch of a kind take `fieldValidation`, and leaves validation to the server when they
do. Schemas stay empty, so that kubectl makes merge patches for kinds that it was not built with, as it would for
custom resources.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from drayman.kube.http import Request, Response
from drayman.testing.apiserver.refusal import answer
from drayman.testing.apiserver.store import encode

if TYPE_CHECKING:
    from drayman.testing.apiserver.registry import Registry, Served

Object = dict[str, Any]

_PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
_ASKED = (_PROTOBUF, "application/com.github.proto-openapi.spec.v2@v1.0+protobuf")
"""Clients ask for the second, which is no media type: none of them would understand it in the answer."""
_EMPTY_DOCUMENT = b"\x0a\x032.0"
"""A `Document` of protobuf with only its first field, `swagger`: kubectl reads it for kinds that it does not know."""

_PARAMETERS = [{"name": name, "in": "query", "schema": {"type": "string"}} for name in ("dryRun", "fieldValidation")]


class OpenAPI:
    """Answers below `/openapi`."""

    def __init__(self, registry: Registry, version: str) -> None:
        self._info = {"title": "Kubernetes", "version": version}
        self._documents: dict[str, Object] = {}
        for group, versions in registry.groups().items():
            for group_version in versions:
                place = f"apis/{group}/{group_version}" if group else f"api/{group_version}"
                paths: Object = {}
                for served in registry.in_version(group, group_version):
                    paths |= _paths(f"/{place}", served)
                self._documents[place] = paths

    def handle(self, request: Request) -> Response | None:
        """Answer a request for an OpenAPI document; None for any other path."""
        path = request.path.strip("/")
        if path == "openapi/v2" and any(name in request.headers.get("accept", "") for name in _ASKED):
            return Response(200, _EMPTY_DOCUMENT, {"content-type": _PROTOBUF})
        if path == "openapi/v2":
            paths = {path: item for document in self._documents.values() for path, item in document.items()}
            return answer(200, {"swagger": "2.0", "info": self._info, "paths": paths, "definitions": {}})
        if path == "openapi/v3":
            return answer(200, {"paths": {place: {"serverRelativeURL": self._url(place)} for place in self._documents}})
        place = path.removeprefix("openapi/v3/")
        if place == path or place not in self._documents:
            return None
        return answer(200, self._document(place))

    def _document(self, place: str) -> Object:
        return {
            "openapi": "3.0.0",
            "info": self._info,
            "paths": self._documents[place],
            "components": {"schemas": {}},
        }

    def _url(self, place: str) -> str:
        digest = hashlib.sha256(encode(self._document(place))).hexdigest().upper()
        return f"/openapi/v3/{place}?hash={digest}"


def _paths(root: str, served: Served) -> Object:
    kind = served.kind
    collection = f"{root}/namespaces/{{namespace}}/{kind.plural}" if kind.namespaced else f"{root}/{kind.plural}"
    operation = {
        "x-kubernetes-group-version-kind": {"group": kind.group, "version": served.version, "kind": kind.kind},
        "parameters": _PARAMETERS,
        "responses": {"200": {"description": "OK"}},
    }
    return {
        collection: {"post": {"x-kubernetes-action": "post", **operation}},
        f"{collection}/{{name}}": {"patch": {"x-kubernetes-action": "patch", **operation}},
    }
