"""How a client wants to see objects: in which version, whole, as metadata only, or as rows of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman.api import convert, status
from drayman.testing.apiserver import events, tables
from drayman.testing.apiserver.refusal import Refusal
from drayman.testing.apiserver.store import Stored, encode

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence

    from drayman.kube.http import Request
    from drayman.testing.apiserver.registry import Served

Object = dict[str, Any]

_ACCEPTED = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
_META = "meta.k8s.io/v1"


def to_stored(served: Served, obj: Object) -> Object:
    """Return an object of the served version in the version that is stored."""
    if served.kind.group == "events.k8s.io":
        return events.to_core(obj)
    if served.kind.group == convert.GROUP and served.version in convert.VERSIONS:
        return convert.to_v1(obj)
    return {**obj, "apiVersion": served.storage_api_version}


def from_stored(served: Served, obj: Object) -> Object:
    """Return a stored object in the served version."""
    if served.kind.group == "events.k8s.io":
        return events.from_core(obj)
    if served.api_version == obj["apiVersion"]:
        return obj
    if served.kind.group == convert.GROUP and served.version in convert.VERSIONS:
        return convert.from_v1(obj, served.version)
    # The other kinds with several versions have the same fields in all of them.
    return {**obj, "apiVersion": served.api_version}


@dataclass(frozen=True, slots=True)
class Form:
    """The shape of an answer: `Object`, `Table`, or `PartialObjectMetadata`.

    `include` says what the rows of a table carry.
    """

    shape: str = "Object"
    include: str = "Metadata"


def form(request: Request) -> Form:
    """Read the `Accept` header. Raises :class:`Refusal` (406) when the client takes nothing that can be made."""
    accepted = request.headers.get("accept", "")
    if not accepted:
        return Form()
    for media_range in accepted.split(","):
        media_type, *parameters = (part.strip() for part in media_range.split(";"))
        if media_type not in ("application/json", "application/*", "*/*"):
            continue
        options = dict(parameter.partition("=")[::2] for parameter in parameters)
        shape = options.get("as", "Object").removesuffix("List")
        if shape == "Object":
            return Form()
        if (
            shape in ("Table", "PartialObjectMetadata")
            and options.get("g") == "meta.k8s.io"
            and options.get("v") == "v1"
        ):
            return Form(shape, request.param("includeObject") or "Metadata")
    raise Refusal(status.not_acceptable(_ACCEPTED))


def represent(served: Served, stored: Stored, form: Form, now: dt.datetime) -> bytes:
    """Return the bytes of one object."""
    match form.shape:
        case "Table":
            return encode(table(served, [stored], form, now, {"resourceVersion": str(stored.revision)}))
        case "PartialObjectMetadata":
            return encode(_partial(stored.obj))
        case _:
            return stored.encoded(served.api_version, lambda obj: from_stored(served, obj))


def represent_list(served: Served, items: Sequence[Stored], metadata: Object, form: Form, now: dt.datetime) -> bytes:
    """Return the bytes of a list."""
    match form.shape:
        case "Table":
            return encode(table(served, items, form, now, metadata))
        case "PartialObjectMetadata":
            kind = {"kind": "PartialObjectMetadataList", "apiVersion": _META}
            return encode({**kind, "metadata": metadata, "items": [_partial(item.obj) for item in items]})
    encoded = b",".join(item.encoded(f"item {served.api_version}", lambda obj: _item(served, obj)) for item in items)
    head = encode({"kind": f"{served.kind.kind}List", "apiVersion": served.api_version, "metadata": metadata})
    return head[:-1] + b',"items":[' + encoded + b"]}"


def _item(served: Served, obj: Object) -> Object:
    """Return an object as it stands in a list, which says once what its items are."""
    return {name: value for name, value in from_stored(served, obj).items() if name not in ("kind", "apiVersion")}


def table(served: Served, items: Sequence[Stored], form: Form, now: dt.datetime, metadata: Object) -> Object:
    """Return the `meta.k8s.io/v1` table that `kubectl get` prints."""
    columns = tables.columns(served.kind)
    rows = []
    for item in items:
        row: Object = {"cells": [column.cell(item.obj, now) for column in columns]}
        if form.include == "Object":
            row["object"] = from_stored(served, item.obj)
        elif form.include == "Metadata":
            row["object"] = _partial(item.obj)
        else:
            row["object"] = None
        rows.append(row)
    return {
        "kind": "Table",
        "apiVersion": _META,
        "metadata": metadata,
        "columnDefinitions": [column.definition() for column in columns],
        "rows": rows,
    }


def bookmark(served: Served, form: Form, metadata: Object) -> Object:
    """Return the object of a bookmark event."""
    match form.shape:
        case "Table":
            definitions = [column.definition() for column in tables.columns(served.kind)]
            row = {
                "cells": [],
                "object": {"kind": served.kind.kind, "apiVersion": served.api_version, "metadata": metadata},
            }
            return {
                "kind": "Table",
                "apiVersion": _META,
                "metadata": {},
                "columnDefinitions": definitions,
                "rows": [row],
            }
        case "PartialObjectMetadata":
            return {"kind": "PartialObjectMetadata", "apiVersion": _META, "metadata": metadata}
        case _:
            return {"kind": served.kind.kind, "apiVersion": served.api_version, "metadata": metadata}


def _partial(obj: Object) -> Object:
    return {"kind": "PartialObjectMetadata", "apiVersion": _META, "metadata": obj["metadata"]}
