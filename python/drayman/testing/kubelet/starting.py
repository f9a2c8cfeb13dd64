"""Gets the containers of a pod ready: devices prepared, CDI edits applied, the result recorded on the pod."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from drayman import names
from drayman.kube.http import Request
from drayman.kube.resources import PODS
from drayman.testing.kubelet import containers
from drayman.testing.kubelet.cdi import CDIError, Registry
from drayman.testing.kubelet.environment import VariableError
from drayman.testing.kubelet.resources import PrepareError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from drayman.testing.kubelet.containers import Container
    from drayman.testing.kubelet.kubelet import Kubelet
    from drayman.testing.kubelet.state import PodState

log = logging.getLogger(__name__)

FIRST_RETRY = 1.0
LONGEST_RETRY = 10.0
"""Seconds between attempts (upstream: always about 10)."""


async def start(kubelet: Kubelet, state: PodState, report: Callable[[], Awaitable[None]]) -> dict[str, Container]:
    """Return the containers by name, after as many attempts as it takes; failures are told by events and status."""
    delay = FIRST_RETRY
    await report()
    while True:
        try:
            await kubelet.resources.prepare(state.pod)
            created = _create(kubelet, state)
        except PrepareError as error:
            note = f"Failed to prepare dynamic resources: prepare dynamic resources: {error}"
            await kubelet.recorder.event(state.pod, "Warning", "FailedPrepareDynamicResources", note)
        except (CDIError, VariableError) as error:
            note = _fail(state, error)
            await report()
            await kubelet.recorder.event(state.pod, "Warning", "Failed", note)
        else:
            state.sandbox = True
            return created
        await kubelet.pause(delay)
        delay = min(2 * delay, LONGEST_RETRY)


def describe(created: dict[str, Container]) -> dict[str, str]:
    """Return the annotations that tell what the containers got from CDI; none when no container got any."""
    if not any(container.cdi_devices for container in created.values()):
        return {}
    return {names.CONTAINERS: containers.annotation(list(created.values()))}


async def store_logs(kubelet: Kubelet, state: PodState, created: dict[str, Container]) -> None:
    """Store what the containers print, for `pods/log`."""
    for container in created.values():
        if kubelet.log_server:
            output = container.outcome.output.encode()
            kubelet.log_server.store(state.namespace, state.name, container.name, output)
            continue
        request = Request(
            "PUT",
            PODS.path(state.name, state.namespace, "log"),
            (("container", container.name),),
            {"content-type": "text/plain"},
            container.outcome.output.encode(),
        )
        answer = await kubelet.client.transport.request(request)
        if answer.status >= 400:
            log.warning("output is not kept: pod=%s/%s status=%d", state.namespace, state.name, answer.status)
            return


def _create(kubelet: Kubelet, state: PodState) -> dict[str, Container]:
    registry = Registry(kubelet.cdi_dirs)
    created = {}
    for spec, status in state.containers():
        status.health = containers.health(state.pod, spec, kubelet.resources)
        created[status.name] = containers.create(
            state.pod, spec, kubelet.resources, registry, host_ip=state.host_ip, pod_ip=state.pod_ip
        )
    return created


def _fail(state: PodState, error: CDIError | VariableError) -> str:
    """Let all containers wait because of `error`, in the words of a node with containerd; return the event's note."""
    if isinstance(error, CDIError):
        reason, text = "CreateContainerError", f"failed to create containerd container: {error}"
    else:
        reason, text = "CreateContainerConfigError", str(error)
    for _, status in state.containers():
        status.wait(reason, text)
    return f"Error: {text}"
