"""One way to run every kind of cluster: a new kind is a case here."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drayman.errors import InputError
from drayman.testing.clusters import registry

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from drayman.kube.config import ServerConfig
    from drayman.testing.clusters import existing
    from drayman.testing.parts import Options


@dataclass(frozen=True, slots=True)
class Choice:
    """A kind of cluster: `backend` is `fake`, `local`, `kind` or `existing`.

    `scheduler` is `drayman`, `upstream`, `both` or `none`. `kubelet` is `real`, `fake`, or `auto`: real where that is
    possible. What processes say is kept in `logs`, if given.
    `request` says what is wanted of a cluster that is there. A cluster of containers is called after `name`, and may be
    to `keep`: then it stays when its process ends.
    """

    backend: str
    scheduler: str = "drayman"
    kubelet: str = "auto"
    port: int = 0
    logs: Path | None = None
    request: existing.Request | None = None
    name: str = ""
    keep: bool = False

    @property
    def can_stay(self) -> bool:
        """Whether it needs no process of ours."""
        return self.backend == "kind"

    @property
    def stays(self) -> bool:
        """Whether it goes on when its process ends."""
        return self.keep and self.can_stay

    @property
    def is_real(self) -> bool:
        """Whether its nodes have real kubelets."""
        return self.backend == "kind" or self._is_real_here

    @property
    def _is_real_here(self) -> bool:
        """Whether this machine is its node."""
        return self.backend == "local" and (self.kubelet == "real" or (self.kubelet == "auto" and os.geteuid() == 0))

    def nodes(self, wanted: int | None) -> int:
        """Return how many nodes it has. Raises :class:`~drayman.errors.InputError` for a number that cannot be."""
        if self.backend == "kind" and wanted is not None and wanted < 1:
            raise InputError(f"{wanted} nodes: a kind cluster has at least one beside its control plane")
        if not self._is_real_here:
            return 2 if wanted is None else wanted
        if wanted not in (None, 1):
            raise InputError("a machine has one real kubelet", hint="--kubelet fake takes any number of nodes")
        return 1


@contextlib.asynccontextmanager
async def running(choice: Choice, options: Options) -> AsyncIterator[ServerConfig]:
    """Yield how to reach a cluster whose parts have been started; they end with the context.

    Raises :class:`~drayman.errors.InputError` when something that it needs is missing.
    """
    if choice.request is not None:
        from drayman.testing.clusters import existing

        async with existing.running(choice.request, options, logs=choice.logs) as server:
            yield server
        return
    if choice.backend == "kind":
        from drayman.testing.clusters import kind

        setup = kind.Setup(choice.name, port=choice.port, keep=choice.keep, logs=choice.logs)
        async with kind.running(options, setup) as server:
            yield server
        return
    upstream = choice.scheduler in ("upstream", "both")
    if choice.backend == "local":
        from drayman.testing.clusters import local

        async with local.running(
            options, port=choice.port, real=choice.is_real, upstream=upstream, logs=choice.logs
        ) as server:
            yield server
        return
    from drayman.testing.clusters import fake

    async with contextlib.AsyncExitStack() as stack:
        server = await stack.enter_async_context(
            fake.running(dataclasses.replace(options, serve_all=not upstream), port=choice.port)
        )
        if upstream:
            from drayman.testing.clusters import local

            alone = not options.scheduler
            rival = local.kube_scheduler(server, feature_gates=options.feature_gates, alone=alone, logs=choice.logs)
            await stack.enter_async_context(rival)
        yield server


async def remove_containers(name: str) -> None:
    """Remove the containers that the cluster `name` is noted to have.

    Raises :class:`~drayman.errors.DraymanError` when that is impossible.
    """
    noted = registry.noted(name)
    if noted is not None and noted.get("backend") == "kind":
        from drayman.testing.clusters import kind

        await kind.remove(name)
