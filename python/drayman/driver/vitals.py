"""What probes ask of a driver: do its own sockets answer, and can pods use it.

The sockets are called from outside, as the kubelet does: a server whose threads hang, or whose socket somebody has
removed, is found dead that way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import grpc

from drayman.driver.proto import dra_v1_pb2, dra_v1_pb2_grpc, pluginregistration_v1_pb2, pluginregistration_v1_pb2_grpc
from drayman.serving import Check, Probes

if TYPE_CHECKING:
    from pathlib import Path

    from drayman.clock import Clock
    from drayman.driver.driver import Driver

CALL_SECONDS = 2.0
"""How long one call to an own socket may take: both together have to end before the probe gives up, unheard."""

# Channels of one process share connections otherwise, and one that is left over hides a socket that is gone.
_OWN_CONNECTION = [("grpc.use_local_subchannel_pool", 1)]


def probes(driver: Driver, clock: Clock) -> Probes:
    """Return the probes of `driver`."""

    def check(name: str, path: Path, call: Callable[[grpc.Channel], object]) -> Check:
        async def test() -> str:
            with clock.busy():
                return await asyncio.to_thread(_answers, path, call)

        return Check(name, test)

    return Probes(
        live=[
            check("plugin", driver.plugin_socket, _prepare_nothing),
            check("registration", driver.registration_socket, _get_info),
        ],
        ready=[
            Check("kubelet", lambda: "" if driver.registered.is_set() else "no kubelet has registered the driver"),
            Check("slices", lambda: "" if driver.published else "the slices are not published"),
        ],
    )


def _answers(path: Path, call: Callable[[grpc.Channel], object]) -> str:
    try:
        with grpc.insecure_channel(f"unix:{path}", options=_OWN_CONNECTION) as channel:
            call(channel)
    except grpc.RpcError as error:
        failed: Any = error  # a grpc.Call, too, which the types do not say
        return f"{path}: {failed.details()}"
    return ""


def _prepare_nothing(channel: grpc.Channel) -> None:
    """Go through the service and the event loop behind it; without claims, nothing is prepared."""
    stub: Any = dra_v1_pb2_grpc.DRAPluginStub(channel)
    stub.NodePrepareResources(dra_v1_pb2.NodePrepareResourcesRequest(), timeout=CALL_SECONDS)


def _get_info(channel: grpc.Channel) -> None:
    stub: Any = pluginregistration_v1_pb2_grpc.RegistrationStub(channel)
    stub.GetInfo(pluginregistration_v1_pb2.InfoRequest(), timeout=CALL_SECONDS)
