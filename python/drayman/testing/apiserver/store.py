"""Objects, their versions and the log of changes: what etcd and the watch cache are to a real server.

Stored objects are never changed: a write puts a new object in place of the old one. One counter numbers all writes;
every collection keeps a log of its latest changes, from which watches read and older lists are restored.
"""

from __future__ import annotations

import itertools
import json
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

ChangeType = Literal["ADDED", "MODIFIED", "DELETED"]

LOG_SIZE = 10_000
"""How many changes of a collection are kept; a watch from before them is refused as too old."""


def encode(value: object) -> bytes:
    """Return `value` as compact JSON."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def key_of(metadata: Mapping[str, Any]) -> str:
    """Return the key of an object in its collection; keys sort as in etcd."""
    return key(metadata.get("namespace", ""), metadata["name"])


def key(namespace: str, name: str) -> str:
    """Return the key of the object `name`; an empty namespace means that the kind has none."""
    return f"{namespace}/{name}" if namespace else name


@dataclass(frozen=True, slots=True)
class Stored:
    """One version of one object. The bytes of each representation are made once."""

    obj: dict[str, Any]
    revision: int
    _representations: dict[str, bytes] = field(default_factory=dict, compare=False, repr=False)

    def encoded(self, name: str, represent: Callable[[dict[str, Any]], object]) -> bytes:
        """Return the bytes of the representation `name`, which `represent` makes of the object."""
        found = self._representations.get(name)
        if found is None:
            found = self._representations[name] = encode(represent(self.obj))
        return found


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of a log: `stored` is the object after the change, `previous` the one before."""

    type: ChangeType
    key: str
    stored: Stored
    previous: Stored | None

    @property
    def revision(self) -> int:
        """The number of the write."""
        return self.stored.revision


@dataclass(frozen=True, slots=True)
class Place:
    """Where an object is: the name of its collection and its key there."""

    collection: str
    key: str


class Collection:
    """The objects of one kind with the log of their changes."""

    def __init__(self, log_size: int) -> None:
        self._objects: dict[str, Stored] = {}
        self._log: deque[Change] = deque(maxlen=log_size)
        self._forgotten = 0
        self._listeners: dict[object, Callable[[], object]] = {}

    def get(self, key: str) -> Stored | None:
        """Return the current version of an object."""
        return self._objects.get(key)

    def items(self) -> list[Stored]:
        """Return the objects in the order of their keys."""
        return [self._objects[key] for key in sorted(self._objects)]

    @property
    def oldest(self) -> int:
        """The revision of the last change that the log has forgotten: watches may start there or later."""
        return self._forgotten

    def since(self, revision: int) -> Sequence[Change]:
        """Return the changes after `revision`, oldest first."""
        changes = list(itertools.takewhile(lambda change: change.revision > revision, reversed(self._log)))
        return changes[::-1]

    def at(self, revision: int) -> list[Stored]:
        """Return the objects as they were at `revision`, which must not be before :attr:`oldest`."""
        objects = dict(self._objects)
        for change in reversed(self.since(revision)):
            if change.previous is None:
                del objects[change.key]
            else:
                objects[change.key] = change.previous
        return [objects[key] for key in sorted(objects)]

    def listen(self, listener: Callable[[], object]) -> Callable[[], None]:
        """Call `listener` after every change, until the returned function is called."""
        token = object()
        self._listeners[token] = listener

        def stop() -> None:
            self._listeners.pop(token, None)

        return stop

    def record(self, change: Change) -> None:
        """Make `change` the present."""
        if change.type == "DELETED":
            del self._objects[change.key]
        else:
            self._objects[change.key] = change.stored
        if len(self._log) == self._log.maxlen:
            self._forgotten = self._log[0].revision
        self._log.append(change)
        for listener in tuple(self._listeners.values()):
            listener()


class Store:
    """All collections. Not thread-safe."""

    def __init__(self, log_size: int = LOG_SIZE) -> None:
        self._collections: dict[str, Collection] = {}
        self._log_size = log_size
        self._places: dict[str, Place] = {}
        self._dependents: dict[str, dict[Place, None]] = {}
        self.revision = 1

    def collection(self, name: str) -> Collection:
        """Return the collection `name`, an empty one when nothing was stored yet."""
        found = self._collections.get(name)
        if found is None:
            found = self._collections[name] = Collection(self._log_size)
        return found

    def all(self) -> Iterable[tuple[str, Collection]]:
        """Return all collections in the order of their names."""
        return sorted(self._collections.items())

    def put(self, collection: str, obj: Mapping[str, Any]) -> Stored:
        """Store `obj` under its name, whatever was there before, with a new resourceVersion."""
        key = key_of(obj["metadata"])
        target = self.collection(collection)
        previous = target.get(key)
        stored = self._number(obj)
        self._index(Place(collection, key), previous, stored)
        target.record(Change("MODIFIED" if previous else "ADDED", key, stored, previous))
        return stored

    def remove(self, collection: str, key: str) -> Stored:
        """Remove an object that exists and return its last state, numbered by the removal."""
        target = self.collection(collection)
        previous = target.get(key)
        assert previous is not None
        stored = self._number(previous.obj)
        self._index(Place(collection, key), previous, None)
        target.record(Change("DELETED", key, stored, previous))
        return stored

    def place_of(self, uid: str) -> Place | None:
        """Return where the object with this uid is, if it exists."""
        return self._places.get(uid)

    def dependents(self, uid: str) -> list[Place]:
        """Return where the objects are whose owner references name this uid, in the order in which they were stored."""
        return list(self._dependents.get(uid, ()))

    def _index(self, place: Place, previous: Stored | None, current: Stored | None) -> None:
        for stored in (previous, current):
            if stored is not None:
                self._places.pop(stored.obj["metadata"]["uid"], None)
        if current is not None:
            self._places[current.obj["metadata"]["uid"]] = place
        before, after = _owners(previous), _owners(current)
        for owner in before:
            if owner not in after:
                self._dependents[owner].pop(place, None)
                if not self._dependents[owner]:
                    del self._dependents[owner]
        for owner in after:
            self._dependents.setdefault(owner, {})[place] = None

    def _number(self, obj: Mapping[str, Any]) -> Stored:
        self.revision += 1
        return Stored(with_revision(obj, self.revision), self.revision)


def with_revision(obj: Mapping[str, Any], revision: int) -> dict[str, Any]:
    """Return a copy of `obj` with this resourceVersion."""
    return {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(revision)}}


def _owners(stored: Stored | None) -> list[str]:
    references = stored.obj["metadata"].get("ownerReferences") if stored else None
    return [reference["uid"] for reference in references or ()]
