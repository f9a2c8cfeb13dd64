"""What happened to pods since the cluster began.

First verdicts and disappearances, which the objects no longer tell.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman.kube.informer import Informer, key_of
from drayman.kube.resources import PODS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from drayman.clock import Clock
    from drayman.kube.client import Client, Object


@dataclass(slots=True)
class _Record:
    created: float
    verdict_milliseconds: int | None = None
    gone: bool = False


class PodHistory:
    """Watches all pods. A verdict is a node or the condition PodScheduled=False."""

    def __init__(self, client: Client, clock: Clock) -> None:
        self._clock = clock
        self._records: dict[str, _Record] = {}
        self._deleted: asyncio.Queue[Object] = asyncio.Queue()
        self._informer = Informer(client, clock, PODS)
        self._informer.add_handler(self._seen, lambda _, new: self._seen(new), self._gone)

    async def run(self) -> None:
        """Watch until cancelled."""
        await self._informer.run()

    def has_verdict(self, pod: str) -> bool:
        """Return whether the pod "namespace/name" was bound or refused, or is gone."""
        record = self._records.get(pod)
        return record is not None and (record.verdict_milliseconds is not None or record.gone)

    def complete(self, views: Mapping[str, Object]) -> dict[str, Object]:
        """Return the views of the pods with the time of the first verdict, and those that are gone; sorted by name."""
        completed = {}
        for key in sorted({*views, *self._records}):
            record = self._records.get(key)
            view = dict(views.get(key) or {"deleted": True})
            if record is not None and record.verdict_milliseconds is not None:
                view["firstVerdictMs"] = record.verdict_milliseconds
            completed[key] = view
        return completed

    async def deletions(self) -> AsyncIterator[Object]:
        """Yield each pod that is being deleted, once for every time that it is seen so."""
        while True:
            yield await self._deleted.get()

    def _seen(self, pod: Object) -> None:
        key = key_of(pod)
        record = self._records.get(key)
        if record is None or record.gone:
            record = self._records[key] = _Record(self._clock.monotonic())
        if record.verdict_milliseconds is None and _has_verdict(pod):
            record.verdict_milliseconds = round((self._clock.monotonic() - record.created) * 1000)
        if pod["metadata"].get("deletionTimestamp"):
            self._deleted.put_nowait(pod)

    def _gone(self, pod: Object) -> None:
        self._records.setdefault(key_of(pod), _Record(self._clock.monotonic())).gone = True


def _has_verdict(pod: Mapping[str, Any]) -> bool:
    conditions = pod.get("status", {}).get("conditions") or []
    refused = any(
        condition["type"] == "PodScheduled"
        and condition["status"] == "False"
        and condition.get("reason") != "SchedulingGated"
        for condition in conditions
    )
    return bool(pod["spec"].get("nodeName")) or refused
