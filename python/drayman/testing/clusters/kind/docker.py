"""The Docker daemon that the nodes run on: whether it can, which images it has, what a cluster has there."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from drayman.errors import InputError
from drayman.testing.clusters import programs
from drayman.testing.clusters.kind.commands import CommandError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drayman.testing.clusters.kind.commands import Commands

OWN_NODE = "io.drayman.node"
"""Label of node images of ours: they have no network plugin and no DNS of kind's."""

_CLUSTER = "io.x-k8s.kind.cluster"
"""Label that kind gives its containers."""

_WHERE = ("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH")
_UNPACKED = "debian/docker/usr/bin"
"""Below the cache, where `hack/kind/dockerd` unpacks Docker on a machine without."""

_START = 'start Docker; where there is none, `eval "$(hack/kind/dockerd start)"` starts a private one'
_ASKED = "cat /kind/version; echo; containerd --version"
_VERSION = re.compile(r"\bv?(\d+\.\d+\.\d+)")
_PULL_SECONDS = 1200.0
_PROBE_SECONDS = 120.0
_REMOVE_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class NodeImage:
    """An image to make nodes of, with the versions of Kubernetes and containerd in it.

    `is_ours` says that it comes without network plugin and DNS.
    """

    name: str
    kubernetes: str
    containerd: str
    is_ours: bool


def where() -> dict[str, str]:
    """Return the variables that say which daemon is meant."""
    return {name: os.environ[name] for name in _WHERE if name in os.environ}


def there(noted: Mapping[str, str]) -> dict[str, str | None]:
    """Return the variables for the daemon that was meant when `noted` was written, whichever is meant now."""
    return {name: noted.get(name) for name in _WHERE}


class Docker:
    """The client of a daemon. Raises :class:`~drayman.errors.InputError` where there is no client."""

    def __init__(self, commands: Commands) -> None:
        unpacked = programs.cache().parent / _UNPACKED
        found = shutil.which("docker") or shutil.which("docker", path=unpacked)
        if found is None:
            raise InputError("`docker` is not on the PATH, and kind's nodes are its containers", hint=_START)
        self._program = Path(found)
        self._commands = commands
        commands.extend_path(self._program.parent)  # for kind

    async def cgroups(self) -> str:
        """Return the daemon's version of control groups, `1` or `2`.

        Raises :class:`~drayman.errors.InputError` when no daemon answers.
        """
        try:
            told = json.loads(await self._run("info", "--format", "{{json .}}"))
        except CommandError as error:
            raise _unreachable(error.said) from error
        except ValueError as error:
            raise InputError("`docker info` does not answer with JSON") from error
        if told.get("ServerErrors"):  # older clients succeed all the same
            raise _unreachable("\n".join(told["ServerErrors"]))
        return str(told.get("CgroupVersion") or "1")

    async def has(self, image: str) -> bool:
        """Return whether the daemon has an image."""
        try:
            await self._run("image", "inspect", "--format", "{{.Id}}", image)
        except CommandError:
            return False
        return True

    async def pull(self, image: str) -> None:
        """Get an image from its registry. Raises :class:`CommandError` when that fails."""
        await self._run("pull", "--quiet", image, seconds=_PULL_SECONDS)

    async def node(self, image: str) -> NodeImage:
        """Return what an image makes nodes of, having run a privileged container.

        Raises :class:`~drayman.errors.InputError` when it is no node image, or no such container can run.
        """
        label = await self._run("image", "inspect", "--format", f'{{{{index .Config.Labels "{OWN_NODE}"}}}}', image)
        options = ("--rm", "--privileged", "--network", "none", "--entrypoint", "sh")
        try:
            said = await self._run("run", *options, image, "-ec", _ASKED, seconds=_PROBE_SECONDS)
        except CommandError as error:
            if "/kind/version" in error.said or "executable file not found" in error.said:
                raise InputError(f"the image `{image}` is no node image of kind: it has no `/kind/version`") from error
            raise InputError(
                f"the Docker daemon cannot run privileged containers, which kind's nodes are:\n{error.said}",
                hint="use a daemon that can (not rootless, not in a container that lacks rights); "
                '`eval "$(hack/kind/dockerd start)"` starts one whose containers do without what this machine lacks',
            ) from error
        versions = _VERSION.findall(said)
        if len(versions) < len(("kubernetes", "containerd")):
            raise InputError(f"the image `{image}` does not say which versions are in it:\n{said.strip()}")
        return NodeImage(image, versions[0], versions[1], label.strip() == "true")

    async def containers(self, cluster: str) -> list[str]:
        """Return the names of the containers of a kind cluster, also of those that have stopped."""
        listed = await self._run("ps", "--all", "--filter", f"label={_CLUSTER}={cluster}", "--format", "{{.Names}}")
        return sorted(listed.split())

    async def remove_all(self, cluster: str) -> None:
        """Remove the containers of a kind cluster, with their volumes, until there are none."""
        while containers := await self.containers(cluster):
            await self._run("rm", "--force", "--volumes", *containers, seconds=_REMOVE_SECONDS)

    async def execute(self, container: str, *command: str, stdin: str | None = None) -> str:
        """Run a command in a container and return its output."""
        interactive = () if stdin is None else ("--interactive",)
        return await self._run("exec", *interactive, container, *command, stdin=stdin)

    async def _run(self, *arguments: str, seconds: float = 60.0, stdin: str | None = None) -> str:
        return await self._commands.run(self._program, *arguments, seconds=seconds, stdin=stdin)


def _unreachable(said: str) -> InputError:
    if "permission denied" in said.lower():
        return InputError(f"the Docker daemon does not let you in:\n{said}", hint="be root, or in the group `docker`")
    return InputError(f"no Docker daemon answers:\n{said}", hint=_START)
