"""Puts a kind cluster together: nodes, network, images, scheduler and driver; and takes it away."""

from __future__ import annotations

import contextlib
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import drayman
from drayman.clock import RealClock
from drayman.errors import DraymanError, InputError, UnreachableError
from drayman.kube import config as kubeconfigs
from drayman.kube import connect
from drayman.kube.resources import NODES
from drayman.testing.clusters import programs, registry
from drayman.testing.clusters.kind import config, images, install, logs, network, versions
from drayman.testing.clusters.kind.commands import CommandError, Commands, to_the_end
from drayman.testing.clusters.kind.docker import Docker, there, where
from drayman.testing.clusters.live import Live
from drayman.testing.clusters.local.controlplane import check_port
from drayman.testing.clusters.local.images import TESTBOX
from drayman.testing.parts import ADMINISTRATOR

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from drayman.kube.client import Client
    from drayman.kube.config import ServerConfig
    from drayman.testing.parts import Options

log = logging.getLogger(__name__)

BACKEND = "kind"
PROGRAMS = {"kind": "kind", "helm": "helm"}

PREFIX = "drayman-"
"""Before the name of a cluster, what kind calls it."""

_LONGEST_NODE = 63
_CREATE_SECONDS = 900.0
_READY_SECONDS = 240.0
_LATE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Setup:
    """What a cluster is started with.

    A cluster that is to `keep` stays when the context ends, once it has become ready.
    """

    name: str
    port: int = 0
    keep: bool = False
    logs: Path | None = None

    @property
    def cluster(self) -> str:
        """What kind calls the cluster."""
        return PREFIX + self.name


@contextlib.asynccontextmanager
async def running(options: Options, setup: Setup) -> AsyncIterator[ServerConfig]:
    """Yield how the administrator reaches a cluster with scheduler and driver; it is deleted with the context.

    Raises :class:`~drayman.errors.InputError` when something is missing, and :class:`~drayman.errors.DraymanError`
    when it does not become ready; then logs are kept, and the cluster is deleted.
    """
    version = versions.find(options.kubernetes_version)
    _check_name(setup.cluster)
    if setup.port:
        check_port(setup.port)
    with logs.folder(setup.logs) as place:
        folder = registry.folder(setup.name)
        commands = Commands(place, {"KIND_EXPERIMENTAL_PROVIDER": "docker", **install.Installer.environment(folder)})
        docker = Docker(commands)
        paths = programs.find(PROGRAMS)
        cgroups = await docker.cgroups()
        await programs.check_versions(paths)
        await remove_abandoned()
        if await docker.containers(setup.cluster):
            raise InputError(
                f"a kind cluster `{setup.cluster}` is there that this user has not started with drayman",
                hint=f"choose another name, or end that one: kind delete cluster --name {setup.cluster}",
            )
        image = await images.node(docker, version)
        pods = [install.DRIVER, *([install.SCHEDULER] if options.scheduler else [])]
        await images.check(docker, _images(pods, testbox=not image.is_ours))
        gates = options.feature_gates
        wanted = config.Wanted(setup.cluster, image, version, options.nodes, setup.port, cgroups, gates)
        async with _Cluster(options, setup, wanted, commands, docker, paths).started(pods) as server:
            yield server


async def remove(name: str) -> None:
    """Remove what the cluster `name` has in Docker, if it is noted to have anything.

    Raises :class:`~drayman.errors.DraymanError` when that is impossible.
    """
    noted = registry.noted(name)
    if noted is None:
        return
    with logs.folder(None) as place:
        commands = Commands(place, there(noted))
        try:
            docker = Docker(commands)
            await docker.cgroups()
        except InputError as error:
            error.message = f"cluster `{name}` cannot be removed: {error.message}"
            raise
        await _remove(docker, name, noted["cluster"])
        logs.discard(noted.get("logs"))


async def remove_abandoned() -> None:
    """Remove the clusters that were started here and killed; what cannot be removed is left for another time."""
    for name in registry.left_behind(BACKEND):
        try:
            with registry.reserved(name):
                log.warning("removing cluster `%s`, which was killed", name)
                await remove(name)
        except DraymanError as error:
            log.warning("%s", error)


async def _remove(docker: Docker, name: str, cluster: str) -> None:
    await docker.remove_all(cluster)
    registry.erase_note(name)


