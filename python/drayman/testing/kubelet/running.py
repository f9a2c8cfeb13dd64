"""Runs containers that run nothing: init containers in order, sidecars beside, restarts as the policy says."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from drayman.testing.kubelet.script import FOREVER
from drayman.timestamps import parse_rfc3339

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from drayman.clock import Clock
    from drayman.testing.kubelet.script import Outcome
    from drayman.testing.kubelet.state import PodState
    from drayman.testing.kubelet.status import ContainerStatus

FIRST_RESTART = 10.0
LONGEST_RESTART = 300.0
"""Seconds before a container that ended runs once more; the delay doubles."""

SHORT_RUN = 1.0
"""Seconds that a command without `sleep` runs in a pod that may end."""


class Runner:
    """Runs the containers of `state`, whose commands have the given `outcomes`, and calls `report` on every change."""

    def __init__(
        self, clock: Clock, state: PodState, outcomes: Mapping[str, Outcome], report: Callable[[], Awaitable[None]]
    ) -> None:
        self._clock = clock
        self._state = state
        self._outcomes = outcomes
        self._report = report
        self._sidecars: list[asyncio.Task[None]] = []

    async def run(self) -> None:
        """Return when the containers have ended; sidecars are left running."""
        async with asyncio.TaskGroup() as group:
            if await self._run_init_containers(group):
                await self._run_main_containers()
            for sidecar in self._sidecars:
                sidecar.cancel()

    async def _run_init_containers(self, group: asyncio.TaskGroup) -> bool:
        """Run init containers one after the other; return whether all of them succeeded."""
        state = self._state
        for spec, status in zip(state.pod["spec"].get("initContainers", ()), state.init, strict=True):
            if status.exit_code == 0:
                continue
            if not status.is_running:
                await self._start([status])
            if spec.get("restartPolicy") == "Always":
                self._sidecars.append(group.create_task(self._see_through(spec, status, "Always")))
                continue
            await self._see_through(spec, status, "Never" if state.restart_policy == "Never" else "OnFailure")
            if status.exit_code != 0:
                return False
        state.initialized = True
        return True

    async def _run_main_containers(self) -> None:
        state = self._state
        state.phase = "Running"
        await self._start([status for status in state.main if not status.is_running and status.exit_code is None])
        async with asyncio.TaskGroup() as group:
            for spec, status in zip(state.pod["spec"]["containers"], state.main, strict=True):
                if status.exit_code is None:
                    group.create_task(self._see_through(spec, status, state.restart_policy))

    async def _start(self, statuses: list[ContainerStatus]) -> None:
        for status in statuses:
            status.run(self._clock.now())
        await self._report()

    async def _see_through(self, spec: Mapping[str, Any], status: ContainerStatus, policy: str) -> None:
        """Wait for the end of a container that runs, restarts included."""
        outcome = self._outcomes[status.name]
        delay = FIRST_RESTART
        while True:
            await self._wait(status, outcome.seconds, policy)
            status.end(self._clock.now(), outcome.exit_code)
            if policy == "Never" or (policy == "OnFailure" and outcome.exit_code == 0):
                if any(main.exit_code is None for main in self._state.main):  # the pod's own end is told later
                    await self._report()
                return
            status.restart()
            status.wait("CrashLoopBackOff", self._back_off_message(spec["name"], delay))
            await self._report()
            await self._clock.sleep(delay)
            delay = min(2 * delay, LONGEST_RESTART)
            await self._start([status])

    async def _wait(self, status: ContainerStatus, seconds: float | None, policy: str) -> None:
        if seconds is None:
            seconds = FOREVER if policy == "Always" else SHORT_RUN
        if seconds == FOREVER:
            await asyncio.Event().wait()
        started = parse_rfc3339(status.state["running"]["startedAt"])
        # A container that ran before this kubelet was started has a part of its time behind it.
        elapsed = (self._clock.now() - started).total_seconds()
        await self._clock.sleep(seconds if elapsed < 1 else max(0.0, seconds - elapsed))

    def _back_off_message(self, container: str, delay: float) -> str:
        state = self._state
        minutes, seconds = divmod(int(delay), 60)
        duration = f"{minutes}m{seconds}s" if minutes else f"{seconds}s"
        pod = f"{state.name}_{state.namespace}({state.uid})"
        return f"back-off {duration} restarting failed container={container} pod={pod}"
