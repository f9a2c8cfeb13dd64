"""Telling people how an attempt ended: the pod's condition, and an event.

Both are written by one task a pod, in order, and not by the scheduling cycle, which goes on meanwhile. A condition that
says what it said before is not written again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from drayman.errors import APIStatusError
from drayman.framework import Object
from drayman.pods.objects import condition_of, key_of, node_name_of, uid_of
from drayman.timestamps import rfc3339

if TYPE_CHECKING:
    from drayman.clock import Clock
    from drayman.framework import API, Events

log = logging.getLogger(__name__)

POD_SCHEDULED = "PodScheduled"
NOTE_LIMIT = 1024
"""Bytes that the API accepts in the note of an event."""
LINE_LIMIT = 300
"""Bytes of an explanation in a message."""
_CUT = " ..."
_TRIES = 5


def message_of(upstream: str, line: str) -> str:
    """Return upstream's text followed by the explanation `line`, if there is one."""
    return f"{upstream} drayman: {cut(line, LINE_LIMIT)}" if line else upstream


def note_of(upstream: str, message: str) -> str:
    """Return `message`, which starts with `upstream`, cut to what an event can hold.

    The cut falls into upstream's text only where that alone is too long, and leaves no stump of the explanation.
    """
    if len(message.encode()) <= NOTE_LIMIT:
        return message
    if len(f"{upstream} drayman: {_CUT}".encode()) > NOTE_LIMIT:
        return cut(upstream, NOTE_LIMIT)
    return cut(message, NOTE_LIMIT)


def cut(text: str, limit: int) -> str:
    """Return `text`, or as much of it as fits into `limit` bytes, whole characters, with ` ...` at the end."""
    data = text.encode()
    if len(data) <= limit:
        return text
    return data[: limit - len(_CUT)].decode(errors="ignore") + _CUT


class Verdicts:
    """Writes conditions and events, the former in tasks of `group`, which is set when there is work."""

    group: asyncio.TaskGroup

    def __init__(self, api: API, events: Events, clock: Clock, newest: Callable[[str], Object | None]) -> None:
        self._api = api
        self._events = events
        self._clock = clock
        self._newest = newest
        self._waiting: dict[str, tuple[Object, str, str]] = {}
        self._said: dict[str, tuple[str, str]] = {}

    def failed(self, pod: Object, reason: str, upstream: str, line: str = "") -> None:
        """Say that `pod` was not scheduled, for `reason`; `line` explains upstream's text."""
        message = message_of(upstream, line)
        self._events.record(pod, "Warning", "FailedScheduling", "Scheduling", note_of(upstream, message))
        uid = uid_of(pod)
        if self._said.get(uid) == (reason, message):
            return
        self._said[uid] = (reason, message)
        is_being_written = uid in self._waiting
        self._waiting[uid] = (pod, reason, message)
        if not is_being_written:
            self.group.create_task(self._write(uid), name=f"condition of pod {key_of(pod)}")

    def forget(self, pod: Object) -> None:
        """Drop what is remembered of a pod that is bound or gone."""
        self._said.pop(uid_of(pod), None)

    async def _write(self, uid: str) -> None:
        """Write the condition, and once more whatever it became meanwhile."""
        while True:
            pod, reason, message = self._waiting[uid]
            await self._patch(pod, reason, message)
            if self._waiting[uid] == (pod, reason, message):
                del self._waiting[uid]
                return

    async def _patch(self, pod: Object, reason: str, message: str) -> None:
        """Write the condition to the version of the pod that was looked at: one that was bound since is left alone."""
        metadata = pod["metadata"]
        newest = self._newest(key_of(pod))
        try:
            for _ in range(_TRIES):
                if newest is None or uid_of(newest) != uid_of(pod) or node_name_of(newest):
                    return
                condition = self._condition(newest, reason, message)
                if condition is None or await self._try(newest, condition):
                    return
                newest = await self._api.get("Pod", metadata["name"], metadata["namespace"])
        except (APIStatusError, ConnectionError) as error:
            self._said.pop(uid_of(pod), None)
            log.warning("condition of pod %s is not written: %s", key_of(pod), error)

    async def _try(self, pod: Object, condition: Mapping[str, Any]) -> bool:
        """Patch the pod; False when it has changed since."""
        metadata = pod["metadata"]
        patch = {
            "metadata": {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]},
            "status": {"conditions": [condition]},
        }
        try:
            await self._api.patch(
                "Pod", metadata["name"], metadata["namespace"], patch, type_="strategic", subresource="status"
            )
        except APIStatusError as error:
            if error.reason != "Conflict":
                raise
            return False
        return True

    def _condition(self, pod: Object, reason: str, message: str) -> Mapping[str, Any] | None:
        """Return the condition to write; None when the pod has it already."""
        wanted = {"type": POD_SCHEDULED, "status": "False", "reason": reason, "message": message}
        known = condition_of(pod, POD_SCHEDULED) or {}
        if all(known.get(name) == value for name, value in wanted.items()):
            return None
        changed = known.get("status") != "False"
        since = rfc3339(self._clock.now()) if changed else known.get("lastTransitionTime")
        return {**wanted, "lastProbeTime": None, "lastTransitionTime": since}
