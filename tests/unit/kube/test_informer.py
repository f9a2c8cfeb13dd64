"""The informer against scripted answers: what it lists, watches, resumes and relists."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

from drayman.clock import VirtualClock, virtual_loop
from drayman.kube.client import Client
from drayman.kube.http import Request, Response, Stream
from drayman.kube.informer import Informer
from drayman.kube.resources import PODS


def pod(name: str, version: int) -> dict[str, Any]:
    return {"metadata": {"namespace": "ns", "name": name, "resourceVersion": str(version)}}


def listing(version: int, *items: dict[str, Any]) -> Response:
    return Response(200, json.dumps({"metadata": {"resourceVersion": str(version)}, "items": items}).encode())


def event(kind: str, obj: dict[str, Any]) -> bytes:
    return b'{"type":"%s","object":%s}\n' % (kind.encode(), json.dumps(obj).encode())


class Script:
    """A transport that gives prepared answers in order; the last watch stays open."""

    def __init__(self, lists: list[Response], watches: list[list[bytes]]) -> None:
        self.lists, self.watches = lists, watches
        self.asked: list[str] = []

    async def request(self, request: Request) -> Response:
        self.asked.append("list")
        return self.lists.pop(0)

    @contextlib.asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[Stream]:
        self.asked.append(f"watch {request.param('resourceVersion')}")
        yield Stream(200, self._chunks())

    async def _chunks(self) -> AsyncIterator[bytes]:
        if not self.watches:
            await asyncio.get_running_loop().create_future()
        for chunk in self.watches.pop(0):
            yield chunk

    async def close(self) -> None:
        pass


def observe(lists: list[Response], watches: list[list[bytes]]) -> tuple[list[str], list[str]]:
    """Run an informer until nothing more happens; return what it asked and what its handlers saw."""
    clock = VirtualClock()
    script = Script(lists, watches)
    seen: list[str] = []

    async def main() -> None:
        informer = Informer(Client(script), clock, PODS)
        informer.add_handler(
            lambda obj: seen.append(f"add {obj['metadata']['name']}"),
            lambda old, new: seen.append(f"update {old['metadata']['name']} to {new['metadata']['resourceVersion']}"),
            lambda obj: seen.append(f"delete {obj['metadata']['name']}"),
        )
        task = asyncio.ensure_future(informer.run())
        await clock.settle()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    with asyncio.Runner(loop_factory=lambda: virtual_loop(clock)) as runner:
        runner.run(main())
    return script.asked, seen


def test_list_and_watch_reach_the_handlers_in_order() -> None:
    asked, seen = observe(
        [listing(5, pod("a", 3))],
        [[event("ADDED", pod("b", 6)), event("MODIFIED", pod("a", 7)), event("DELETED", pod("b", 8))]],
    )
    assert seen == ["add a", "add b", "update a to 7", "delete b"]
    assert asked == ["list", "watch 5", "watch 8"]


def test_a_watch_that_ends_silently_is_resumed_from_the_last_version_seen() -> None:
    bookmark = event("BOOKMARK", {"metadata": {"resourceVersion": "9"}})
    asked, seen = observe([listing(5)], [[event("ADDED", pod("a", 6))], [bookmark], []])
    assert asked == ["list", "watch 5", "watch 6", "watch 9", "watch 9"]
    assert seen == ["add a"]


def test_an_expired_version_relists_and_hands_on_the_difference() -> None:
    gone = event("ERROR", {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"})
    asked, seen = observe([listing(5, pod("a", 3), pod("b", 4)), listing(20, pod("a", 18), pod("c", 19))], [[gone]])
    assert asked == ["list", "watch 5", "list", "watch 20"]
    assert seen == ["add a", "add b", "delete b", "update a to 18", "add c"]


def test_an_event_split_over_chunks_is_put_together() -> None:
    whole = event("ADDED", pod("a", 6))
    _, seen = observe([listing(5)], [[whole[:10], whole[10:]]])
    assert seen == ["add a"]
