"""Changes to what helm has installed, for the time of a test."""

from __future__ import annotations

import asyncio
import contextlib
import os
from importlib import resources
from typing import TYPE_CHECKING

from drayman.testing.clusters import programs, registry
from drayman.testing.clusters.kind.install import NAMESPACE, Installer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


class Release:
    """The release `name` in a running cluster."""

    def __init__(self, name: str, cluster: str) -> None:
        self._name = name
        self._place = ("--namespace", NAMESPACE, "--kubeconfig", registry.kubeconfig(cluster))
        self._environment = {**os.environ, **Installer.environment(registry.folder(cluster))}

    @contextlib.asynccontextmanager
    async def changed(self, **values: object) -> AsyncIterator[None]:
        """Change values of the release; afterwards it has those again that it had."""
        settings = [f"--set={name}={value}" for name, value in values.items()]
        with resources.as_file(resources.files("drayman.manifests") / "charts" / self._name) as chart:
            await self._helm("upgrade", self._name, chart, "--reuse-values", *settings)
        try:
            yield
        finally:
            await self._helm("rollback", self._name)

    async def _helm(self, *arguments: str | Path) -> None:
        process = await asyncio.create_subprocess_exec(
            programs.find({"helm": "helm"})["helm"],
            *arguments,
            *self._place,
            env=self._environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate()
        assert process.returncode == 0, f"helm {arguments[0]}: {output.decode()}"
