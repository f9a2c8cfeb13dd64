"""Puts a run into a cluster that is there, holds it, and takes it out again, however it ends."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import random
import socket
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from drayman.clock import RealClock
from drayman.errors import APIStatusError, DraymanError, InputError
from drayman.kube import config, connect
from drayman.kube.resources import NAMESPACES, PODS
from drayman.testing.clusters import live, registry
from drayman.testing.clusters.existing import accounts, driver, plan, removal
from drayman.testing.clusters.existing.renaming import DRIVER
from drayman.testing.clusters.existing.run import HOST, STARTED, Run, new
from drayman.testing.clusters.existing.survey import survey
from drayman.testing.clusters.local.controlplane import gate_flags
from drayman.testing.clusters.local.folder import cluster_folder
from drayman.timestamps import rfc3339

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from drayman.clock import Clock
    from drayman.kube.client import Client
    from drayman.kube.config import ServerConfig
    from drayman.testing.clusters.existing.request import Request
    from drayman.testing.clusters.existing.survey import Survey
    from drayman.testing.parts import Options

log = logging.getLogger(__name__)

BACKEND = "existing"
_AGENT = "drayman"


@contextlib.asynccontextmanager
async def running(request: Request, options: Options, *, logs: Path | None = None) -> AsyncIterator[ServerConfig]:
    """Yield how the cluster is reached while the run is in it; all of the run is removed with the context.

    Raises :class:`~drayman.errors.InputError` with everything that is missing, before anything is created.
    """
    server = config.load(request.kubeconfig, context=request.context)
    clock = RealClock()
    async with connect.connection(server, user_agent=_AGENT) as client:
        await remove_killed(client, clock, server)
        found = await survey(client, request)
        found.refuse()
        for other in found.runs:
            log.warning("another run is in the cluster: %s", other)
        run = new(random.SystemRandom())
        _note(request, run, server, found)
        try:
            installed = _Installed(client, clock, run, request, found)
            async with installed.started(server, options, logs):
                yield server
        finally:
            await removal.everything(client, clock, run)
            registry.erase_note(request.name)


async def planned(request: Request) -> list[str]:
    """Return what a run would create and what was checked for it, in lines; nothing is written.

    Raises :class:`~drayman.errors.InputError` with everything that is missing.
    """
    server = config.load(request.kubeconfig, context=request.context)
    async with connect.connection(server, user_agent=_AGENT) as client:
        found = await survey(client, request)
    found.refuse()
    return list(plan.lines(server.url, request, found))


async def remove_killed(client: Client, clock: Clock, server: ServerConfig) -> None:
    """Remove what runs of ours left in this cluster whose process was killed."""
    for name in registry.left_behind(BACKEND):
        with contextlib.suppress(InputError), registry.reserved(name):  # one that is starting has its name reserved
            left = registry.noted(name)
            if left is not None and left["server"] == server.url:
                log.warning("removing what run %s left, whose process was killed", left["run"])
                await removal.everything(client, clock, Run(left["run"]))
                registry.erase_note(name)


async def remove_left(name: str, kubeconfig: str | None, context: str | None) -> None:
    """Remove what the run of the cluster `name` left, whose process was killed.

    It is reached as it was then, unless a kubeconfig is given.
    """
    left = registry.noted(name)
    assert left is not None
    given = kubeconfig is not None or context is not None
    server = config.load(kubeconfig if given else str(registry.kubeconfig(name)), context=context)
    with registry.reserved(name):
        await remove(Run(left["run"]), server)
        registry.erase_note(name)


async def remove(run: Run, server: ServerConfig) -> None:
    """Remove all that carries the label of a run."""
    async with connect.connection(server, user_agent=_AGENT) as client:
        await removal.everything(client, RealClock(), run)


def _note(request: Request, run: Run, server: ServerConfig, found: Survey) -> None:
    """Write down what the run is, before it is in the cluster: for its removal after a crash, and for the scenarios."""
    place = registry.kubeconfig(request.name)
    place.parent.mkdir(parents=True, exist_ok=True)
    config.write(place, server, name=f"drayman-{request.name}")
    facts = {
        "backend": BACKEND,
        "run": run.id,
        "server": server.url,
        "kubernetes": found.kubernetes,
        "nodes": ",".join(found.nodes),
        "narrowed": "yes" if found.narrowed else "",
        "scheduler": run.scheduler if request.scheduler else "default-scheduler",
        "driver": run.driver if request.driver_image else DRIVER,
        "image": request.test_image,
    }
    registry.note(request.name, facts)


class _Installed:
    """What a run has in the cluster while it is there."""

    def __init__(self, client: Client, clock: Clock, run: Run, request: Request, found: Survey) -> None:
        self._client = client
        self._clock = clock
        self._run = run
        self._request = request
        self._found = found

    @contextlib.asynccontextmanager
    async def started(self, server: ServerConfig, options: Options, logs: Path | None) -> AsyncIterator[None]:
        """Install everything in its order; what scenarios create is removed before that."""
        run = self._run
        notes = {HOST: f"{socket.gethostname()} (process {os.getpid()})", STARTED: rfc3339(self._clock.now())}
        labels = {**run.labels, **(driver.PRIVILEGED if self._request.driver_image else {})}
        metadata = {"name": run.namespace, "labels": labels, "annotations": notes}
        await self._client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        if self._request.scenarios:
            await self._try_pod()
        async with contextlib.AsyncExitStack() as stack:
            if self._request.scheduler:
                await stack.enter_async_context(self._scheduler(server, options, logs))
            if self._request.driver_image:
                await self._install_driver()
            with self._told():
                try:
                    yield
                finally:
                    await removal.played(self._client, self._clock, run)

    async def _try_pod(self) -> None:
        """Raise :class:`~drayman.errors.DraymanError` with the server's reason where pods of scenarios are refused."""
        container = {"name": "main", "image": self._request.test_image, "command": ["sh", "-c", "env; sleep 3600"]}
        metadata = {"name": "probe", "namespace": self._run.namespace, "labels": self._run.labels}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}
        try:
            await live.when_accounts_are_there(self._clock, lambda: self._client.create(PODS, pod, dry_run=True))
        except APIStatusError as error:
            raise DraymanError(f"pods of scenarios are refused in a new namespace: {error}") from error

    async def _install_driver(self) -> None:
        request, nodes = self._request, self._found.nodes
        wanted = driver.objects(self._run, request.driver_image, request.devices, nodes)
        await driver.install(self._client, self._clock, self._run, wanted, nodes)

    @contextlib.asynccontextmanager
    async def _scheduler(self, server: ServerConfig, options: Options, logs: Path | None) -> AsyncIterator[None]:
        """Run our scheduler beside the cluster, with a service account of its own where the server makes tokens."""
        if self._found.accounts:
            name = await accounts.create(self._client, self._run, "scheduler")
            token = await accounts.token(self._client, self._run, name)
            server = replace(server, token=token, token_file=None, certificate=None, key=None, password=None)
        async with cluster_folder(self._clock, logs) as (folder, processes):
            kubeconfig = folder / "kubeconfig"
            config.write(kubeconfig, server, name="drayman-scheduler")
            configuration = {
                "apiVersion": "kubescheduler.config.k8s.io/v1",
                "kind": "KubeSchedulerConfiguration",
                "profiles": [{"schedulerName": self._run.scheduler}],
            }
            (folder / "scheduler.json").write_text(json.dumps(configuration))
            command: list[str | Path] = [sys.executable, "-m", "drayman", "scheduler", "--kubeconfig", kubeconfig]
            command += ["--config", folder / "scheduler.json", "--compatibility", options.compatibility]
            command += ["--kubernetes-version", self._found.kubernetes, *gate_flags(options.feature_gates)]
            await processes.start("drayman-scheduler", command, revived=True)
            yield

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Say what is there, and afterwards that it is being removed: that may take a while."""
        run = self._run
        served = f", for pods with `schedulerName: {run.scheduler}`" if self._request.scheduler else ""
        print(f"run `{run.id}` is in the cluster{served}", flush=True)
        try:
            yield
        finally:
            print(f"removing run `{run.id}`", flush=True)
