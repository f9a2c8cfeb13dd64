"""The gRPC services of the driver: registration, DRA in two versions, health.

They translate messages and nothing else; the work is :class:`ClaimHandler`'s.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import grpc

from drayman.driver.claims import ClaimReference
from drayman.driver.handler import ClaimHandler, Reply, RequestError
from drayman.driver.proto import (
    dra_health_v1_pb2,
    dra_health_v1_pb2_grpc,
    dra_v1_pb2,
    dra_v1_pb2_grpc,
    dra_v1beta1_pb2,
    dra_v1beta1_pb2_grpc,
    pluginregistration_v1_pb2,
    pluginregistration_v1_pb2_grpc,
)

if TYPE_CHECKING:
    from pathlib import Path

    from drayman.driver.health import Health, Report
    from drayman.driver.sockets import EventLoopBridge

SUPPORTED_VERSIONS = ("v1.DRAPlugin", "v1beta1.DRAPlugin", "v1.DRAResourceHealth")
"""What the driver serves; a kubelet takes the first of each kind that it knows."""


class Registration(pluginregistration_v1_pb2_grpc.RegistrationServicer):
    """Tells a kubelet that looks into the registration folder who we are; `registered` is set when it has taken us."""

    def __init__(self, bridge: EventLoopBridge, driver: str, endpoint: Path, registered: asyncio.Event) -> None:
        self._bridge = bridge
        self._driver = driver
        self._endpoint = endpoint
        self._registered = registered

    def add_to(self, server: grpc.Server) -> None:
        """Serve on `server`."""
        pluginregistration_v1_pb2_grpc.add_RegistrationServicer_to_server(self, server)

    def GetInfo(self, request: Any, context: Any) -> pluginregistration_v1_pb2.PluginInfo:
        """Return name, socket and versions."""
        return pluginregistration_v1_pb2.PluginInfo(
            type="DRAPlugin",
            name=self._driver,
            endpoint=str(self._endpoint),
            supported_versions=SUPPORTED_VERSIONS,
        )

    def NotifyRegistrationStatus(
        self, request: pluginregistration_v1_pb2.RegistrationStatus, context: Any
    ) -> pluginregistration_v1_pb2.RegistrationStatusResponse:
        """Take note of whether the kubelet wants us."""
        if not request.plugin_registered:
            context.abort(grpc.StatusCode.UNKNOWN, f"failed registration process: {request.error}")
        self._bridge.call(self._note, context)
        return pluginregistration_v1_pb2.RegistrationStatusResponse()

    async def _note(self) -> None:
        self._registered.set()


class DRAPlugin:
    """The DRA service in the version of `messages`, a generated module; v1beta1 has no share IDs."""

    def __init__(self, bridge: EventLoopBridge, handler: ClaimHandler, messages: Any) -> None:
        self._bridge = bridge
        self._handler = handler
        self._messages = messages

    def NodePrepareResources(self, request: Any, context: Any) -> Any:
        """Prepare claims; each has its own result or error."""
        references = _references(request)
        try:
            replies = self._bridge.call(lambda: self._handler.prepare(references), context)
        except RequestError as error:
            context.abort(grpc.StatusCode.UNKNOWN, str(error))
        answer = self._messages.NodePrepareResourcesResponse()
        for uid, reply in replies.items():
            answer.claims[uid].CopyFrom(self._prepared(reply))
        return answer

    def NodeUnprepareResources(self, request: Any, context: Any) -> Any:
        """Unprepare claims; each has its own error or none."""
        references = _references(request)
        errors = self._bridge.call(lambda: self._handler.unprepare(references), context)
        answer = self._messages.NodeUnprepareResourcesResponse()
        for uid, error in errors.items():
            answer.claims[uid].CopyFrom(self._messages.NodeUnprepareResourceResponse(error=error))
        return answer

    def _prepared(self, reply: Reply) -> Any:
        answer = self._messages.NodePrepareResourceResponse(error=reply.error)
        for device in reply.devices:
            message = answer.devices.add(
                request_names=[device.request],
                pool_name=device.pool,
                device_name=device.device,
                cdi_device_ids=device.cdi_ids,
            )
            if device.share_id and "share_id" in message.DESCRIPTOR.fields_by_name:
                message.share_id = device.share_id
        return answer


def add_dra_plugin(server: grpc.Server, bridge: EventLoopBridge, handler: ClaimHandler) -> None:
    """Serve DRA on `server`, in every version."""
    v1: Any = DRAPlugin(bridge, handler, dra_v1_pb2)
    v1beta1: Any = DRAPlugin(bridge, handler, dra_v1beta1_pb2)
    dra_v1_pb2_grpc.add_DRAPluginServicer_to_server(v1, server)
    dra_v1beta1_pb2_grpc.add_DRAPluginServicer_to_server(v1beta1, server)


class ResourceHealth(dra_health_v1_pb2_grpc.DRAResourceHealthServicer):
    """Streams the health of all devices: at once, on every change, and again before a report gets old."""

    def __init__(self, bridge: EventLoopBridge, health: Health) -> None:
        self._bridge = bridge
        self._health = health

    def add_to(self, server: grpc.Server) -> None:
        """Serve on `server`."""
        dra_health_v1_pb2_grpc.add_DRAResourceHealthServicer_to_server(self, server)

    def NodeWatchResources(self, request: Any, context: Any) -> Iterator[dra_health_v1_pb2.NodeWatchResourcesResponse]:
        """Yield reports until the kubelet goes away."""
        version: int | None = None
        while True:
            report = self._bridge.call(functools.partial(self._health.report, version), context)
            version = report.version
            yield _health_message(report)


def _health_message(report: Report) -> dra_health_v1_pb2.NodeWatchResourcesResponse:
    answer = dra_health_v1_pb2.NodeWatchResourcesResponse()
    for one in report.devices:
        answer.devices.add(
            device=dra_health_v1_pb2.DeviceIdentifier(pool_name=one.pool, device_name=one.device),
            health=dra_health_v1_pb2.HEALTHY if one.healthy else dra_health_v1_pb2.UNHEALTHY,
            last_updated_time=int(report.time.timestamp()),
            message=one.message,
        )
    return answer


def _references(request: Any) -> list[ClaimReference]:
    return [ClaimReference(claim.namespace, claim.name, claim.uid) for claim in request.claims]
