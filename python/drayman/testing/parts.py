"""The parts of a fake cluster around its API server: controllers, scheduler, nodes with kubelet and mock driver.

Each part talks to the API server through a client of its own and knows nothing of the others. The same composition
runs in virtual time on in-process dispatch (:class:`drayman.testing.FakeCluster`) and in real time on sockets
(`drayman cluster up`).
"""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from drayman import driver, features, scheduler
from drayman.allocator import COMPATIBILITY, check_choice
from drayman.driver import catalogue
from drayman.errors import InputError, MissingExtraError
from drayman.kube.election import LeaderElection
from drayman.kube.resources import DEVICE_CLASSES
from drayman.testing import controllers

if TYPE_CHECKING:
    from pathlib import Path

    from drayman.clock import Clock
    from drayman.kube.client import Client
    from drayman.testing.kubelet import Kubelet
    from drayman.testing.kubelet.logserver import LogServer


@dataclass(frozen=True, slots=True)
class Options:
    """What a fake cluster consists of.

    `nodes` fake nodes, called `node-1`, `node-2`, …, each get a kubelet and the mock driver `driver` with `devices`
    devices. Without them the cluster has only the nodes and slices that are applied to it. `serve_all` lets the
    scheduler serve every schedulerName.
    """

    kubernetes_version: str = "1.37"
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    compatibility: str = "fixed"
    scheduler: bool = True
    serve_all: bool = True
    nodes: int = 0
    driver: str = "gpu.example.com"
    devices: int = 8
    seed: int = 0

    def gates(self) -> frozenset[str]:
        """Return the feature gates that are on."""
        return features.resolve(kubernetes_version=self.kubernetes_version, feature_gates=self.feature_gates)

    def node_names(self) -> tuple[str, ...]:
        """Return the names of the fake nodes."""
        return tuple(f"node-{number}" for number in range(1, self.nodes + 1))


CONTROLLERS, SCHEDULER, ADMINISTRATOR = "kube-controller-manager", "drayman-scheduler", "drayman"
"""User agents of the parts, under which each has a client of its own."""


def kubelet_agent(node: str) -> str:
    """Return the user agent of a node's kubelet."""
    return f"kubelet/{node}"


def driver_agent(node: str) -> str:
    """Return the user agent of a node's driver."""
    return f"drayman-driver/{node}"


