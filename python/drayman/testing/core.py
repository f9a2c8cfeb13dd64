"""A fake cluster in virtual time, as coroutines: the API server in this process, its parts on in-process dispatch.

:class:`drayman.testing.FakeCluster` runs it on a thread of its own; `simulate` drives it step by step.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from drayman.clock import VirtualClock
from drayman.errors import APIStatusError
from drayman.kube.client import Client, Object
from drayman.kube.resources import PODS
from drayman.testing.access import Access
from drayman.testing.apiserver import APIServer, InProcessTransport
from drayman.testing.history import PodHistory
from drayman.testing.parts import Options, Parts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from drayman import scheduler


RUNTIME_CONFIG = {
    "resource.k8s.io/v1beta1": True,
    "resource.k8s.io/v1beta2": True,
    "scheduling.k8s.io/v1beta1": True,
}
"""API versions that a real server serves only when told to, and that manifests are written in all the same."""


class Core(Access):
    """One fake cluster. Make it with :meth:`running`, inside the loop of `clock`."""

    def __init__(self, options: Options, clock: VirtualClock, root: Path, *, trust_metadata: bool = False) -> None:
        self.options = options
        self.clock = clock
        self.server = APIServer(
            clock=clock,
            kubernetes_version=options.kubernetes_version,
            feature_gates=options.feature_gates,
            runtime_config=RUNTIME_CONFIG,
            seed=options.seed,
            trust_metadata=trust_metadata,
        )
        super().__init__(self._client_for("drayman"))
        self.history = PodHistory(self.client, clock)
        self._parts = Parts(options, clock, root, self._client_for)
        self._kubelets = set(options.node_names())
        self._group = asyncio.TaskGroup()

    @classmethod
    @contextlib.asynccontextmanager
    async def running(
        cls, options: Options, clock: VirtualClock, *, trust_metadata: bool = False
    ) -> AsyncIterator[Core]:
        """Yield a cluster whose API server works.

        Start its parts with :meth:`start_control` and :meth:`start_nodes`.
        """
        root = Path(tempfile.mkdtemp(prefix="drayman-"))
        try:
            core = cls(options, clock, root, trust_metadata=trust_metadata)
            async with core._group:
                core._parts.tasks += [
                    core._group.create_task(core.history.run(), name="history"),
                    core._group.create_task(core._finish_deletions(), name="deletions"),
                ]
                await clock.settle(0)
                yield core
                for task in core._parts.tasks:
                    task.cancel()
        finally:
            await asyncio.to_thread(shutil.rmtree, root, ignore_errors=True)

    def start_control(self, configuration: scheduler.Configuration | None = None) -> None:
        """Start the controllers and, if wanted, the scheduler."""
        self._parts.start_controllers(self._group)
        if self.options.scheduler:
            self._parts.start_scheduler(self._group, configuration)

    async def start_nodes(self) -> None:
        """Start the nodes with their kubelets and drivers."""
        await self._parts.start_nodes(self._group)

    def start_kubelets(self, drivers: Mapping[str, Sequence[str]]) -> None:
        """Start kubelets for other nodes, with mock drivers for slices that someone else publishes.

        `drivers` holds the drivers' names by name of the node. See :meth:`~drayman.testing.parts.Parts.start_kubelets`.
        """
        self._kubelets |= drivers.keys()
        self._parts.start_kubelets(self._group, drivers)

    async def state(self) -> Object:
        """Return what became of pods and claims (`docs/state.md`)."""
        views = await self.views()
        return {
            "version": 1,
            "kubernetes": self.options.kubernetes_version,
            "compatibility": self.options.compatibility,
            **views,
            "pods": self.history.complete(views["pods"]),
        }

    async def wait_for(self, predicate: Callable[[], bool], seconds: float) -> bool:
        """Let time pass until `predicate` holds; False when it does not within `seconds`."""
        limit = self.clock.monotonic() + seconds
        await self.clock.settle(0)
        while not predicate():
            if not await self.clock.step(limit):
                return predicate()
        return True

    async def _finish_deletions(self) -> None:
        """Remove deleted pods of nodes that have no kubelet, which on a real node its kubelet does."""
        async for pod in self.history.deletions():
            if pod["spec"].get("nodeName") not in self._kubelets:
                metadata = pod["metadata"]
                with contextlib.suppress(APIStatusError):
                    await self.client.delete(
                        PODS, metadata["name"], metadata["namespace"], uid=metadata["uid"], grace_period_seconds=0
                    )

    def _client_for(self, user_agent: str) -> Client:
        return Client(InProcessTransport(self.server), user_agent=user_agent)
