"""A local copy of one resource, kept fresh by list and watch.

A server may close a watch at any time, also without an error event (a slow reader, a time-out): the watch is resumed
from the last resourceVersion that was seen. Only when that version is too old (410) is everything listed again, and
the difference handed on as events.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from types import MappingProxyType

from drayman.clock import Clock
from drayman.errors import APIStatusError
from drayman.kube.client import Client, Object, WatchEvent, encode
from drayman.kube.resources import Resource

log = logging.getLogger(__name__)

_RETRY_SECONDS = (0.1, 0.5, 1.0, 2.0, 5.0)
"""Waits after the first, second, … failure in a row; the last one repeats."""


def key_of(obj: Mapping[str, object]) -> str:
    """Return "namespace/name", or "name" for objects without a namespace."""
    metadata = obj["metadata"]
    assert isinstance(metadata, Mapping)
    namespace = metadata.get("namespace")
    return f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"])


class Informer:
    """Watches one resource and calls handlers in the order in which things happened.

    Handlers are plain functions, called on the event loop; `on_raw(type, bytes)`, when set, comes before them with
    the object's JSON. The dicts in `store` are shared: read them, never change them. `synced` is set once the first
    list has been handed on; `last_sign` is when the server was last heard of or found unreachable, in the clock's
    monotonic time, and None before :meth:`run`.
    """

    def __init__(
        self,
        client: Client,
        clock: Clock,
        resource: Resource,
        *,
        namespace: str | None = None,
        label_selector: str = "",
        field_selector: str = "",
    ) -> None:
        self.resource = resource
        self.synced = asyncio.Event()
        self.on_raw: Callable[[str, bytes], None] | None = None
        self.last_sign: float | None = None
        self._client = client
        self._clock = clock
        self._namespace = namespace
        self._label_selector = label_selector
        self._field_selector = field_selector
        self._store: dict[str, Object] = {}
        self._handlers: list[
            tuple[
                Callable[[Object], object] | None,
                Callable[[Object, Object], object] | None,
                Callable[[Object], object] | None,
            ]
        ] = []

    @property
    def store(self) -> Mapping[str, Object]:
        """The objects as last seen, by :func:`key_of`."""
        return MappingProxyType(self._store)

    def add_handler(
        self,
        on_add: Callable[[Object], object] | None = None,
        on_update: Callable[[Object, Object], object] | None = None,
        on_delete: Callable[[Object], object] | None = None,
    ) -> None:
        """Call these on every change from now on; add handlers before :meth:`run`."""
        self._handlers.append((on_add, on_update, on_delete))

    async def run(self) -> None:
        """List, then watch, for ever; returns only by cancellation."""
        failures = 0
        resource_version = ""
        while True:
            self.last_sign = self._clock.monotonic()
            try:
                if not resource_version:
                    resource_version = await self._relist()
                    failures = 0
                async for event in self._client.watch(
                    self.resource,
                    self._namespace,
                    resource_version=resource_version,
                    label_selector=self._label_selector,
                    field_selector=self._field_selector,
                ):
                    failures = 0
                    self.last_sign = self._clock.monotonic()
                    resource_version = self._take(event)
                if failures == 0:
                    failures = 1
                    continue
            except APIStatusError as error:
                if error.code == 410:
                    resource_version = ""
                    if failures == 0:
                        failures = 1
                        continue
                log.warning("watch of %s failed: %s", self.resource.plural, error)
            except ConnectionError as error:
                log.warning("connection lost while watching %s: %s", self.resource.plural, error)
            await self._clock.sleep(_RETRY_SECONDS[min(failures, len(_RETRY_SECONDS) - 1)])
            failures += 1

    async def _relist(self) -> str:
        items, resource_version = await self._client.list(
            self.resource, self._namespace, label_selector=self._label_selector, field_selector=self._field_selector
        )
        listed = {key_of(item): item for item in items}
        for key in [key for key in self._store if key not in listed]:
            self._deliver("DELETED", self._store[key], encode(self._store[key]))
        for key, item in listed.items():
            known = self._store.get(key)
            if known is None:
                self._deliver("ADDED", item, encode(item))
            elif known["metadata"].get("resourceVersion") != item["metadata"].get("resourceVersion"):
                self._deliver("MODIFIED", item, encode(item))
        self.synced.set()
        return resource_version

    def _take(self, event: WatchEvent) -> str:
        if event.type == "ERROR":
            raise APIStatusError(event.object)
        if event.type != "BOOKMARK":
            self._deliver(event.type, event.object, event.raw)
        return str(event.object["metadata"]["resourceVersion"])

    def _deliver(self, event_type: str, obj: Object, raw: bytes) -> None:
        key = key_of(obj)
        old = self._store.pop(key, None)
        if event_type != "DELETED":
            self._store[key] = obj
        if self.on_raw is not None:
            self.on_raw(event_type, raw)
        for on_add, on_update, on_delete in self._handlers:
            if event_type == "DELETED":
                if on_delete:
                    on_delete(obj)
            elif old is None:
                if on_add:
                    on_add(obj)
            elif on_update:
                on_update(old, obj)
