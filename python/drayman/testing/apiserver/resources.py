"""Handlers of everything below `/api/VERSION` and `/apis/GROUP/VERSION`: verbs on collections, objects and subresources."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from drayman.api import status
from drayman.clock import rfc3339
from drayman.kube.http import Request, Response, Stream
from drayman.testing.apiserver import binding, bodies, deletion, listing, representation, selectors
from drayman.testing.apiserver.patches import merge, operations
from drayman.testing.apiserver.refusal import JSON, Refusal, answer, raw_answer
from drayman.testing.apiserver.store import Store, Stored
from drayman.testing.apiserver.watch import WatchOptions, watch

if TYPE_CHECKING:
    from drayman.clock import Clock
    from drayman.testing.apiserver.deletion import Deletion
    from drayman.testing.apiserver.paths import Place
    from drayman.testing.apiserver.registry import Registry, Served
    from drayman.testing.apiserver.writes import Writes

Object = dict[str, Any]
_TRUE = ("true", "1")


class ResourceHandlers:
    """Answers requests about objects."""

    def __init__(self, registry: Registry, store: Store, writes: Writes, deletion: Deletion, clock: Clock) -> None:
        self._registry = registry
        self._store = store
        self._writes = writes
        self._deletion = deletion
        self._clock = clock

    def handle(self, request: Request, place: Place) -> Response | Stream:
        """Answer a request about `place`. Raises :class:`Refusal`."""
        served = self._registry.find(place.group, place.version, place.plural)
        if served is None or (place.subresource and place.subresource not in served.kind.subresources):
            return Response(404, b"404 page not found\n", {"content-type": "text/plain; charset=utf-8"})
        handler = self._handler(request, place, served)
        if handler is None:
            raise Refusal(status.method_not_allowed(place.group, place.plural, request.method.lower()))
        return handler(request, place, served)

    def _handler(
        self, request: Request, place: Place, served: Served
    ) -> Callable[[Request, Place, Served], Response | Stream] | None:
        whole = served.kind.namespaced and not place.namespace
        match (request.method, bool(place.name), place.subresource):
            case ("GET", False, ""):
                return self._watch if request.param("watch") in _TRUE else self._list
            case ("POST", False, "") if not whole:
                return self._create
            case ("GET", True, "" | "status"):
                return self._get
            case ("PUT", True, "" | "status"):
                return self._update
            case ("PATCH", True, "" | "status"):
                return self._patch
            case ("DELETE", True, ""):
                return self._delete
            case ("DELETE", False, "") if not whole:
                return self._delete_collection
            case ("POST", True, "binding"):
                return self._bind
        return None

    def _get(self, request: Request, place: Place, served: Served) -> Response:
        stored = self._writes.get(served.kind, place.namespace, place.name)
        return self._object(request, served, stored)

    def _list(self, request: Request, place: Place, served: Served) -> Response:
        selector = self._selector(request, served)
        collection = self._store.collection(served.kind.collection)
        page = listing.page(self._store, collection, request, place.namespace, selector)
        form = representation.form(request)
        return raw_answer(
            200, representation.represent_list(served, page.items, page.metadata, form, self._clock.now())
        )

    def _watch(self, request: Request, place: Place, served: Served) -> Stream:
        form = representation.form(request)
        chunks = watch(
            self._store,
            self._store.collection(served.kind.collection),
            self._clock,
            self._watch_options(request, place, served),
            lambda stored: representation.represent(served, stored, form, self._clock.now()),
            lambda metadata: representation.bookmark(served, form, metadata),
        )
        return Stream(200, chunks, {"content-type": JSON})

    def _watch_options(self, request: Request, place: Place, served: Served) -> WatchOptions:
        revision = request.param("resourceVersion")
        if revision and not revision.isdecimal():
            raise Refusal(status.bad_request(f'strconv.ParseUint: parsing "{revision}": invalid syntax'))
        initial = request.param("sendInitialEvents") in _TRUE
        bookmarks = request.param("allowWatchBookmarks") in _TRUE
        if int(revision or 0) > self._store.revision:
            raise listing.too_new(int(revision), self._store.revision)
        timeout = request.param("timeoutSeconds")
        return WatchOptions(
            revision=None if initial or revision in ("", "0") else int(revision),
            namespace=place.namespace,
            selector=self._selector(request, served),
            bookmarks=bookmarks,
            announce_initial_end=initial and bookmarks,
            timeout_seconds=float(timeout) if timeout.isdecimal() and int(timeout) else None,
        )

    def _create(self, request: Request, place: Place, served: Served) -> Response:
        body = bodies.decode_object(request, served, place.namespace)
        stored = self._writes.create(served.kind, body.obj, dry_run=_dry_run(request))
        return self._object(request, served, stored, 201, body.warnings)

    def _update(self, request: Request, place: Place, served: Served) -> Response:
        body = bodies.decode_object(request, served, place.namespace, place.name)
        stored = self._writes.update(
            served.kind,
            place.namespace,
            place.name,
            lambda old: body.obj,
            subresource=place.subresource,
            dry_run=_dry_run(request),
        )
        return self._object(request, served, stored, 200, body.warnings)

    def _patch(self, request: Request, place: Place, served: Served) -> Response:
        field_validation = request.param("fieldValidation")
        warnings: tuple[str, ...] = ()
        patch = bodies.decode(request, tuple(_PATCHES))
        apply = _PATCHES[bodies.media_type(request)]

        def change(old: Object) -> Object:
            nonlocal warnings
            patched = apply(representation.from_stored(served, old), patch)
            body = bodies.admit(patched, field_validation, served, place.namespace, place.name)
            warnings = body.warnings
            return body.obj

        stored = self._writes.update(
            served.kind, place.namespace, place.name, change, subresource=place.subresource, dry_run=_dry_run(request)
        )
        return self._object(request, served, stored, 200, warnings)

    def _delete(self, request: Request, place: Place, served: Served) -> Response:
        options = _delete_options(request)
        stored, gone = self._deletion.delete(served.kind, place.namespace, place.name, options)
        if gone and not served.kind.returned:
            return answer(200, status.success(_deleted(served, stored)))
        return self._object(request, served, stored)

    def _delete_collection(self, request: Request, place: Place, served: Served) -> Response:
        options = _delete_options(request)
        selector = self._selector(request, served)
        collection = self._store.collection(served.kind.collection)
        page = listing.page(self._store, collection, request, place.namespace, selector)
        for stored in page.items:
            metadata = stored.obj["metadata"]
            if self._store.place_of(metadata["uid"]) is not None:
                self._deletion.delete(served.kind, metadata.get("namespace", ""), metadata["name"], options)
        form = representation.form(request)
        return raw_answer(
            200, representation.represent_list(served, page.items, page.metadata, form, self._clock.now())
        )

    def _bind(self, request: Request, place: Place, served: Served) -> Response:
        body = bodies.decode(request)
        now = rfc3339(self._clock.now())
        binding.bind(self._writes, served.kind, place.namespace, place.name, body, now=now, dry_run=_dry_run(request))
        return answer(201, {**status.success(), "code": 201})

    def _selector(self, request: Request, served: Served) -> selectors.Selector:
        return selectors.selector(served.kind.kind, request.param("labelSelector"), request.param("fieldSelector"))

    def _object(
        self, request: Request, served: Served, stored: Stored, code: int = 200, warnings: tuple[str, ...] = ()
    ) -> Response:
        form = representation.form(request)
        return raw_answer(code, representation.represent(served, stored, form, self._clock.now()), warnings)


_PATCHES: dict[str, Callable[[Any, Any], Any]] = {
    "application/json-patch+json": operations.apply,
    "application/merge-patch+json": merge.merge,
    "application/strategic-merge-patch+json": merge.merge,
}


def _dry_run(request: Request) -> bool:
    value = request.param("dryRun")
    if value not in ("", "All"):
        raise Refusal(status.bad_request(f'invalid dryRun "{value}": supported values: "All"'))
    return value == "All"


def _delete_options(request: Request) -> deletion.DeleteOptions:
    body = bodies.decode(request) if request.body else {}
    return deletion.options(body if isinstance(body, dict) else {}, dict(request.query))


def _deleted(served: Served, stored: Stored) -> Object:
    metadata = stored.obj["metadata"]
    return {"name": metadata["name"], "group": served.kind.group, "kind": served.kind.plural, "uid": metadata["uid"]}
