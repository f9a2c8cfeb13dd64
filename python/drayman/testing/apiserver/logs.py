"""The `log` subresource of pods. Containers do not run here: the fake kubelet writes with PUT what GET then serves."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from drayman.api import status
from drayman.kube.http import Response, Stream
from drayman.testing.apiserver import parameters
from drayman.testing.apiserver.refusal import Refusal
from drayman.testing.apiserver.store import key_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from drayman.kube.http import Request
    from drayman.testing.apiserver.store import Store

Object = dict[str, Any]

_CONTAINER_LISTS = ("initContainers", "containers", "ephemeralContainers")
_TEXT = {"content-type": "text/plain"}


class Logs:
    """What containers wrote, by the uid of their pod; forgotten with the pod."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._logs: dict[tuple[str, str], bytes] = {}
        self._followers: dict[Callable[[], None], None] = {}

    def read(self, request: Request, pod: Object) -> Response | Stream:
        """Return the log of a container, with `follow` until the container has ended.

        Raises :class:`Refusal` (400) when there is no such container, or it has not started.
        """
        name, container = pod["metadata"]["name"], _container(request, pod)
        if request.param("previous") in ("true", "1"):
            message = f'previous terminated container "{container}" in pod "{name}" not found'
            raise Refusal(status.bad_request(message))
        if not pod["spec"].get("nodeName"):
            return Response(204, b"", {})
        log = self._logs.get((pod["metadata"]["uid"], container))
        if log is None:
            raise Refusal(status.bad_request(_not_started(pod, container)))
        if parameters.is_set(request, "follow"):
            return Stream(200, self._follow(key_of(pod["metadata"]), pod["metadata"]["uid"], container), _TEXT)
        tail = request.param("tailLines")
        if tail.isdecimal():
            lines = log.splitlines(keepends=True)
            log = b"".join(lines[len(lines) - min(int(tail), len(lines)) :])
        limit = request.param("limitBytes")
        return Response(200, log[: int(limit)] if limit.isdecimal() else log, _TEXT)

    def write(self, request: Request, pod: Object) -> Response:
        """Replace the log of a container by the body of the request."""
        self._logs = {key: log for key, log in self._logs.items() if self._store.place_of(key[0]) is not None}
        self._logs[pod["metadata"]["uid"], _container(request, pod)] = request.body
        for wake in tuple(self._followers):
            wake()
        return Response(200, b"", _TEXT)

    async def _follow(self, key: str, uid: str, container: str) -> AsyncIterator[bytes]:
        changed, told = asyncio.Event(), 0
        pods = self._store.collection("pods")
        stop = pods.listen(changed.set)
        self._followers[changed.set] = None
        try:
            while True:
                changed.clear()
                log = self._logs.get((uid, container), b"")
                if len(log) > told:
                    yield log[told:]
                    told = len(log)
                stored = pods.get(key)
                if stored is None or stored.obj["metadata"]["uid"] != uid or _has_ended(stored.obj, container):
                    return
                await changed.wait()
        finally:
            stop()
            del self._followers[changed.set]


def _has_ended(pod: Object, container: str) -> bool:
    state = pod.get("status") or {}
    containers = [*(state.get("initContainerStatuses") or ()), *(state.get("containerStatuses") or ())]
    terminated = any(c.get("name") == container and (c.get("state") or {}).get("terminated") for c in containers)
    return terminated or state.get("phase") in ("Succeeded", "Failed")


def _container(request: Request, pod: Object) -> str:
    spec, name = pod["spec"], pod["metadata"]["name"]
    wanted = request.param("container")
    if wanted:
        if any(container["name"] == wanted for part in _CONTAINER_LISTS for container in spec.get(part) or ()):
            return wanted
        raise Refusal(status.bad_request(f"container {wanted} is not valid for pod {name}"))
    names = [str(container["name"]) for container in spec["containers"]]
    if len(names) == 1:
        return names[0]
    message = f"a container name must be specified for pod {name}, choose one of: [{' '.join(names)}]"
    init = [str(container["name"]) for container in spec.get("initContainers") or ()]
    if init:
        message += f" or one of the init containers: [{' '.join(init)}]"
    raise Refusal(status.bad_request(message))


def _not_started(pod: Object, container: str) -> str:
    name = pod["metadata"]["name"]
    reason = "ContainerCreating"
    for part in ("initContainerStatuses", "containerStatuses"):
        for state in (pod.get("status") or {}).get(part) or ():
            if state.get("name") == container:
                reason = ((state.get("state") or {}).get("waiting") or {}).get("reason") or reason
    return f'container "{container}" in pod "{name}" is waiting to start: {reason}'
