"""Extended resources that DeviceClasses serve (KEP-5004): which class stands for a resource, and what a pod asks of it.

A node with a device plugin for the resource serves it itself; on the others the scheduler makes one claim for the pod.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drayman.pods.objects import Object
from drayman.pods.resources import amount

IMPLICIT_PREFIX = "deviceclass.resource.kubernetes.io/"
"""Every class has this name, followed by its own, beside the one that it may declare."""


@dataclass(frozen=True, slots=True)
class _Request:
    """`count` devices for a container; `name` tells which container and which of its resources."""

    name: str
    count: int


def classes_by_resource(classes: Iterable[Object]) -> dict[str, str]:
    """Return the class that serves each extended resource; of several the newest, then the first by name."""
    by_name = sorted(classes, key=lambda one: str(one["metadata"]["name"]), reverse=True)
    found = {IMPLICIT_PREFIX + one["metadata"]["name"]: str(one["metadata"]["name"]) for one in by_name}
    for one in sorted(by_name, key=lambda one: str(one["metadata"].get("creationTimestamp") or "")):
        resource = (one.get("spec") or {}).get("extendedResourceName")
        if resource:
            found[resource] = str(one["metadata"]["name"])
    return found


def asked_for(pod: Object, classes: Mapping[str, str]) -> frozenset[str]:
    """Return the resources that containers of `pod` ask for and that `classes` serve."""
    return frozenset(
        name
        for container in _containers(pod)
        for name, value in _requests_of(container).items()
        if name in classes and amount(name, value) > 0
    )


def device_requests(pod: Object, classes: Mapping[str, str], resources: Iterable[str]) -> list[dict[str, Any]]:
    """Return what `pod` asks for of `resources`, as requests of a ResourceClaim."""
    found = [
        {
            "name": request.name,
            "exactly": {"deviceClassName": classes[name], "allocationMode": "ExactCount", "count": request.count},
        }
        for name in sorted(resources)
        for request in _of_resource(_containers(pod), len(pod["spec"].get("initContainers") or ()), name)
    ]
    return sorted(found, key=lambda request: str(request["name"]))


def _of_resource(containers: Sequence[Object], init_containers: int, resource: str) -> Iterator[_Request]:
    """Yield the requests for one resource.

    Containers that run to the end of the pod, sidecars among them, add up. An ordinary init container uses what those
    after it are going to use; only the largest excess is asked for.
    """
    lasting: list[_Request | None] = [
        None if _is_short(container, index < init_containers) else _request(container, index, resource)
        for index, container in enumerate(containers)
    ]
    excess: _Request | None = None
    for index, container in enumerate(containers[:init_containers]):
        own = _request(container, index, resource) if _is_short(container, is_init=True) else None
        left = own.count - sum(later.count for later in lasting[index:] if later) if own else 0
        if own and left > 0 and (excess is None or left > excess.count):
            excess = _Request(own.name, left)
    yield from ([excess] if excess else [])
    yield from (request for request in lasting if request)


def _request(container: Object, index: int, resource: str) -> _Request | None:
    requests = _requests_of(container)
    count = amount(resource, requests[resource]) if resource in requests else 0
    if count <= 0:
        return None
    return _Request(f"container-{index}-request-{sorted(requests).index(resource)}", count)


def _is_short(container: Object, is_init: bool) -> bool:
    """Tell whether the container ends before the pod does."""
    return is_init and container.get("restartPolicy") != "Always"


def _containers(pod: Object) -> Sequence[Object]:
    spec = pod["spec"]
    return (*(spec.get("initContainers") or ()), *(spec.get("containers") or ()))


def _requests_of(container: Object) -> Mapping[str, Any]:
    return (container.get("resources") or {}).get("requests") or {}
