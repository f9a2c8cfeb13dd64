"""Handlers of the subresources that are not just a part of the object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drayman.api import status
from drayman.testing.apiserver import binding, bodies, eviction, parameters, scale
from drayman.testing.apiserver.logs import Logs
from drayman.testing.apiserver.patches import merge, operations
from drayman.testing.apiserver.refusal import answer
from drayman.timestamps import rfc3339

if TYPE_CHECKING:
    from collections.abc import Callable

    from drayman.clock import Clock
    from drayman.kube.http import Request, Response, Stream
    from drayman.testing.apiserver.deletion import Deletion
    from drayman.testing.apiserver.paths import Place
    from drayman.testing.apiserver.registry import Served
    from drayman.testing.apiserver.store import Store
    from drayman.testing.apiserver.writes import Writes

Object = dict[str, Any]

_SCALE_PATCHES: dict[str, Callable[[Any, Any], Any]] = {
    "application/json-patch+json": operations.apply,
    "application/merge-patch+json": merge.merge,
    "application/strategic-merge-patch+json": merge.merge,
}


_SCALE = ("autoscaling/v1", "Scale")


class SubresourceHandlers:
    """Answers requests to `binding`, `eviction`, `scale` and `log`."""

    def __init__(self, store: Store, writes: Writes, deletion: Deletion, clock: Clock) -> None:
        self._store = store
        self._writes = writes
        self._deletion = deletion
        self._clock = clock
        self._logs = Logs(store)
        self.by_verb: dict[tuple[str, str], Callable[[Request, Place, Served], Response | Stream]] = {
            ("POST", "binding"): self._bind,
            ("POST", "eviction"): self._evict,
            ("GET", "scale"): self._get_scale,
            ("PUT", "scale"): self._put_scale,
            ("PATCH", "scale"): self._patch_scale,
            ("GET", "log"): lambda request, place, served: self._logs.read(request, self._pod(place, served)),
            ("PUT", "log"): lambda request, place, served: self._logs.write(request, self._pod(place, served)),
        }

    def _pod(self, place: Place, served: Served) -> Object:
        return self._writes.get(served.kind, place.namespace, place.name).obj

    def _bind(self, request: Request, place: Place, served: Served) -> Response:
        body = bodies.decode_part(request, "v1", "Binding")
        now, dry_run = rfc3339(self._clock.now()), parameters.dry_run(request)
        binding.bind(self._writes, served.kind, place.namespace, place.name, body, now=now, dry_run=dry_run)
        return answer(201, {**status.success(), "code": 201})

    def _evict(self, request: Request, place: Place, served: Served) -> Response:
        body, dry_run = bodies.decode_part(request, "policy/v1", "Eviction"), parameters.dry_run(request)
        where = (self._store, self._writes, self._deletion, served.kind)
        eviction.evict(*where, place.namespace, place.name, body, dry_run=dry_run)
        return answer(201, {**status.success(), "code": 201})

    def _get_scale(self, request: Request, place: Place, served: Served) -> Response:
        return answer(200, scale.of(self._writes.get(served.kind, place.namespace, place.name).obj))

    def _put_scale(self, request: Request, place: Place, served: Served) -> Response:
        body = bodies.decode_part(request, *_SCALE)
        return self._scale(request, place, served, lambda old: scale.scaled(old, body))

    def _patch_scale(self, request: Request, place: Place, served: Served) -> Response:
        patch = bodies.decode(request, tuple(_SCALE_PATCHES))
        apply = _SCALE_PATCHES[bodies.media_type(request)]

        def change(old: Object) -> Object:
            return scale.scaled(old, bodies.part(apply(scale.of(old), patch), *_SCALE))

        return self._scale(request, place, served, change)

    def _scale(self, request: Request, place: Place, served: Served, change: Callable[[Object], Object]) -> Response:
        dry_run = parameters.dry_run(request)
        stored = self._writes.update(served.kind, place.namespace, place.name, change, dry_run=dry_run)
        return answer(200, scale.of(stored.obj))