class Parts:
    """Starts the parts as tasks of the caller's task group; `root` holds the sockets and files of the nodes.
    Kubelets look for drivers that were killed every `poll_plugins` seconds, if at all; a real API server asks the
    `log_server` for the output of containers.

    A part that ends with an exception ends the group: a fake cluster with a dead part would only mislead.
    """

    def __init__(
        self,
        options: Options,
        clock: Clock,
        root: Path,
        client_for: Callable[[str], Client],
        *,
        poll_plugins: float | None = None,
        log_server: LogServer | None = None,
    ) -> None:
        self._poll_plugins = poll_plugins
        self._log_server = log_server
        self._options = options
        self._clock = clock
        self._root = root
        self._client_for = client_for
        self.tasks: list[asyncio.Task[None]] = []

    @staticmethod
    def user_agents(options: Options) -> tuple[str, ...]:
        """Return the user agents for which `client_for` is called."""
        nodes = [agent for name in options.node_names() for agent in (kubelet_agent(name), driver_agent(name))]
        return (CONTROLLERS, SCHEDULER, ADMINISTRATOR, *nodes)

    def start_controllers(self, group: asyncio.TaskGroup) -> None:
        """Start the controllers."""
        client = self._client_for(CONTROLLERS)
        options = self._options
        gates, compatibility = options.gates(), options.compatibility
        run = functools.partial(controllers.run, client, self._clock, gates=gates, compatibility=compatibility)
        self._start(group, "controllers", run)

    def start_scheduler(self, group: asyncio.TaskGroup, configuration: scheduler.Configuration | None = None) -> None:
        """Start the scheduler; what the options say about it holds, also for a given `configuration`."""
        options = self._options
        chosen = dataclasses.replace(
            configuration or scheduler.Configuration(),
            serve_all=options.serve_all,
            leader_election=LeaderElection(),  # there is nobody else to be elected
            compatibility=options.compatibility,
            kubernetes_version=options.kubernetes_version,
            feature_gates=dict(options.feature_gates),
        )
        client = self._client_for(SCHEDULER)
        source = random.Random(options.seed)  # noqa: S311 - breaks ties between nodes, and has to be repeatable
        self._start(group, "scheduler", functools.partial(scheduler.run, client, chosen, self._clock, random=source))

    async def start_nodes(self, group: asyncio.TaskGroup) -> None:
        """Create the driver's DeviceClass and start a kubelet and a driver for each node."""
        names = self._options.node_names()
        if not names:
            return
        profile = catalogue.profile(self._options.driver, devices=self._options.devices)
        client = self._client_for(ADMINISTRATOR)
        await client.create(DEVICE_CLASSES, profile.device_class())
        for name in names:
            self._start_node(group, name, [profile])

    def start_kubelets(self, group: asyncio.TaskGroup, drivers: Mapping[str, Sequence[str]]) -> None:
        """Start a kubelet for each of the nodes, with drivers that publish nothing and prepare whatever is allocated.

        `drivers` holds the names of the drivers by name of the node. A kubelet that starts deletes the slices of its
        node: settle before there are any.
        """
        for name, drivers_of_node in drivers.items():
            self._start_node(group, name, [catalogue.Foreign(one) for one in drivers_of_node])

    def _start_node(
        self, group: asyncio.TaskGroup, name: str, hardware: Sequence[catalogue.Profile | catalogue.Foreign]
    ) -> None:
        # Not called like the node: paths of sockets are short.
        root = self._root / str(len(self.tasks))
        registry, plugins, cdi = root / "plugins_registry", root / "plugins", root / "cdi"
        for folder in (registry, plugins, cdi):
            folder.mkdir(parents=True, exist_ok=True)
        kubelet = _kubelet_class()(
            self._client_for(kubelet_agent(name)),
            self._clock,
            name,
            root,
            cdi_dirs=[cdi],
            poll_plugins=self._poll_plugins,
            log_server=self._log_server,
        )
        self._start(group, f"kubelet {name}", kubelet.run)
        for profile in hardware:
            plugin = driver.Driver(
                self._client_for(driver_agent(name)),
                self._clock,
                name,
                profile=profile,
                plugins_dir=plugins,
                registry_dir=registry,
                cdi_dir=cdi,
            )
            self._start(group, f"driver {profile.driver} on {name}", plugin.run)

    def _start(self, group: asyncio.TaskGroup, name: str, run: Callable[[], Awaitable[None]]) -> None:
        self.tasks.append(group.create_task(_noted(name, run), name=name))


async def _noted(name: str, run: Callable[[], Awaitable[None]]) -> None:
    """Run a part; an error is noted to come from there."""
    try:
        await run()
    except Exception as error:
        error.add_note(f"in part `{name}` of the fake cluster")
        raise


def checked(options: Options) -> Options:
    """Return `options`, or raise :class:`InputError` for what cannot be built."""
    if options.nodes < 0 or options.nodes > 5000:
        raise InputError(f"{options.nodes} nodes: between 0 and 5000 are possible")
    check_choice("compatibility", options.compatibility, COMPATIBILITY)
    options.gates()
    catalogue.profile(options.driver, devices=options.devices)
    return options


def _kubelet_class() -> type[Kubelet]:
    """Return the kubelet, which speaks gRPC to drivers: clusters without nodes do without it."""
    try:
        from drayman.testing.kubelet import Kubelet
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] not in ("grpc", "google"):
            raise
        raise MissingExtraError("the fake kubelet", "driver") from error
    return Kubelet