class _Cluster:
    def __init__(
        self,
        options: Options,
        setup: Setup,
        wanted: config.Wanted,
        commands: Commands,
        docker: Docker,
        paths: dict[str, Path],
    ) -> None:
        self._options = options
        self._setup = setup
        self._wanted = wanted
        self._commands = commands
        self._docker = docker
        self._paths = paths
        self._clock = RealClock()
        self._start = self._clock.monotonic()
        self._folder = registry.folder(setup.name)
        self._kubeconfig = self._folder / "kind.kubeconfig"
        self._client: Client | None = None
        self._is_creating = False

    @contextlib.asynccontextmanager
    async def started(self, pods: list[str]) -> AsyncIterator[ServerConfig]:
        """Start everything in its order; yield how the administrator reaches the API server."""
        kept = {} if self._setup.logs else {"logs": str(self._commands.logs)}
        registry.note(self._setup.name, {"backend": BACKEND, "cluster": self._wanted.cluster, **kept, **where()})
        stays = failed = False
        async with contextlib.AsyncExitStack() as stack:
            try:
                server = await self._create()
                self._client = await stack.enter_async_context(connect.connection(server, user_agent=ADMINISTRATOR))
                live = Live(self._client, self._clock)
                await self._prepare_nodes(live)
                await self._install(live, pods)
                stays = self._setup.keep
                yield server
            except Exception:
                failed = True
                raise
            finally:
                try:
                    if failed or self._setup.logs:
                        await logs.export(self._commands, self._paths["kind"], self._wanted.cluster, self._client)
                finally:
                    if not stays:
                        await to_the_end(self._delete())

    async def _create(self) -> ServerConfig:
        path = self._folder / "kind.yaml"
        path.write_text(config.text(self._wanted))
        image = self._wanted.image
        self._say(f"creating nodes of {image.name} (Kubernetes {image.kubernetes})")
        # Nodes that do not start are kept until their logs are.
        chosen = ("--name", self._wanted.cluster, "--config", path, "--kubeconfig", self._kubeconfig, "--retain")
        self._is_creating = True
        try:
            await self._commands.run(self._paths["kind"], "create", "cluster", *chosen, seconds=_CREATE_SECONDS)
        except CommandError as error:
            raise await self._not_ready(str(error)) from error
        self._is_creating = False
        self._say("the API server answers")
        return kubeconfigs.load(self._kubeconfig)

    async def _prepare_nodes(self, live: Live) -> None:
        if self._wanted.image.is_ours:
            await self._until(live, network.lacks_range)
            await network.connect(self._docker, await _nodes(live))
        await self._until(live, logs.nodes_trouble)
        self._say("the nodes are ready")

    async def _install(self, live: Live, releases: list[str]) -> None:
        nodes = sorted(node["metadata"]["name"] for node in await _nodes(live) if _has_devices(node))
        loader = images.Loader(self._commands, self._docker, self._paths["kind"], self._wanted.cluster)
        await loader.load(_images(releases, testbox=True), nodes)
        self._say("the nodes have the images")
        installer = install.Installer(self._commands, self._paths["helm"], self._kubeconfig, self._folder)
        for release in releases:
            await installer.install(release, install.values(release, self._options, self._wanted.version))
        await install.until_ready(live, releases, len(nodes))
        self._say(f"{' and '.join(releases)} are ready" if len(releases) > 1 else f"{releases[0]} is ready")

    async def _until(self, live: Live, unmet: Callable[[list[Any]], str | None]) -> None:
        """Wait for something about all nodes. Raises :class:`DraymanError` with what the nodes complain of."""

        async def asked() -> str | None:
            try:
                nodes = await _nodes(live)
            except UnreachableError as error:
                return str(error)
            expected = self._wanted.workers + 1
            return unmet(nodes) if len(nodes) == expected else f"{len(nodes)} of {expected} nodes have registered"

        try:
            await live.wait(asked, _READY_SECONDS)
        except TimeoutError as error:
            raise await self._not_ready(str(error)) from error

    async def _not_ready(self, said: str) -> DraymanError:
        complaints = await logs.journal(self._docker, await self._docker.containers(self._wanted.cluster))
        error = DraymanError("\n".join(filter(None, [said, complaints])))
        if "too many open files" in complaints or "inotify" in complaints:
            error.hint = "sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512"
        return error

    async def _delete(self) -> None:
        print(f"deleting the kind cluster {self._wanted.cluster}", flush=True)
        if self._is_creating:
            # Docker goes on with what it was asked for by a client that has gone.
            await self._docker.remove_all(self._wanted.cluster)
            await self._clock.sleep(_LATE_SECONDS)
        await _remove(self._docker, self._setup.name, self._wanted.cluster)

    def _say(self, what: str) -> None:
        print(f"{what} after {self._clock.monotonic() - self._start:.0f} s", flush=True)


async def _nodes(live: Live) -> list[Any]:
    return list((await live.client.list(NODES))[0])


def _has_devices(node: Any) -> bool:
    return config.DEVICES_LABEL in node["metadata"].get("labels", {})


def _images(releases: list[str], *, testbox: bool) -> list[str]:
    """Return the images that nodes get from the daemon."""
    parts = [images.of_part(release.removeprefix("drayman-"), drayman.__version__) for release in releases]
    return [*parts, *([TESTBOX] if testbox else [])]


def _check_name(cluster: str) -> None:
    """Raise :class:`~drayman.errors.InputError` for a name with which nodes could not be called after it."""
    room = _LONGEST_NODE - len(f"{PREFIX}-control-plane")
    if len(cluster) > room + len(PREFIX):
        raise InputError(f"`{cluster.removeprefix(PREFIX)}`: the name of a kind cluster has {room} characters at most")
