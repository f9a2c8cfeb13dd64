"""The images of a cluster: that of its nodes, and those that its pods run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from drayman.errors import InputError
from drayman.testing.clusters.kind.commands import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from drayman.testing.clusters.kind.commands import Commands
    from drayman.testing.clusters.kind.docker import Docker, NodeImage
    from drayman.testing.clusters.kind.versions import Version

CHOSEN = "DRAYMAN_KIND_IMAGE"
"""Variable that names the node image."""

OWN_NODE = "docker.io/drayman/node:v1.37.2"
"""The node image that `hack/kind/node-image` makes."""

_LISTED = ("ctr", "--namespace", "k8s.io", "images", "list", "--quiet")
_LOAD_SECONDS = 600.0


def of_part(part: str, version: str) -> str:
    """Return the image of `scheduler` or `driver`, of a version of drayman."""
    return f"docker.io/drayman/{part}:{version}"


async def node(docker: Docker, version: Version) -> NodeImage:
    """Return the image for the nodes: the chosen one, else ours where it is there and fits, else the public one.

    It is pulled where it is missing. Raises :class:`~drayman.errors.InputError` when it cannot be had or does not fit.
    """
    chosen = os.environ.get(CHOSEN)
    own = OWN_NODE.partition(":v")[2].startswith(f"{version.kubernetes}.")
    is_there = own and not chosen and await docker.has(OWN_NODE)
    name = chosen or (OWN_NODE if is_there else version.image)
    if not is_there and not await docker.has(name):
        print(f"pulling the node image {name}", flush=True)
        try:
            await docker.pull(name)
        except CommandError as error:
            others = "hack/kind/node-image makes one here, " if own else ""
            raise InputError(
                f"the node image `{name}` is not there, and cannot be pulled:\n{error.said}",
                hint=f"{others}{CHOSEN}=IMAGE names another",
            ) from error
    image = await docker.node(name)
    if not image.kubernetes.startswith(f"{version.kubernetes}."):
        raise InputError(
            f"the node image `{name}` has Kubernetes {image.kubernetes}, not {version.kubernetes}",
            hint=f"--kubernetes-version {image.kubernetes.rpartition('.')[0]}, or another {CHOSEN}",
        )
    return image


async def check(docker: Docker, wanted: Iterable[str]) -> None:
    """Raise :class:`~drayman.errors.InputError` when the daemon lacks images that nodes are to get from it."""
    missing = [image for image in wanted if not await docker.has(image)]
    if missing:
        listed = ", ".join(f"`{image}`" for image in missing)
        raise InputError(f"images are missing: {listed}", hint="hack/kind/images builds them")


class Loader:
    """Brings images from the daemon to the nodes of a cluster."""

    def __init__(self, commands: Commands, docker: Docker, kind: Path, cluster: str) -> None:
        self._commands = commands
        self._docker = docker
        self._kind = kind
        self._cluster = cluster

    async def load(self, images: Iterable[str], nodes: Iterable[str]) -> None:
        """Give the nodes those of the images that one of them lacks."""
        names = list(nodes)
        present = [set((await self._docker.execute(name, *_LISTED)).split()) for name in names]
        lacking = [image for image in images if not all(image in known for known in present)]
        if lacking:
            options = ("--name", self._cluster, "--nodes", ",".join(names))
            await self._commands.run(self._kind, "load", "docker-image", *options, *lacking, seconds=_LOAD_SECONDS)
