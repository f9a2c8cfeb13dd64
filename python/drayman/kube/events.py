"""Writes Kubernetes events; the same event again becomes a series on the first one."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from drayman.errors import APIStatusError
from drayman.kube.resources import EVENTS
from drayman.timestamps import rfc3339_micro

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drayman.clock import Clock
    from drayman.kube.client import Client

log = logging.getLogger(__name__)

NOTE_LIMIT = 1024
"""Bytes that the API accepts in `note`."""

SERIES_LIMIT = 4096
"""How many events are remembered, to count repetitions."""


class Recorder:
    """Writes events as one component.

    Events are hints for people: one that cannot be written is logged and lost, the work that it tells of goes on.
    """

    def __init__(self, client: Client, clock: Clock, component: str, instance: str | None = None) -> None:
        self._client = client
        self._clock = clock
        self._component = component
        self._instance = instance or component
        self._series: dict[tuple[str, ...], tuple[str, int]] = {}

    async def event(
        self, regarding: Mapping[str, Any], type_: str, reason: str, note: str, *, action: str | None = None
    ) -> None:
        """Write an event about `regarding`; `type_` is `Normal` or `Warning`, `action` is `reason` when not given."""
        metadata = regarding["metadata"]
        namespace = metadata.get("namespace") or "default"
        note = shorten(note, NOTE_LIMIT)
        key = (str(regarding.get("kind")), namespace, metadata["name"], str(metadata.get("uid")), type_, reason, note)
        try:
            if key in self._series and await self._repeat(key, namespace):
                return
            name = await self._create(regarding, namespace, type_, reason, note, action or reason)
        except (APIStatusError, ConnectionError) as error:
            log.warning("event %s about %s/%s is lost: %s", reason, namespace, metadata["name"], error)
            return
        self._series[key] = (name, 1)
        if len(self._series) > SERIES_LIMIT:
            del self._series[next(iter(self._series))]

    async def _repeat(self, key: tuple[str, ...], namespace: str) -> bool:
        name, count = self._series[key]
        series = {"count": count + 1, "lastObservedTime": rfc3339_micro(self._clock.now())}
        try:
            await self._client.patch(EVENTS, name, namespace, {"series": series}, kind="merge")
        except APIStatusError as error:
            if error.reason != "NotFound":
                raise
            return False
        self._series[key] = (name, count + 1)
        return True

    async def _create(
        self, regarding: Mapping[str, Any], namespace: str, type_: str, reason: str, note: str, action: str
    ) -> str:
        metadata = regarding["metadata"]
        now = self._clock.now()
        nanoseconds = int(now.timestamp()) * 1_000_000_000 + now.microsecond * 1000
        while True:
            name = f"{metadata['name']}.{nanoseconds:x}"
            event = {
                "apiVersion": EVENTS.api_version,
                "kind": EVENTS.kind,
                "metadata": {"name": name, "namespace": namespace},
                "eventTime": rfc3339_micro(now),
                "reportingController": self._component,
                "reportingInstance": self._instance,
                "action": action,
                "reason": reason,
                "regarding": reference(regarding),
                "note": note,
                "type": type_,
            }
            try:
                await self._client.create(EVENTS, event)
            except APIStatusError as error:
                if error.reason != "AlreadyExists":
                    raise
                nanoseconds += 1  # names are made of times, and a virtual clock stands still between two events
                continue
            return name


def reference(obj: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ObjectReference of `obj`, which has `apiVersion` and `kind`."""
    metadata = obj["metadata"]
    fields = {
        "apiVersion": obj.get("apiVersion"),
        "kind": obj.get("kind"),
        "namespace": metadata.get("namespace"),
        "name": metadata["name"],
        "uid": metadata.get("uid"),
        "resourceVersion": metadata.get("resourceVersion"),
    }
    return {name: value for name, value in fields.items() if value}


def shorten(text: str, limit: int) -> str:
    """Return `text`, or as much of it as fits into `limit` bytes of UTF-8 with ` ...` at the end."""
    data = text.encode()
    if len(data) <= limit:
        return text
    return data[: limit - 4].decode(errors="ignore") + " ..."
