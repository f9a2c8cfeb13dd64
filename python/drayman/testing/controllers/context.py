"""What all controllers are given: the client, the clock, shared informers and indexes over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from drayman.kube.events import Recorder
from drayman.kube.informer import Informer, key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from drayman.clock import Clock
    from drayman.kube.client import Client, Object
    from drayman.kube.resources import Resource


class Controller(Protocol):
    """One control loop. Its constructor registers handlers; :meth:`run` is called once all informers have synced."""

    async def run(self) -> None:
        """Work until cancelled."""


class Context:
    """Shared by the controllers of one process. `gates` are the feature gates that are on."""

    def __init__(self, client: Client, clock: Clock, gates: frozenset[str], compatibility: str) -> None:
        self.client = client
        self.clock = clock
        self.gates = gates
        self.compatibility = compatibility
        self.informers: dict[Resource, Informer] = {}

    def informer(self, resource: Resource) -> Informer:
        """Return the informer of `resource`, the same one for every caller."""
        if resource not in self.informers:
            self.informers[resource] = Informer(self.client, self.clock, resource)
        return self.informers[resource]

    def recorder(self, component: str) -> Recorder:
        """Return a recorder that writes events as `component`."""
        return Recorder(self.client, self.clock, component)


class Index:
    """Objects of an informer by values computed from them, plus objects that were just created.

    A created object is remembered until the informer has seen its resourceVersion or a later one, so that a controller
    that runs again before the watch caught up does not create it twice.
    """

    def __init__(self, informer: Informer, values: Callable[[Object], Iterable[str]]) -> None:
        self._informer = informer
        self._values = values
        self._objects: dict[str, dict[str, Object]] = {}
        self._remembered: dict[str, Object] = {}
        self._latest = 0
        informer.add_handler(self._added, self._updated, self._deleted)

    def __getitem__(self, value: str) -> list[Object]:
        """Return the objects with `value`, sorted by namespace and name."""
        return [obj for _, obj in sorted(self._objects.get(value, {}).items())]

    def remember(self, created: Object) -> None:
        """Count `created`, as the API server returned it, although the informer may not have shown it yet."""
        key = key_of(created)
        if key in self._informer.store or _version(created) <= self._latest:
            return
        self._remembered[key] = created
        self._insert(created)

    def _added(self, obj: Object) -> None:
        self._caught_up(obj)
        self._insert(obj)

    def _updated(self, old: Object, new: Object) -> None:
        self._caught_up(new)
        self._remove(old)
        self._insert(new)

    def _deleted(self, obj: Object) -> None:
        self._caught_up(obj)
        self._remove(obj)

    def _caught_up(self, obj: Object) -> None:
        self._latest = max(self._latest, _version(obj))
        for key in [key for key, created in self._remembered.items() if _version(created) <= self._latest]:
            self._remove(self._remembered.pop(key))

    def _insert(self, obj: Object) -> None:
        for value in self._values(obj):
            self._objects.setdefault(value, {})[key_of(obj)] = obj

    def _remove(self, obj: Object) -> None:
        for value in self._values(obj):
            objects = self._objects.get(value, {})
            objects.pop(key_of(obj), None)
            if not objects:
                self._objects.pop(value, None)


def _version(obj: Object) -> int:
    """Return the resourceVersion, which servers since 1.35 promise to be a growing number."""
    version = str(obj["metadata"].get("resourceVersion", ""))
    return int(version) if version.isdecimal() else 0
