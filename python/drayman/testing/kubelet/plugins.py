"""DRA drivers on this node: found by registration sockets, called over gRPC (upstream: `pkg/kubelet/cm/dra/plugin`)."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import grpc

from drayman.driver.proto import (
    dra_v1_pb2,
    dra_v1_pb2_grpc,
    dra_v1beta1_pb2,
    dra_v1beta1_pb2_grpc,
    pluginregistration_v1_pb2,
    pluginregistration_v1_pb2_grpc,
)
from drayman.errors import DraymanError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    from drayman.clock import Clock

log = logging.getLogger(__name__)

SERVICES: dict[str, tuple[ModuleType, Callable[[grpc.Channel], Any]]] = {
    "v1.DRAPlugin": (dra_v1_pb2, dra_v1_pb2_grpc.DRAPluginStub),
    "v1beta1.DRAPlugin": (dra_v1beta1_pb2, dra_v1beta1_pb2_grpc.DRAPluginStub),
}
"""Versions of the driver's service that are spoken here; the first one that the driver lists is taken."""

CALL_TIMEOUT = 45.0
"""Seconds that a driver has for one call."""

SOCKET_PATH_LIMIT = 107
"""Bytes of a unix socket's path that Linux can address."""


class PluginError(DraymanError):
    """A driver is not there or failed; `str()` is the kubelet's text."""


@dataclass(frozen=True, slots=True)
class Device:
    """A prepared device as the driver reported it."""

    pool: str
    device: str
    requests: tuple[str, ...]
    cdi_ids: tuple[str, ...]
    share_id: str | None


