"""The mock DRA driver of one node: publishes its hardware, registers with the kubelet, serves its calls."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from drayman.driver.cdi import CDIWriter
from drayman.driver.faults import Faults
from drayman.driver.files import checked_part
from drayman.driver.handler import ClaimHandler
from drayman.driver.health import DeviceHealth, Health
from drayman.driver.preparation import Preparation
from drayman.driver.services import Registration, ResourceHealth, add_dra_plugin
from drayman.driver.slices import SlicePublisher
from drayman.driver.sockets import EventLoopBridge, SocketServer, checked_path

if TYPE_CHECKING:
    from pathlib import Path

    from drayman.clock import Clock
    from drayman.driver.catalogue import Foreign, Profile
    from drayman.kube.client import Client

log = logging.getLogger(__name__)


class Driver:
    """A driver for `profile` on the node `node_name`; without hardware of the catalogue it publishes nothing.

    The folders are the kubelet's: sockets and checkpoint go to `<plugins_dir>/<driver>`, the registration socket to
    `registry_dir`, CDI files to `cdi_dir`. `faults` and `health` may be changed while it runs; `registered` is set once
    a kubelet has taken the driver.

    Raises :class:`~drayman.errors.InputError` when a path is too long for a socket, when the node's or driver's name
    cannot be part of a file name, or when the checkpoint of an earlier run cannot be read.
    """

    def __init__(
        self,
        client: Client,
        clock: Clock,
        node_name: str,
        *,
        profile: Profile | Foreign,
        plugins_dir: Path,
        registry_dir: Path,
        cdi_dir: Path,
    ) -> None:
        checked_part(node_name, "node name")
        name = checked_part(profile.driver, "driver name")
        self.faults = Faults()
        self.health = Health(clock, [DeviceHealth(node_name, one["name"]) for one in profile.devices(node_name)])
        self.registered = asyncio.Event()
        self._name = name
        self._node_name = node_name
        self.plugin_socket = checked_path(plugins_dir / name / "dra.sock")
        self.registration_socket = checked_path(registry_dir / f"{name}-reg.sock")
        cdi = CDIWriter(cdi_dir, name, profile.kind, node_name)
        self._preparation = Preparation(profile, node_name, cdi, plugins_dir / name / "checkpoint.json")
        self._handler = ClaimHandler(client, clock, self._preparation, self.faults)
        self._publisher = SlicePublisher(client, clock, name, node_name)
        self._slices = [spec["devices"] for spec in profile.slice_specs(node_name)]

    @property
    def published(self) -> bool:
        """Whether the slices are on the server as they should be; always true of a driver that publishes none."""
        return not self._slices or self._publisher.published

    async def run(self) -> None:
        """Serve until cancelled; then the sockets are removed, which tells the kubelet that the driver is gone.

        Prepared claims and published slices stay, as they do when a real driver is updated.
        """
        self._preparation.restore()
        async with asyncio.TaskGroup() as group:
            bridge = EventLoopBridge(group)
            servers = self._servers(bridge)
            try:
                for server in servers:
                    server.start()
                log.info("driver started: driver=%s node=%s socket=%s", self._name, self._node_name, servers[0].path)
                await self._publish()
            finally:
                stopped = [server.stop() for server in reversed(servers)]
                bridge.close()
                for event in stopped:
                    if event is not None:
                        await asyncio.to_thread(event.wait)

    async def _publish(self) -> None:
        """Keep the slices published until cancelled. Where there are none to publish, those of others stay alone."""
        if not self._slices:
            await asyncio.Event().wait()
        self._publisher.publish(self._slices)
        await self._publisher.run()

    def _servers(self, bridge: EventLoopBridge) -> list[SocketServer]:
        """Return the servers in the order in which they start: who finds the registration socket calls the other."""
        health = ResourceHealth(bridge, self.health)
        registration = Registration(bridge, self._name, self.plugin_socket, self.registered)
        plugin = SocketServer(
            self.plugin_socket, lambda server: add_dra_plugin(server, bridge, self._handler), health.add_to
        )
        return [plugin, SocketServer(self.registration_socket, registration.add_to)]
