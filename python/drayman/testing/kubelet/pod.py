"""The life of one pod on its node, from the moment it is bound here until it is gone from the API server."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from drayman.errors import APIStatusError
from drayman.kube.resources import PODS
from drayman.testing.kubelet.environment import environment
from drayman.testing.kubelet.plugins import PluginError
from drayman.testing.kubelet.running import Runner
from drayman.testing.kubelet.script import interpret
from drayman.testing.kubelet.starting import FIRST_RETRY, LONGEST_RETRY, describe, start, store_logs
from drayman.testing.kubelet.state import PodState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from drayman.kube.client import Object
    from drayman.testing.kubelet.kubelet import Kubelet
    from drayman.testing.kubelet.script import Outcome

log = logging.getLogger(__name__)


class PodWorker:
    """Drives one pod. :meth:`update` and :meth:`vanish` tell it what the watch saw; :meth:`run` does the work."""

    def __init__(self, kubelet: Kubelet, pod: Object) -> None:
        self._kubelet = kubelet
        addresses = kubelet.addresses
        self._state = PodState.of(pod, addresses.host_ip, addresses.next_pod_ip(), kubelet.clock.now())
        self._deleted = asyncio.Event()
        self._vanished = False
        self._reported: dict[str, Any] = {}
        self._reporting = asyncio.Lock()
        self.update(pod)

    def update(self, pod: Object) -> None:
        """Take the newest version of the pod."""
        self._state.pod = pod
        if "deletionTimestamp" in pod["metadata"]:
            self._deleted.set()

    def vanish(self) -> None:
        """The pod is gone from the API server: by force, or because this worker deleted it."""
        self._vanished = True
        self._deleted.set()

    async def run(self) -> None:
        """Run the pod, release its devices, and delete it when that is wanted."""
        if not self._state.is_terminal and not self._deleted.is_set():
            await self._until_deleted(self._live())
        self._state.stop(self._kubelet.clock.now())
        # Before the end is told: from then on the scheduler may give the devices to others.
        await release(self._kubelet, self._state.uid)
        self._state.finish()
        await self._report()
        await self._deleted.wait()
        if not self._vanished:
            await self._attempt(self._delete)

    async def _until_deleted(self, life: Coroutine[Any, Any, None]) -> None:
        """Run `life`, and cancel it when the pod is to go."""
        async with asyncio.TaskGroup() as group:
            living = group.create_task(life)
            waiting = group.create_task(self._deleted.wait())
            await asyncio.wait((living, waiting), return_when=asyncio.FIRST_COMPLETED)
            living.cancel()
            waiting.cancel()

    async def _live(self) -> None:
        state = self._state
        if state.phase == "Running":  # it ran before this kubelet was started: its devices stay as they are
            outcomes = {spec["name"]: self._outcome(spec) for spec, _ in state.containers()}
        else:
            created = await start(self._kubelet, state, self._report)
            await self._attempt(lambda: self._annotate(describe(created)))
            await self._attempt(lambda: store_logs(self._kubelet, state, created))
            outcomes = {name: container.outcome for name, container in created.items()}
        await Runner(self._kubelet.clock, state, outcomes, self._report).run()

    def _outcome(self, spec: dict[str, Any]) -> Outcome:
        state = self._state
        values = environment(state.pod, spec, host_ip=state.host_ip, pod_ip=state.pod_ip)
        return interpret([*spec.get("command", ()), *spec.get("args", ())], values)

    async def _report(self) -> None:
        """Write the status, if it changed."""
        async with self._reporting:
            status = self._state.status(self._kubelet.clock.now())
            if status != self._reported and not self._vanished:
                await self._attempt(lambda: self._patch_status(status))
                self._reported = status

    async def _patch_status(self, status: dict[str, Any]) -> None:
        state = self._state
        patch = {"metadata": {"uid": state.uid}, "status": status}
        await self._kubelet.client.patch(
            PODS, state.name, state.namespace, patch, kind="strategic", subresource="status"
        )

    async def _annotate(self, values: dict[str, str]) -> None:
        if values:
            patch = {"metadata": {"uid": self._state.uid, "annotations": values}}
            # Through the status: kubelets may write nothing else of a pod.
            await self._kubelet.client.patch(PODS, self._state.name, self._state.namespace, patch, subresource="status")

    async def _delete(self) -> None:
        state = self._state
        await self._kubelet.client.delete(PODS, state.name, state.namespace, uid=state.uid, grace_period_seconds=0)

    async def _attempt(self, write: Callable[[], Awaitable[None]]) -> None:
        """Do a write as often as it takes, unless the pod is gone or replaced: the watch is going to tell."""
        delay = FIRST_RETRY
        while not self._vanished:
            try:
                await write()
            except APIStatusError as error:
                if error.reason in ("NotFound", "Conflict"):
                    return
                log.warning("write refused: pod=%s/%s: %s", self._state.namespace, self._state.name, error)
            except ConnectionError as error:
                log.warning("write failed: pod=%s/%s: %s", self._state.namespace, self._state.name, error)
            else:
                return
            await self._kubelet.clock.sleep(delay)
            delay = min(2 * delay, LONGEST_RETRY)


async def release(kubelet: Kubelet, pod_uid: str) -> None:
    """Unprepare the claims of a pod, as often as it takes: a driver that fails holds up the end of its pods."""
    delay = FIRST_RETRY
    while True:
        try:
            await kubelet.resources.unprepare(pod_uid)
        except PluginError as error:
            log.warning("unprepare dynamic resources: %s: pod=%s", error, pod_uid)
        else:
            return
        await kubelet.pause(delay)
        delay = min(2 * delay, LONGEST_RETRY)