@dataclass(frozen=True, slots=True)
class ClaimId:
    """A claim as drivers are told of it."""

    namespace: str
    uid: str
    name: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a driver says about one claim."""

    error: str
    devices: tuple[Device, ...] = ()


class Plugin:
    """One registered instance of a driver."""

    def __init__(self, clock: Clock, driver: str, endpoint: str, service: str) -> None:
        self.driver = driver
        self.endpoint = endpoint
        self.service = service
        self._clock = clock
        self._messages, stub = SERVICES[service]
        self._channel = open_channel(endpoint)
        self._stub = stub(self._channel)

    async def prepare(self, claims: list[ClaimId]) -> dict[str, Answer]:
        """Call NodePrepareResources; answers by claim UID. Raises :class:`PluginError`."""
        request = self._messages.NodePrepareResourcesRequest(claims=self._claims(claims))
        response = await self._call("NodePrepareResources", self._stub.NodePrepareResources, request)
        return {uid: Answer(one.error, tuple(map(_device, one.devices))) for uid, one in response.claims.items()}

    async def unprepare(self, claims: list[ClaimId]) -> dict[str, Answer]:
        """Call NodeUnprepareResources; answers by claim UID. Raises :class:`PluginError`."""
        request = self._messages.NodeUnprepareResourcesRequest(claims=self._claims(claims))
        response = await self._call("NodeUnprepareResources", self._stub.NodeUnprepareResources, request)
        return {uid: Answer(one.error) for uid, one in response.claims.items()}

    def close(self) -> None:
        """Drop the connection."""
        self._channel.close()

    def _claims(self, claims: list[ClaimId]) -> list[Any]:
        return [self._messages.Claim(namespace=one.namespace, uid=one.uid, name=one.name) for one in claims]

    async def _call(self, name: str, method: Any, request: Any) -> Any:
        try:
            return await call(self._clock, method, request, CALL_TIMEOUT)
        except grpc.RpcError as error:
            raise PluginError(f"{name}: {_rpc_text(error)}") from error
        except TimeoutError as error:
            raise PluginError(f"{name}: rpc error: code = DeadlineExceeded desc = context deadline exceeded") from error


@dataclass(frozen=True, slots=True)
class _Registration:
    """A registration socket: its identity changes when a restarted driver makes a new one under the same name."""

    path: str
    identity: tuple[int, int]


class PluginRegistry:
    """The drivers whose sockets lie in `directory`, in the order in which they were registered.

    Several instances of one driver may be there at a time, during an update: the last one is used. `on_gone(driver)`
    is called when the last instance of a driver has vanished, `on_registered(driver)` when one has come.
    """

    def __init__(
        self,
        clock: Clock,
        directory: Path,
        *,
        on_registered: Callable[[str], None],
        on_gone: Callable[[str], None],
    ) -> None:
        self._clock = clock
        self._directory = directory
        self._on_registered = on_registered
        self._on_gone = on_gone
        self._plugins: dict[_Registration, Plugin] = {}
        self._refused: set[_Registration] = set()
        self._scanning = asyncio.Lock()

    def get(self, driver: str) -> Plugin:
        """Return the newest instance of `driver`. Raises :class:`PluginError` when it is not registered."""
        for plugin in reversed(self._plugins.values()):
            if plugin.driver == driver:
                return plugin
        raise PluginError(f"DRA driver {driver} is not registered")

    async def scan(self) -> bool:
        """Register drivers whose sockets are new; forget those whose sockets are gone or answer no more.

        Returns False when there are sockets on which nobody listens.
        """
        async with self._scanning:
            found, complete = _registrations(self._directory)
            self._refused &= set(found)
            for registration in [known for known in self._plugins if known not in found]:
                self._forget(registration)
            for registration in found:
                if registration not in self._plugins and registration not in self._refused:
                    await self._register(registration)
            return complete

    def close(self) -> None:
        """Drop all connections."""
        for plugin in self._plugins.values():
            plugin.close()
        self._plugins.clear()

    async def _register(self, registration: _Registration) -> None:
        messages = pluginregistration_v1_pb2
        with open_channel(registration.path) as channel:
            stub = pluginregistration_v1_pb2_grpc.RegistrationStub(channel)
            try:
                info = await call(self._clock, stub.GetInfo, messages.InfoRequest(), CALL_TIMEOUT)
                error = _refusal(info)
                status = messages.RegistrationStatus(plugin_registered=not error, error=error)
                if not error:
                    # Registered before the driver is told: it may publish, and pods may come, at once.
                    service = _service(info.supported_versions)
                    self._plugins[registration] = Plugin(self._clock, info.name, info.endpoint, service)
                await call(self._clock, stub.NotifyRegistrationStatus, status, CALL_TIMEOUT)
            except (grpc.RpcError, TimeoutError) as problem:
                log.warning("registration failed: socket=%s error=%s", registration.path, problem)
                self._forget(registration)
                return
        if error:
            log.warning("plugin refused: socket=%s error=%s", registration.path, error)
            self._refused.add(registration)
        else:
            log.info("driver registered: driver=%s endpoint=%s service=%s", info.name, info.endpoint, service)
            self._on_registered(info.name)

    def _forget(self, registration: _Registration) -> None:
        plugin = self._plugins.pop(registration, None)
        if plugin is None:
            return
        plugin.close()
        log.info("driver instance is gone: driver=%s endpoint=%s", plugin.driver, plugin.endpoint)
        if all(other.driver != plugin.driver for other in self._plugins.values()):
            self._on_gone(plugin.driver)


def open_channel(path: str) -> grpc.Channel:
    """Return a channel to the unix socket `path`.

    The authority is set because servers in Go refuse the one that gRPC makes of a path; subchannels are not shared, or
    a restarted server would be met with the back-off of its predecessor.
    """
    options = [("grpc.default_authority", "localhost"), ("grpc.use_local_subchannel_pool", 1)]
    return grpc.insecure_channel(f"unix:{path}", options=options)


async def call(clock: Clock, method: Any, request: Any, timeout: float) -> Any:
    """Call a unary gRPC `method` without blocking the loop; a virtual clock stands still until the answer is here.

    Raises `grpc.RpcError`, or `TimeoutError` after `timeout` seconds.
    """
    loop = asyncio.get_running_loop()
    answered = asyncio.Event()
    with clock.busy():
        future = method.future(request)
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(answered.set))
        try:
            async with clock.timeout(timeout):
                await answered.wait()
        finally:
            future.cancel()
        return future.result()


def _registrations(directory: Path) -> tuple[list[_Registration], bool]:
    """Return the sockets in `directory` that accept connections, sorted by name, and whether all do."""
    found, complete = [], True
    for path in sorted(directory.iterdir()) if directory.is_dir() else ():
        if not path.is_socket():
            continue
        if len(os.fsencode(path)) > SOCKET_PATH_LIMIT:
            log.warning("socket ignored: path=%s is longer than %d bytes", path, SOCKET_PATH_LIMIT)
        elif identity := _identity(path):
            found.append(_Registration(str(path), identity))
        else:
            complete = False
    return found, complete


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a socket from its successor; None: nobody listens (a killed driver leaves its file)."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
            stat = path.stat()
        except OSError:
            return None
    return stat.st_ino, stat.st_mtime_ns


def _service(offered: Any) -> str:
    return next((service for service in offered if service in SERVICES), "")


def _refusal(info: Any) -> str:
    """Return why the plugin cannot be registered, or nothing."""
    if info.type != "DRAPlugin":
        return f"plugin type `{info.type}` is not supported by the fake kubelet"
    if not info.supported_versions:
        reason = "empty list of supported gRPC services (aka supported versions)"
    elif not _service(info.supported_versions):
        reason = (
            f"none of services supported by the plugin ({_quoted(info.supported_versions)}) "
            f"are supported by the kubelet ({_quoted(SERVICES)})"
        )
    elif len(os.fsencode(info.endpoint)) > SOCKET_PATH_LIMIT:
        return f"endpoint `{info.endpoint}` is longer than {SOCKET_PATH_LIMIT} bytes"
    else:
        return ""
    return f"invalid supported gRPC versions of DRA driver plugin {info.name} at endpoint {info.endpoint}: {reason}"


def _quoted(names: Any) -> str:
    return "[" + " ".join(f'"{name}"' for name in names) + "]"


def _device(message: Any) -> Device:
    share_id = message.share_id if "share_id" in message.DESCRIPTOR.fields_by_name else ""
    return Device(
        pool=message.pool_name,
        device=message.device_name,
        requests=tuple(message.request_names),
        cdi_ids=tuple(message.cdi_device_ids),
        share_id=share_id or None,
    )


def _rpc_text(error: Any) -> str:
    """Return the text that a client in Go makes of a gRPC error."""
    code = "".join(word.capitalize() for word in error.code().name.split("_"))
    return f"rpc error: code = {code} desc = {error.details()}"
