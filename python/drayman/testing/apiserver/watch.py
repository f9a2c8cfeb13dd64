"""Watches: what happened to the objects of a collection, as a stream of JSON lines.

A watch is a position in the collection's log, not a buffer: a slow reader costs nothing, and ends when the log has
forgotten the change that it would read next. Clients then resume, and list anew where they are told that their
version is too old (410).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman.api import status
from drayman.testing.apiserver.refusal import Refusal
from drayman.testing.apiserver.store import Change, Collection, Store, Stored, encode, with_revision

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from drayman.clock import Clock
    from drayman.testing.apiserver.selectors import Selector

INITIAL_EVENTS_END = "k8s.io/initial-events-end"
BOOKMARK_EVERY = 1_000
"""A reader that saw nothing for so many writes is told the present version, so that it can resume there."""

CLOSING_SECONDS = 2.0
"""A watch that lasts longer ends with the present version."""


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """What the client asked for. `revision` is where to start; None means: with the objects that exist now."""

    revision: int | None
    namespace: str
    selector: Selector
    bookmarks: bool
    announce_initial_end: bool
    timeout_seconds: float | None


def too_old(wanted: int, oldest: int) -> Refusal:
    """Return the refusal of a version that the log has forgotten."""
    return Refusal(status.expired(f"too old resource version: {wanted} ({oldest})"))


def watch(
    store: Store,
    collection: Collection,
    clock: Clock,
    options: WatchOptions,
    represent: Callable[[Stored], bytes],
    bookmark: Callable[[dict[str, Any]], object],
) -> AsyncGenerator[bytes, None]:
    """Return the stream. Where its start lies too far back, all that it tells is an error (410).

    `represent` makes the bytes of an object as the client wants to see it, `bookmark` completes an object that has
    only metadata.
    """
    revision = options.revision
    if revision is not None and revision < collection.oldest:
        return _failed(too_old(revision, collection.oldest))
    initial = [] if revision is not None else collection.items()
    start = store.revision if revision is None else revision
    return _Watch(store, collection, clock, options, represent, bookmark).lines(initial, start)


async def _failed(refusal: Refusal) -> AsyncGenerator[bytes, None]:
    yield _line("ERROR", encode(refusal.status))


@dataclass(slots=True)
class _Watch:
    store: Store
    collection: Collection
    clock: Clock
    options: WatchOptions
    represent: Callable[[Stored], bytes]
    bookmark: Callable[[dict[str, Any]], object]

    async def lines(self, initial: Sequence[Stored], position: int) -> AsyncGenerator[bytes, None]:
        changed = asyncio.Event()
        ended = False

        def end() -> None:
            nonlocal ended
            ended = True
            changed.set()

        stop = self.collection.listen(changed.set)
        timeout = self.options.timeout_seconds
        timer = None if timeout is None else self.clock.call_later(timeout, end)
        told = position
        # The last word of a watch comes some time before its end, or not at all.
        closes = self.options.bookmarks and (timeout is None or timeout > CLOSING_SECONDS)
        try:
            for stored in initial:
                if self._wanted(stored):
                    yield _line("ADDED", self.represent(stored))
            if self.options.announce_initial_end:
                yield self._bookmark(position, initial_end=True)
            while True:
                # Before reading: what happens while the reader is busy must wake the next round.
                changed.clear()
                if position < self.collection.oldest:
                    return
                for change in self.collection.since(position):
                    position = change.revision
                    line = self._line(change)
                    if line is not None:
                        told = position
                        yield line
                if (closes and ended) or (self.options.bookmarks and position - told >= BOOKMARK_EVERY):
                    told = position = self.store.revision
                    yield self._bookmark(position)
                if ended:
                    return
                await changed.wait()
        finally:
            stop()
            if timer is not None:
                timer.cancel()

    def _wanted(self, stored: Stored | None) -> bool:
        if stored is None:
            return False
        namespace = self.options.namespace
        if namespace and stored.obj["metadata"].get("namespace") != namespace:
            return False
        return self.options.selector.matches(stored.obj)

    def _line(self, change: Change) -> bytes | None:
        """Return the event that this reader sees: an object that starts or ceases to match appears or disappears."""
        before = self._wanted(change.previous)
        after = change.type != "DELETED" and self._wanted(change.stored)
        if after:
            return _line("MODIFIED" if before else "ADDED", self.represent(change.stored))
        if not before or change.previous is None:
            return None
        if change.type == "DELETED":
            return _line("DELETED", self.represent(change.stored))
        gone = Stored(with_revision(change.previous.obj, change.revision), change.revision)
        return _line("DELETED", self.represent(gone))

    def _bookmark(self, revision: int, *, initial_end: bool = False) -> bytes:
        metadata: dict[str, Any] = {"resourceVersion": str(revision)}
        if initial_end:
            metadata["annotations"] = {INITIAL_EVENTS_END: "true"}
        return _line("BOOKMARK", encode(self.bookmark(metadata)))


def _line(event: str, obj: bytes) -> bytes:
    return b'{"type":"%s","object":%s}\n' % (event.encode(), obj)
