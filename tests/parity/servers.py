"""The two servers: the fake one in this process, and upstream's kube-apiserver with nothing but etcd."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from typing import TYPE_CHECKING

from tests.parity.api import Api, Object, Sequence

from drayman.clock import RealClock, VirtualClock, virtual_loop
from drayman.kube.http import Request
from drayman.kube.sockets import SocketTransport
from drayman.testing.apiserver import APIServer, InProcessTransport
from drayman.testing.clusters import programs
from drayman.testing.clusters.local.controlplane import ControlPlane, Layout, free_port
from drayman.testing.clusters.local.folder import cluster_folder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from drayman.kube.config import ServerConfig
    from drayman.kube.http import Transport
    from drayman.testing.clusters.local.processes import Processes

PROGRAMS = {name: programs.CONTROL_PLANE[name] for name in ("etcd", "kube-apiserver")}

LOG_SIZE = 200
HISTORY = 10
"""How many writes are forgotten before the sequences start."""

WITHOUT = ("DefaultTolerationSeconds", "NodeRestriction", "ServiceAccount", "TaintNodesByCondition")
"""Admission plugins that the fake server does not have: they need controllers, or add to every pod and node."""


@contextlib.asynccontextmanager
async def real() -> AsyncIterator[Transport]:
    """Start the real server, and yield how to reach it."""
    paths = programs.find(PROGRAMS)
    await programs.check_versions(paths)
    clock = RealClock()
    async with cluster_folder(clock, None) as (folder, processes):
        flags = ("--enable-admission-plugins=", f"--disable-admission-plugins={','.join(WITHOUT)}")
        control_plane = ControlPlane(Layout(folder, paths, {}, free_port(), flags), clock, {})
        await control_plane.start_etcd(processes)
        await _make_history(processes, control_plane.etcd)
        await control_plane.start_api_server(processes)
        transport = SocketTransport(control_plane.administrator)
        try:
            yield transport
        finally:
            await transport.close()


async def _make_history(processes: Processes, etcd: ServerConfig) -> None:
    """Let etcd count some writes before the API server looks: versions from before are too old for it."""
    transport = SocketTransport(etcd)
    body = json.dumps({"key": base64.b64encode(b"history").decode()}).encode()
    put = Request("POST", "/v3/kv/put", (), {"content-type": "application/json"}, body)

    async def written() -> bool:
        try:
            answer = await transport.request(put)
        except ConnectionError:
            return False
        return answer.status == 200 and int(json.loads(answer.body)["header"]["revision"]) > HISTORY

    try:
        await processes.until("etcd did not start", written, 60.0)
    finally:
        await transport.close()


def fake_answers(name: str, sequence: Sequence) -> list[Object]:
    """Return what a new fake server answers to a sequence, in virtual time."""
    clock = VirtualClock()

    async def run() -> list[Object]:
        transport = InProcessTransport(APIServer(clock=clock, log_size=LOG_SIZE))
        for number in range(LOG_SIZE + 1):
            await transport.request(_write(number))
        task = asyncio.create_task(answers(transport, name, sequence))
        await clock.settle()
        return await task

    with contextlib.closing(virtual_loop(clock)) as loop:
        return loop.run_until_complete(run())


def _write(number: int) -> Request:
    body = json.dumps({"metadata": {"name": f"history-{number}"}}).encode()
    headers = {"content-type": "application/json"}
    return Request("POST", "/api/v1/namespaces/default/configmaps", (), headers, body)


async def answers(transport: Transport, name: str, sequence: Sequence) -> list[Object]:
    """Return what a server answers to a sequence."""
    api = Api(transport, name)
    await api.prepare()
    await sequence(api)
    return api.answers
