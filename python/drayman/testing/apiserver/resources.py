"""Handlers of everything below `/api/VERSION` and `/apis/GROUP/VERSION`: verbs on collections and objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from drayman.api import status, validation
from drayman.kube.http import Request, Response, Stream
from drayman.testing.apiserver import bodies, deletion, listing, parameters, representation, selectors
from drayman.testing.apiserver.patches import apply, merge, operations, strategic
from drayman.testing.apiserver.refusal import JSON, Refusal, answer, raw_answer, refusal_answer
from drayman.testing.apiserver.store import Store, Stored, key
from drayman.testing.apiserver.subresources import SubresourceHandlers
from drayman.testing.apiserver.watch import WatchOptions, watch
from drayman.testing.apiserver.writes import precondition_failed
from drayman.timestamps import rfc3339

if TYPE_CHECKING:
    from drayman.clock import Clock
    from drayman.testing.apiserver.deletion import Deletion
    from drayman.testing.apiserver.patches.managers import Manager
    from drayman.testing.apiserver.paths import Place
    from drayman.testing.apiserver.registry import Registry, Served
    from drayman.testing.apiserver.writes import Writes

Object = dict[str, Any]
Handler = Callable[[Request, "Place", "Served"], "Response | Stream"]

_OBJECT_PARTS = ("", "status", "finalize", "ephemeralcontainers", "resize", "approval")
"""Subresources that are read and written as the whole object, of which they change a part."""

_PATCHES: dict[str, Callable[[Any, Any], Any]] = {
    "application/json-patch+json": operations.apply,
    "application/merge-patch+json": merge.merge,
    bodies.STRATEGIC: strategic.apply,
}

NOT_FOUND = Response(404, b"404 page not found\n", {"content-type": "text/plain; charset=utf-8"})
"""The answer to a path that the server does not have."""


class ResourceHandlers:
    """Answers requests about objects."""

    def __init__(self, registry: Registry, store: Store, writes: Writes, deletion: Deletion, clock: Clock) -> None:
        self._registry = registry
        self._store = store
        self._writes = writes
        self._deletion = deletion
        self._clock = clock
        self._subresources = SubresourceHandlers(store, writes, deletion, clock)

    def handle(self, request: Request, place: Place) -> Response | Stream:
        """Answer a request about `place`. Raises :class:`Refusal`."""
        served = self._registry.find(place.group, place.version, place.plural)
        if served is None or (place.subresource and place.subresource not in served.kind.subresources):
            return self._nothing(place.group)
        handler = self._handler(request, place, served)
        if handler is None:
            raise Refusal(status.no_such_method())
        return handler(request, place, served)

    def not_found(self, path: str) -> Response:
        """Return the answer to a path that leads nowhere."""
        return self._nothing(path.removeprefix("/apis/").partition("/")[0])

    def _nothing(self, group: str) -> Response:
        return refusal_answer(Refusal(status.path_not_found())) if self._registry.has_group(group) else NOT_FOUND

    def _handler(self, request: Request, place: Place, served: Served) -> Handler | None:
        if place.name and place.subresource not in _OBJECT_PARTS:
            return self._subresources.by_verb.get((request.method, place.subresource))
        if place.name:
            by_method: dict[str, Handler] = {"GET": self._get, "PUT": self._update, "PATCH": self._patch}
            if not place.subresource:
                by_method["DELETE"] = self._delete
            return by_method.get(request.method)
        if request.method == "GET":
            return self._watch if parameters.is_set(request, "watch") else self._list
        if served.kind.namespaced and not place.namespace:
            return None
        return {"POST": self._create, "DELETE": self._delete_collection}.get(request.method)

    def _get(self, request: Request, place: Place, served: Served) -> Response:
        return self._answer(request, served, self._writes.get(served.kind, place.namespace, place.name))

    def _list(self, request: Request, place: Place, served: Served) -> Response:
        return self._answer_list(request, served, self._page(request, place, served))

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
        listing.check_options(request)
        revision = parameters.revision(request)
        if revision > self._store.revision:
            raise listing.too_new(revision, self._store.revision)
        initial = parameters.is_set(request, "sendInitialEvents")
        bookmarks = parameters.is_set(request, "allowWatchBookmarks")
        timeout = parameters.number(request, "timeoutSeconds")
        return WatchOptions(
            revision=None if initial or not revision else revision,
            namespace=place.namespace,
            selector=_selector(request, served),
            bookmarks=bookmarks,
            announce_initial_end=initial and bookmarks,
            timeout_seconds=float(timeout) if timeout else None,
        )

    def _create(self, request: Request, place: Place, served: Served) -> Response:
        body = bodies.decode_object(request, served, place.namespace)
        stored = self._writes.create(served.kind, body.obj, dry_run=parameters.dry_run(request))
        return self._answer(request, served, stored, 201, (*body.warnings, *validation.warnings(stored.obj)))

    def _update(self, request: Request, place: Place, served: Served) -> Response:
        body = bodies.decode_object(request, served, place.namespace, place.name)

        def change(old: Object) -> Object:
            wanted, found = body.obj["metadata"].get("uid"), old["metadata"]["uid"]
            if wanted and wanted != found:
                raise precondition_failed(served.kind, old["metadata"], "UID", wanted, found)
            return body.obj

        stored = self._write(request, place, served, change)
        return self._answer(request, served, stored, 200, body.warnings)

    def _patch(self, request: Request, place: Place, served: Served) -> Response:
        if bodies.media_type(request) == bodies.APPLY:
            return self._apply(request, place, served)
        patch = bodies.decode(request, (*_PATCHES, bodies.APPLY))
        patched_by = _PATCHES[bodies.media_type(request)]
        warnings: tuple[str, ...] = ()

        def change(old: Object) -> Object:
            nonlocal warnings
            patched = patched_by(representation.from_stored(served, old), patch)
            body = bodies.patched_object(request, patch, patched, served, place.namespace, place.name)
            warnings = body.warnings
            return body.obj

        stored = self._write(request, place, served, change)
        return self._answer(request, served, stored, 200, warnings)

    def _apply(self, request: Request, place: Place, served: Served) -> Response:
        author = self._author(request, place, served, "Apply")
        body = bodies.decode_object(request, served, place.namespace, place.name)
        force = parameters.is_set(request, "force")
        collection = self._store.collection(served.kind.collection)
        if not place.subresource and collection.get(key(place.namespace, place.name)) is None:
            obj = apply.apply(None, body.obj, author, force=force)
            stored = self._writes.create(served.kind, obj, dry_run=parameters.dry_run(request))
            return self._answer(request, served, stored, 201, body.warnings)
        stored = self._writes.update(
            served.kind,
            place.namespace,
            place.name,
            lambda old: apply.apply(old, body.obj, author, force=force),
            subresource=place.subresource,
            dry_run=parameters.dry_run(request),
        )
        return self._answer(request, served, stored, 200, body.warnings)

    def _write(self, request: Request, place: Place, served: Served, change: Callable[[Object], Object]) -> Stored:
        return self._writes.update(
            served.kind,
            place.namespace,
            place.name,
            change,
            subresource=place.subresource,
            author=self._author(request, place, served, "Update"),
            dry_run=parameters.dry_run(request),
        )

    def _author(self, request: Request, place: Place, served: Served, operation: str) -> Manager:
        now = rfc3339(self._clock.now())
        return parameters.author(request, served.api_version, place.subresource, operation, now)

    def _delete(self, request: Request, place: Place, served: Served) -> Response:
        stored, gone = self._deletion.delete(served.kind, place.namespace, place.name, _delete_options(request))
        if gone and not served.kind.returned:
            return answer(200, status.success(_deleted(served, stored)))
        return self._answer(request, served, stored)

    def _delete_collection(self, request: Request, place: Place, served: Served) -> Response:
        options = _delete_options(request)
        page = self._page(request, place, served)
        for stored in page.items:
            metadata = stored.obj["metadata"]
            # One may have gone with another that owned it.
            if self._store.place_of(metadata["uid"]) is not None:
                self._deletion.delete(served.kind, metadata.get("namespace", ""), metadata["name"], options)
        return self._answer_list(request, served, page)

    def _page(self, request: Request, place: Place, served: Served) -> listing.Page:
        collection = self._store.collection(served.kind.collection)
        selector = _selector(request, served)
        return listing.page(self._store, collection, request, place.namespace, selector)

    def _answer(
        self, request: Request, served: Served, stored: Stored, code: int = 200, warnings: tuple[str, ...] = ()
    ) -> Response:
        form = representation.form(request)
        return raw_answer(code, representation.represent(served, stored, form, self._clock.now()), warnings)

    def _answer_list(self, request: Request, served: Served, page: listing.Page) -> Response:
        form, now = representation.form(request), self._clock.now()
        return raw_answer(200, representation.represent_list(served, page.items, page.metadata, form, now))


def _selector(request: Request, served: Served) -> selectors.Selector:
    return selectors.selector(served.kind.kind, request.param("labelSelector"), request.param("fieldSelector"))


def _delete_options(request: Request) -> deletion.DeleteOptions:
    body = bodies.decode(request) if request.body else {}
    return deletion.options(body if isinstance(body, dict) else {}, dict(request.query))


def _deleted(served: Served, stored: Stored) -> Object:
    metadata = stored.obj["metadata"]
    group = {"group": served.kind.group} if served.kind.group else {}
    return {"name": metadata["name"], **group, "kind": served.kind.plural, "uid": metadata["uid"]}
