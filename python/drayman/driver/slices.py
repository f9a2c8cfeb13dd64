"""Keeps the ResourceSlices of one pool as the driver wants them (upstream: `resourceslice` controller).

Slices carry their index in front of their name. Obsolete ones are deleted first; the generation of the pool rises
whenever more than one slice has to be written, so that no allocator ever mixes old and new devices; and what others
do to the slices, such as a kubelet that wipes them when it starts, is undone after a short while.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from drayman.driver.catalogue.profile import slice_name
from drayman.errors import APIStatusError
from drayman.kube.informer import Informer, key_of
from drayman.kube.resources import NODES, SLICES

if TYPE_CHECKING:
    from drayman.clock import Clock
    from drayman.kube.client import Client, Object

log = logging.getLogger(__name__)

INDEX_LENGTH = 5
"""Digits of the index in a slice's name."""

_RETRY_SECONDS = (0.1, 0.5, 1.0, 5.0, 30.0)
"""Waits after the first, second, … failure in a row; the last one repeats."""


class SlicePublisher:
    """Publishes the slices of the pool `node_name` of `driver`; the Node owns them.

    `republish_delay` is how long a foreign change is left standing. Upstream waits 30 s; less makes a wiped node useful
    sooner, more is kinder to a server where two writers disagree. `published` is true while the slices are
    as wanted, as far as is known.
    """

    def __init__(
        self, client: Client, clock: Clock, driver: str, node_name: str, *, republish_delay: float = 1.0
    ) -> None:
        self._client = client
        self._clock = clock
        self._driver = driver
        self._node_name = node_name
        self._republish_delay = republish_delay
        self.published = False
        self._wanted: list[Sequence[Object]] = []
        self._stored_as: dict[int, tuple[Sequence[Object], Sequence[Object]]] = {}
        self._written: dict[str, Object] = {}
        self._due = asyncio.Event()
        self._informer = Informer(
            client, clock, SLICES, field_selector=f"spec.nodeName={node_name},spec.driver={driver}"
        )
        self._informer.add_handler(self._seen, lambda _, new: self._seen(new), self._gone)

    def publish(self, slices: Sequence[Sequence[Object]]) -> None:
        """Publish these slices, each given as its devices, from now on. Does not wait."""
        self._wanted = list(slices)
        self._stored_as.clear()
        self._due.set()

    async def run(self) -> None:
        """Keep the slices as wanted until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._informer.run())
            await self._informer.synced.wait()
            failures = 0
            while True:
                await self._due.wait()
                self._due.clear()
                if await self._try_sync():
                    failures = 0
                    continue
                await self._clock.sleep(_RETRY_SECONDS[min(failures, len(_RETRY_SECONDS) - 1)])
                failures += 1
                self._due.set()

    async def _try_sync(self) -> bool:
        """Return whether nothing is left to do; what the server refuses as invalid is not tried again."""
        try:
            await self._sync()
        except (APIStatusError, ConnectionError) as error:
            log.warning("slices not published: driver=%s node=%s error=%s", self._driver, self._node_name, error)
            self.published = False
            return isinstance(error, APIStatusError) and error.reason == "Invalid"
        self.published = True
        return True

    async def _sync(self) -> None:
        # Read every time: a node that was deleted and came back is another owner, and the old one's slices are garbage.
        owner = await self._node_reference()
        known = self._known()
        generation = max((one["spec"]["pool"]["generation"] for one in known), default=0)
        current, obsolete = self._match(known, generation)
        pool = {"name": self._node_name, "generation": generation, "resourceSliceCount": len(self._wanted)}
        changed = {index for index, one in current.items() if not self._is_current(index, one, pool)}
        if len(current) < len(self._wanted) or len(changed) > 1:
            pool["generation"] = generation + 1
            changed = set(current)
        for one in obsolete:
            await self._delete(one)
        for index in sorted(changed):
            spec = {**current[index]["spec"], "pool": pool, "devices": list(self._wanted[index])}
            self._wrote(index, await self._client.update(SLICES, {**current[index], "spec": spec}))
        for index in range(len(self._wanted)):
            if index not in current:
                self._wrote(index, await self._client.create(SLICES, self._new(index, pool, owner)))

    def _match(self, known: Sequence[Object], generation: int) -> tuple[dict[int, Object], list[Object]]:
        """Return the slices by the index that they stand for, and those that stand for none."""
        current: dict[int, Object] = {}
        obsolete = []
        for one in known:
            index = _index(one["metadata"]["name"])
            pool = one["spec"]["pool"]
            fits = pool["name"] == self._node_name and pool["generation"] == generation
            if fits and index is not None and index < len(self._wanted) and index not in current:
                current[index] = one
            else:
                obsolete.append(one)
        return current, obsolete

    def _is_current(self, index: int, one: Object, pool: Mapping[str, Any]) -> bool:
        wanted = self._wanted[index]
        devices = one["spec"].get("devices") or []
        # A server may spell values its own way, or drop fields of features that are off: that is no change.
        sent, stored = self._stored_as.get(index, (wanted, wanted))
        return one["spec"]["pool"] == pool and (devices == list(wanted) or (sent == wanted and devices == stored))

    def _new(self, index: int, pool: Mapping[str, Any], owner: Object) -> Object:
        return {
            "apiVersion": SLICES.api_version,
            "kind": SLICES.kind,
            "metadata": {
                "generateName": f"{slice_name(index, self._driver, self._node_name)}-",
                "ownerReferences": [owner],
            },
            "spec": {
                "driver": self._driver,
                "pool": dict(pool),
                "nodeName": self._node_name,
                "devices": list(self._wanted[index]),
            },
        }

    async def _delete(self, one: Object) -> None:
        metadata = one["metadata"]
        try:
            await self._client.delete(
                SLICES, metadata["name"], uid=metadata["uid"], resource_version=metadata["resourceVersion"]
            )
        except APIStatusError as error:
            if error.reason != "NotFound":
                raise
        self._written.pop(metadata["name"], None)

    async def _node_reference(self) -> Object:
        node = await self._client.get(NODES, self._node_name)
        return {
            "apiVersion": NODES.api_version,
            "kind": NODES.kind,
            "name": self._node_name,
            "uid": node["metadata"]["uid"],
            "controller": True,
        }

    def _wrote(self, index: int, stored: Object) -> None:
        devices = stored["spec"].get("devices") or []
        wanted = self._wanted[index]
        if devices != list(wanted):
            log.warning("the server stored other devices than were sent: slice=%s", stored["metadata"]["name"])
        self._stored_as[index] = (wanted, devices)
        self._written[key_of(stored)] = stored

    def _known(self) -> list[Object]:
        """Return the slices that exist, our own latest writes before the watch has brought them, sorted by name."""
        known = {**self._informer.store, **self._written}
        return [known[key] for key in sorted(known)]

    def _seen(self, one: Object) -> None:
        written = self._written.get(key_of(one))
        if written is None or _version(one) > _version(written):
            self._written.pop(key_of(one), None)
            self._sync_later()
        elif _version(one) == _version(written):
            del self._written[key_of(one)]

    def _gone(self, one: Object) -> None:
        self._written.pop(key_of(one), None)
        self._sync_later()

    def _sync_later(self) -> None:
        if self._informer.synced.is_set():
            self._clock.call_later(self._republish_delay, self._due.set)


def _version(one: Mapping[str, Any]) -> int:
    """Return the resourceVersion, which is a number by API convention since Kubernetes 1.35."""
    return int(one["metadata"]["resourceVersion"])


def _index(name: str) -> int | None:
    prefix, separator, _ = name.partition("-")
    if not separator or len(prefix) != INDEX_LENGTH:
        return None
    try:
        return int(prefix, 16)
    except ValueError:
        return None
