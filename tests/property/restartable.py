"""A fake cluster of which every part can be stopped and started again."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import random
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from drayman import features, scheduler
from drayman.clock import VirtualClock
from drayman.driver import Driver, catalogue
from drayman.errors import APIStatusError
from drayman.kube.client import Client
from drayman.kube.resources import PODS
from drayman.testing import controllers
from drayman.testing.access import Access
from drayman.testing.apiserver import APIServer, InProcessTransport
from drayman.testing.history import PodHistory
from drayman.testing.kubelet import Kubelet

DRIVER = "gpu.example.com"
NODE_NAMES = ("n1", "n2", "n3")


@dataclasses.dataclass(frozen=True)
class World:
    """What kind of cluster: with real kubelets, with two schedulers, with parts that are restarted."""

    kubelets: bool = False
    rivals: bool = False
    restarts: bool = False


class Cluster(Access):
    """An API server in virtual time; `root` is where nodes have their files."""

    def __init__(self, clock: VirtualClock, root: Path, seed: int) -> None:
        self.clock = clock
        self.root = root
        self.server = APIServer(clock=clock, seed=seed)
        super().__init__(Client(InProcessTransport(self.server)))

    async def reap(self) -> None:
        """Remove deleted pods, where no kubelet does, until cancelled."""
        history = PodHistory(self.client, self.clock)
        async with asyncio.TaskGroup() as group:
            group.create_task(history.run())
            async for pod in history.deletions():
                metadata = pod["metadata"]
                with contextlib.suppress(APIStatusError):
                    await self.client.delete(PODS, metadata["name"], "default", grace_period_seconds=0)


class Parts:
    """The parts of the cluster, each of which can be restarted."""

    def __init__(self, cluster: Cluster, world: World, seed: int, group: asyncio.TaskGroup) -> None:
        self.drivers: dict[str, Driver] = {}
        self._cluster = cluster
        self._seed = seed
        self._group = group
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._makers: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {"controllers": self._controllers}
        names = ("drayman", "other") if world.rivals else (None,)
        self._makers |= {f"scheduler {name}": self._scheduler(name) for name in names}
        for node in NODE_NAMES if world.kubelets else ():
            self._makers |= self._node_parts(node)
        if not world.kubelets:
            self._makers["reaper"] = cluster.reap

    async def restart(self, name: str, pause: float) -> None:
        self._tasks[name].cancel()
        await asyncio.wait([self._tasks[name]])
        await self._cluster.clock.settle(pause)
        self.start(name)

    def start(self, name: str) -> None:
        self._tasks[name] = self._group.create_task(self._makers[name](), name=name)

    def names(self) -> list[str]:
        return sorted(self._makers)

    def stop(self) -> None:
        for task in self._tasks.values():
            task.cancel()

    def _client(self, name: str) -> Client:
        return Client(InProcessTransport(self._cluster.server), user_agent=name)

    def _controllers(self) -> Coroutine[Any, Any, None]:
        return controllers.run(self._client("controllers"), self._cluster.clock, gates=features.resolve())

    def _scheduler(self, name: str | None) -> Callable[[], Coroutine[Any, Any, None]]:
        configuration = scheduler.Configuration(serve_all=name is None)
        if name is not None:
            profiles = tuple(dataclasses.replace(one, scheduler_name=name) for one in configuration.profiles)
            configuration = dataclasses.replace(configuration, profiles=profiles)

        def run() -> Coroutine[Any, Any, None]:
            source = random.Random(self._seed)
            return scheduler.run(self._client(name or "scheduler"), configuration, self._cluster.clock, random=source)

        return run

    def _node_parts(self, node: str) -> Mapping[str, Callable[[], Coroutine[Any, Any, None]]]:
        root = self._cluster.root / node
        registry, plugins, cdi = root / "plugins_registry", root / "plugins", root / "cdi"
        for folder in (registry, plugins, cdi):
            folder.mkdir(parents=True)

        def kubelet() -> Coroutine[Any, Any, None]:
            return Kubelet(self._client(f"kubelet/{node}"), self._cluster.clock, node, root, cdi_dirs=[cdi]).run()

        def driver() -> Coroutine[Any, Any, None]:
            hardware = catalogue.Foreign(DRIVER)
            folders = {"plugins_dir": plugins, "registry_dir": registry, "cdi_dir": cdi}
            made = Driver(self._client(f"driver/{node}"), self._cluster.clock, node, profile=hardware, **folders)
            self.drivers[node] = made
            return made.run()

        return {f"kubelet {node}": kubelet, f"driver {node}": driver}


@contextlib.asynccontextmanager
async def running(world: World, seed: int, clock: VirtualClock) -> AsyncIterator[tuple[Cluster, Parts]]:
    """Yield a cluster whose parts run."""
    with tempfile.TemporaryDirectory(prefix="churn-") as folder:  # short: there will be sockets in it
        cluster = Cluster(clock, Path(folder), seed)
        async with asyncio.TaskGroup() as group:
            parts = Parts(cluster, world, seed, group)
            for name in parts.names():
                parts.start(name)
            await clock.settle(5)
            yield cluster, parts
            parts.stop()
