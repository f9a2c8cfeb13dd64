"""The fake kubelet of one node: its Node object, its drivers, a worker for each pod."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from typing import TYPE_CHECKING

from drayman.errors import APIStatusError, InputError
from drayman.kube.events import Recorder
from drayman.kube.informer import Informer
from drayman.kube.resources import PODS, SLICES
from drayman.testing.kubelet.node import Addresses, register
from drayman.testing.kubelet.plugins import SOCKET_PATH_LIMIT, PluginRegistry
from drayman.testing.kubelet.pod import PodWorker, release
from drayman.testing.kubelet.resources import ResourceManager
from drayman.testing.kubelet.watching import watching

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from drayman.clock import Clock
    from drayman.kube.client import Client, Object
    from drayman.testing.kubelet.logserver import LogServer

log = logging.getLogger(__name__)

WIPE_DELAY = 30.0
"""Seconds after which the slices of a driver that went away are deleted."""

RETRY_SECONDS = 1.0
"""Between attempts to reach the API server."""

POLL_SECONDS = 1.0
"""How often the registry is looked through where it cannot be watched."""

LISTEN_DELAYS = (0.1, 1.0, 5.0)
"""Seconds between looks at a new socket on which nobody listens yet."""

ROOT_LIMIT = 56
"""Bytes of `root` that leave room for sockets of drivers with names of 24 bytes."""


class Kubelet:
    """Runs the pods of one node without containers, with real drivers on unix sockets below `root`.

    `root` is the kubelet's directory (`/var/lib/kubelet`): drivers register in `plugins_registry` and keep their
    sockets in `plugins`. `cdi_dirs` are searched for CDI files, later ones first. The registry is watched; with
    `poll_plugins` it is also looked through every so many seconds, which finds drivers that were killed and left their
    sockets behind before a pod needs them. Output of containers goes to the `log_server`, where a real API server asks
    for it, or to the API server itself, where that is the fake one. Raises :class:`~drayman.errors.InputError` when
    `root` is too long for the sockets in it.
    """

    def __init__(
        self,
        client: Client,
        clock: Clock,
        node_name: str,
        root: Path,
        *,
        cdi_dirs: Sequence[Path],
        poll_plugins: float | None = None,
        log_server: LogServer | None = None,
    ) -> None:
        if len(os.fsencode(root)) > ROOT_LIMIT:
            raise InputError(
                f"directory `{root}` is too long: paths of sockets in it would exceed {SOCKET_PATH_LIMIT} bytes",
                hint=f"choose a directory of at most {ROOT_LIMIT} bytes, such as one below /tmp",
            )
        self.client = client
        self.clock = clock
        self.node_name = node_name
        self.cdi_dirs = tuple(cdi_dirs)
        self.log_server = log_server
        self.addresses = Addresses(node_name, log_server.port if log_server else 0)
        self.recorder = Recorder(client, clock, "kubelet", node_name)
        self._driver_came = asyncio.Event()
        self._registry_changed = asyncio.Event()
        self._registry = root / "plugins_registry"
        for directory in (self._registry, root / "plugins"):
            directory.mkdir(parents=True, exist_ok=True)
        self.plugins = PluginRegistry(
            clock, self._registry, on_registered=self._driver_registered, on_gone=self._driver_gone
        )
        self.resources = ResourceManager(client, node_name, self.plugins, root)
        self._poll_plugins = poll_plugins
        self._pods = Informer(client, clock, PODS, field_selector=f"spec.nodeName={node_name}")
        self._workers: dict[str, PodWorker] = {}
        self._wipes: dict[str, asyncio.Task[None]] = {}
        self._tasks: asyncio.TaskGroup | None = None

    async def run(self) -> None:
        """Register the node and run its pods until cancelled."""
        # As the real one does: drivers may have gone while no kubelet looked. Before the node is there, because drivers
        # publish as soon as it is.
        await self._insist(self._delete_slices)
        await self._insist(lambda: register(self.client, self.clock, self.node_name, self.addresses))
        self._pods.add_handler(self._pod_added, lambda _, new: self._pod_updated(new), self._pod_deleted)
        with contextlib.closing(self.plugins), watching(self._registry, self._registry_changed.set) as is_watched:
            await self.scan_plugins()
            async with asyncio.TaskGroup() as self._tasks:
                self._tasks.create_task(self._pods.run())
                self._tasks.create_task(self._reconcile())
                if is_watched:
                    self._tasks.create_task(self._follow_registry())
                if self._poll_plugins is not None or not is_watched:
                    self._tasks.create_task(self._poll(self._poll_plugins or POLL_SECONDS))

    async def scan_plugins(self) -> None:
        """Look for drivers that came or went since the last look."""
        await self.plugins.scan()

    async def pause(self, seconds: float) -> None:
        """Wait before another attempt: `seconds`, or until a driver comes, which may be the one that was missing.

        The attempt before failed, and a driver that was killed could be the cause: it is forgotten here.
        """
        await self.scan_plugins()
        with contextlib.suppress(TimeoutError):
            async with self.clock.timeout(seconds):
                await self._driver_came.wait()

    async def _follow_registry(self) -> None:
        while True:
            await self._registry_changed.wait()
            self._registry_changed.clear()
            # A socket can be seen before its server listens: it then gets a little time.
            for delay in (0.0, *LISTEN_DELAYS):
                await self.clock.sleep(delay)
                if await self.plugins.scan():
                    break

    async def _poll(self, seconds: float) -> None:
        while True:
            await self.clock.sleep(seconds)
            await self.scan_plugins()

    def _pod_added(self, pod: Object) -> None:
        assert self._tasks is not None, "pods are delivered by a task of the group"
        uid = pod["metadata"]["uid"]
        worker = self._workers[uid] = PodWorker(self, pod)
        task = self._tasks.create_task(worker.run(), name=f"pod {pod['metadata']['name']}")
        task.add_done_callback(lambda _: self._workers.pop(uid, None))

    def _pod_updated(self, pod: Object) -> None:
        worker = self._workers.get(pod["metadata"]["uid"])
        if worker is not None:
            worker.update(pod)
        elif "deletionTimestamp" not in pod["metadata"]:
            self._pod_added(pod)  # deleted and created anew between two looks

    def _pod_deleted(self, pod: Object) -> None:
        worker = self._workers.get(pod["metadata"]["uid"])
        if worker is not None:
            worker.vanish()

    async def _reconcile(self) -> None:
        """Unprepare the claims of pods that went away while no kubelet ran."""
        await self._pods.synced.wait()
        known = {pod["metadata"]["uid"] for pod in self._pods.store.values()}
        async with asyncio.TaskGroup() as group:
            for uid in sorted(self.resources.pod_uids() - known):
                group.create_task(release(self, uid))

    def _driver_registered(self, driver: str) -> None:
        wipe = self._wipes.pop(driver, None)
        if wipe is not None:
            wipe.cancel()
        self._driver_came.set()  # wakes those that wait now, and nobody later
        self._driver_came.clear()

    def _driver_gone(self, driver: str) -> None:
        if self._tasks is not None and driver not in self._wipes:
            self._wipes[driver] = self._tasks.create_task(self._wipe_slices(driver))

    async def _wipe_slices(self, driver: str) -> None:
        """Delete the slices of `driver` on this node after a while: nobody can prepare their devices."""
        await self.clock.sleep(WIPE_DELAY)
        await self._insist(lambda: self._delete_slices(f",spec.driver={driver}"))
        del self._wipes[driver]

    async def _delete_slices(self, selector: str = "") -> None:
        """Delete the slices of this node; drivers that are still there publish them again."""
        slices, _ = await self.client.list(SLICES, field_selector=f"spec.nodeName={self.node_name}{selector}")
        for one in slices:
            name = one["metadata"]["name"]
            log.info("slice deleted: node=%s slice=%s", self.node_name, name)
            try:
                await self.client.delete(SLICES, name)
            except APIStatusError as error:
                if error.reason != "NotFound":
                    raise

    async def _insist(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do `work` until the API server has taken it."""
        while True:
            try:
                await work()
            except (APIStatusError, ConnectionError) as error:
                log.warning("will be tried again: node=%s error=%s", self.node_name, error)
                await self.clock.sleep(RETRY_SECONDS)
            else:
                return
