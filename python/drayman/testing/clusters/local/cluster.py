"""Puts a local cluster together: control plane, scheduler, and one real node or several fake ones."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import ssl
import sys
from typing import TYPE_CHECKING

from drayman import names
from drayman.clock import RealClock
from drayman.driver import catalogue
from drayman.errors import InputError
from drayman.kube import connect
from drayman.kube.resources import DEVICE_CLASSES
from drayman.testing.clusters import programs
from drayman.testing.clusters.local import accounts, node, rival, room
from drayman.testing.clusters.local.controlplane import (
    FAKE_NODES,
    REAL_NODES,
    SCHEDULER,
    ControlPlane,
    Layout,
    check_port,
    free_port,
)
from drayman.testing.clusters.local.folder import cluster_folder
from drayman.testing.clusters.local.node import Node
from drayman.testing.kubelet.logserver import LogServer
from drayman.testing.parts import ADMINISTRATOR, Parts, driver_agent, kubelet_agent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from drayman.clock import Clock
    from drayman.kube.client import Client
    from drayman.kube.config import ServerConfig
    from drayman.testing.clusters.local.processes import Processes
    from drayman.testing.parts import Options

log = logging.getLogger(__name__)

VERSION = "1.37"


@contextlib.asynccontextmanager
async def running(
    options: Options, *, port: int = 0, real: bool, upstream: bool = False, logs: Path | None = None
) -> AsyncIterator[ServerConfig]:
    """Yield how the administrator reaches a cluster whose parts have been started; they end with the context.

    `real` takes one real kubelet, which needs root, instead of fake ones for each of `options.nodes`; `upstream` takes
    kube-scheduler, beside ours where the options ask for that, each then for its own pods. Scheduler and driver have
    the rights of their own roles, and are started again when somebody kills them; any other process that ends by itself
    ends the context. Raises :class:`~drayman.errors.InputError` when programs, rights or room are missing.
    """
    if options.kubernetes_version != VERSION:
        raise InputError(f"the backend `local` is Kubernetes {VERSION}, not {options.kubernetes_version}")
    if real:
        room.check()
    if port:
        check_port(port)
    needed = {**programs.CONTROL_PLANE, **(programs.SCHEDULER if upstream else {}), **(programs.NODE if real else {})}
    paths = programs.find(needed)
    room.check_visible(list(paths.values()) if real else [])
    await programs.check_versions(paths)
    clock = RealClock()
    async with cluster_folder(clock, logs) as (folder, processes):
        kind = REAL_NODES if real else FAKE_NODES
        layout = Layout(folder, paths, options.feature_gates, port or free_port(), **kind)
        cluster = _Cluster(options, layout, processes, clock)
        async with cluster.started(real=real, upstream=upstream) as server:
            yield server


class _Cluster:
    def __init__(self, options: Options, layout: Layout, processes: Processes, clock: Clock) -> None:
        self._options = options
        self._layout = layout
        self._processes = processes
        self._clock = clock
        self._start = clock.monotonic()
        kubelets = {node.user(name): ("system:nodes",) for name in options.node_names()}
        self._control_plane = ControlPlane(layout, clock, kubelets)

    @contextlib.asynccontextmanager
    async def started(self, *, real: bool, upstream: bool) -> AsyncIterator[ServerConfig]:
        """Start everything in its order; yield how the administrator reaches the API server."""
        control_plane, processes = self._control_plane, self._processes
        nodes = [Node(name, control_plane, processes.logs) for name in self._options.node_names()] if real else []
        for one in nodes:
            await one.start_containerd(processes)
        await control_plane.start(processes, prefix=nodes[0].prefix if nodes else ())
        self._say("the API server answers")
        async with contextlib.AsyncExitStack() as stack:
            server = control_plane.administrator
            client = await stack.enter_async_context(connect.connection(server, user_agent=ADMINISTRATOR))
            await control_plane.start_controllers(processes)
            servers = await accounts.create(client, server)
            if self._options.scheduler:
                await self._start_scheduler(servers[accounts.SCHEDULER], alone=not upstream)
            if upstream:
                program = self._layout.binaries["kube-scheduler"]
                kubeconfig = control_plane.kubeconfig(SCHEDULER)
                alone = not self._options.scheduler
                await rival.start(processes, self._layout.folder, program, kubeconfig, self._layout.gates, alone=alone)
            if real:
                await self._start_nodes(nodes, client, servers[accounts.DRIVER])
            else:
                await stack.enter_async_context(self._fake_nodes(client, servers[accounts.DRIVER]))
            yield server

    async def _start_scheduler(self, server: ServerConfig, *, alone: bool) -> None:
        path = self._layout.folder / "scheduler.json"
        configuration = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"schedulerName": name} for name in rival.served(names.SCHEDULER_NAME, alone=alone)],
        }
        path.write_text(json.dumps(configuration))
        kubeconfig = self._control_plane.kubeconfig("drayman-scheduler", server)
        command: list[str | Path] = [sys.executable, "-m", "drayman", "scheduler"]
        command += ["--kubeconfig", kubeconfig, "--config", path]
        chosen = ["--compatibility", self._options.compatibility, *self._layout.gates]
        await self._processes.start("drayman-scheduler", [*command, *chosen], revived=True)

    async def _start_nodes(self, nodes: list[Node], client: Client, driver: ServerConfig) -> None:
        options, processes = self._options, self._processes
        profile = catalogue.profile(options.driver, devices=options.devices)
        await client.create(DEVICE_CLASSES, profile.device_class())
        kubeconfig = self._control_plane.kubeconfig("drayman-driver", driver)
        for one in nodes:
            await one.start_kubelet(processes, options.feature_gates)
            await one.wait_until_ready(processes, client)
            self._say("the node is ready")
            await one.start_driver(processes, kubeconfig, options.driver, options.devices)

    @contextlib.asynccontextmanager
    async def _fake_nodes(self, client: Client, driver: ServerConfig) -> AsyncIterator[None]:
        """Run fake kubelets, each as the user of its node, in this process."""
        logs = LogServer()
        clients = {ADMINISTRATOR: client}
        async with logs.serving(self._log_context()), contextlib.AsyncExitStack() as stack:
            for name in self._options.node_names():
                kubelet = self._control_plane.as_user(node.user(name))
                for agent, server in ((kubelet_agent(name), kubelet), (driver_agent(name), driver)):
                    clients[agent] = await stack.enter_async_context(connect.connection(server, user_agent=agent))
            folder = self._layout.folder / "n"
            async with asyncio.TaskGroup() as group:
                parts = Parts(
                    self._options, self._clock, folder, clients.__getitem__, poll_plugins=1.0, log_server=logs
                )
                await parts.start_nodes(group)
                yield
                for task in parts.tasks:
                    task.cancel()

    def _log_context(self) -> ssl.SSLContext:
        """Return the TLS settings of the server for output: it answers the API server only."""
        authority = self._control_plane.authority
        certificate, key = authority.issue("kubelets", "kubelets", hosts=["127.0.0.1"])
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(authority.path))
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_cert_chain(certificate, key)
        return context

    def _say(self, what: str) -> None:
        print(f"{what} after {self._clock.monotonic() - self._start:.0f} s", flush=True)
