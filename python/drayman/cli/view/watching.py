"""A view that goes on: it is shown anew when objects change, with how many claims still wait.

Each kind is watched by a thread of its own, which only hands events over; everything else happens in one place.
"""

from __future__ import annotations

import contextlib
import queue
import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman import cli
from drayman.cli import sources, view
from drayman.cli.claims import key_of
from drayman.cli.output import Printer, note, plain_table
from drayman.cli.view.fleet import Fleet
from drayman.errors import APIStatusError, DraymanError, UnreachableError
from drayman.manifest import Manifest
from drayman.testing import state

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from drayman.cli.view import Entry, View
    from drayman.kube.resources import Resource
    from drayman.live import Live

_TOGETHER_SECONDS = 0.2
"""Changes that come this close to each other are shown at once."""
_AGAIN_SECONDS = 2.0
"""How long to wait before a server that could not be reached is asked again."""
_ENDING_SECONDS = 0.1
_BAR = 20

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Change:
    """One object that was changed or, with `gone`, deleted; or all objects of a kind, after which others are gone."""

    kind: str
    objects: Sequence[Object]
    gone: bool = False
    all: bool = False


def run(view_: View, arguments: argparse.Namespace) -> int:
    """Show the view whenever it changes. Ends by being interrupted, or by an error that would come again."""
    with sources.connect(arguments) as live:
        namespace = sources.namespace(arguments, live.namespace)
        screen = _Screen(view_, arguments)
        counted = namespace if view_.scoped else sources.namespace(arguments, None)
        objects: dict[tuple[str, str], Object] = {}
        with _watching(view_, live, namespace if view_.scoped else None) as changes:
            for batch in changes:
                for change in batch:
                    _apply(objects, change)
                fleet = Fleet(view.usable(view_, [Manifest(one) for one in objects.values()]))
                screen.show(fleet, view.chosen(view_, fleet, arguments, namespace), _progress(fleet, counted))
    return cli.DONE


class _Screen:
    """What was shown: a terminal is drawn anew, elsewhere only what has changed is printed."""

    def __init__(self, view_: View, arguments: argparse.Namespace) -> None:
        self._view = view_
        self._arguments = arguments
        self._redraws = sys.stdout.isatty() and arguments.output in ("table", "wide")
        self._before: dict[tuple[str | None, str], Entry] | None = None
        self._progress = ""

    def show(self, fleet: Fleet, entries: Sequence[Entry], progress: str) -> None:
        now = {(one.namespace, one.name): one for one in entries}
        before, told = self._before, self._progress
        if (before, told) == (now, progress):
            return
        self._before, self._progress = now, progress
        if self._redraws:
            print("\x1b[H\x1b[J", end="")
            view.show(self._view, fleet, entries, self._arguments)
            Printer().line(f"\n{progress}")
        elif before is None or (self._arguments.output in ("json", "yaml") and before != now):
            view.show(self._view, fleet, entries, self._arguments)
        elif self._arguments.output not in ("json", "yaml"):
            self._print([one for key, one in now.items() if before.get(key) != one])
            for namespace, name in before.keys() - now.keys():
                print(f"{f'{namespace}/' if namespace else ''}{name} is gone")
        sys.stdout.flush()
        if not self._redraws:
            note(progress)

    def _print(self, changed: Sequence[Entry]) -> None:
        if self._arguments.output == "name":
            for one in changed:
                print(f"{self._view.resource}/{one.name}")
            return
        wide = self._arguments.output == "wide"
        rows = [(*one.cells, *one.wide) if wide else one.cells for one in changed]
        if rows:
            print(plain_table([""] * len(rows[0]), rows).split("\n", 1)[1])


def _progress(fleet: Fleet, namespace: str | None) -> str:
    """Say how many claims have what they ask for."""
    claims = [one for one in fleet.kind("ResourceClaim") if namespace in (None, one["metadata"]["namespace"])]
    pending = sum(state.claim_state(one) == "pending" for one in claims)
    filled = _BAR if not claims else _BAR * (len(claims) - pending) // len(claims)
    bar = "#" * filled + "." * (_BAR - filled)
    return f"[{bar}] {len(claims) - pending} of {len(claims)} claims are allocated, {pending} pending"


def _apply(objects: dict[tuple[str, str], Object], change: _Change) -> None:
    if change.all:
        for key in [key for key in objects if key[0] == change.kind]:
            del objects[key]
    for one in change.objects:
        if change.gone:
            objects.pop((change.kind, key_of(one)), None)
        else:
            objects[change.kind, key_of(one)] = one


@contextlib.contextmanager
def _watching(view_: View, live: Live, namespace: str | None) -> Iterator[Iterator[list[_Change]]]:
    """Yield the changes in batches, the first with all that there is. An error of a watch is raised from them."""
    from drayman.live import KINDS, NotServedError

    handed: queue.SimpleQueue[_Change | BaseException] = queue.SimpleQueue()
    first: list[_Change] = []
    watches: list[_Watch] = []
    for resource in KINDS:
        if resource.kind in view_.kinds:
            with contextlib.suppress(NotServedError):
                items, version = live.list(resource, namespace)
                first.append(_Change(resource.kind, items))
                watches.append(_Watch(resource, namespace, live.again(), version, handed))
    threads = [threading.Thread(target=watch.run, name=watch.resource.plural, daemon=True) for watch in watches]
    try:
        for thread in threads:
            thread.start()
        yield _batches(first, handed)
    finally:
        for watch, thread in zip(watches, threads, strict=True):
            while thread.is_alive():  # it may be about to open a connection, which cannot be closed before it is there
                watch.end()
                thread.join(_ENDING_SECONDS)


def _batches(first: list[_Change], handed: queue.SimpleQueue[_Change | BaseException]) -> Iterator[list[_Change]]:
    yield first
    while True:
        together: list[_Change | BaseException] = [handed.get()]
        with contextlib.suppress(queue.Empty):
            while True:
                together.append(handed.get(timeout=_TOGETHER_SECONDS))
        if batch := [one for one in together if isinstance(one, _Change)]:
            yield batch
        for one in together:
            if isinstance(one, BaseException):
                raise one


class _Watch:
    """Hands over what changes in one kind, until :meth:`end`."""

    def __init__(
        self,
        resource: Resource,
        namespace: str | None,
        live: Live,
        version: str,
        handed: queue.SimpleQueue[_Change | BaseException],
    ) -> None:
        self.resource = resource
        self._namespace = namespace
        self._live = live
        self._version = version
        self._handed = handed
        self._ended = threading.Event()

    def run(self) -> None:
        with self._live:
            while not self._ended.is_set():
                try:
                    self._follow()
                except UnreachableError as error:
                    if self._ended.is_set():
                        return
                    note(f"{error}: trying again")
                    self._ended.wait(_AGAIN_SECONDS)
                except (DraymanError, ValueError) as error:
                    self._handed.put(error)
                    return

    def end(self) -> None:
        self._ended.set()
        self._live.interrupt()

    def _follow(self) -> None:
        """Hand over events until the server ends the watch; when it has forgotten where we are, everything."""
        try:
            for event in self._live.watch(self.resource, self._namespace, resource_version=self._version):
                self._version = event.object["metadata"].get("resourceVersion", self._version)
                if event.type != "BOOKMARK":
                    self._handed.put(_Change(self.resource.kind, [event.object], gone=event.type == "DELETED"))
        except APIStatusError as error:
            if error.code != 410:
                raise
            items, self._version = self._live.list(self.resource, self._namespace)
            self._handed.put(_Change(self.resource.kind, items, all=True))
