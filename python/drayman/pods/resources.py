"""How much of each resource a pod asks for and a node offers, as integers.

CPU is counted in thousandths of a core, everything else in whole units (bytes, devices), rounded up as upstream does.
The rules of `k8s.io/component-helpers/resource` hold for the sum over containers.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from drayman.quantity import Quantity

if TYPE_CHECKING:
    from drayman.pods.objects import Object

Resources = Mapping[str, int]
"""Resource name to amount."""

CPU = "cpu"
MEMORY = "memory"
PODS = "pods"

DEFAULT_MILLI_CPU = 100
"""What scoring assumes for a container that asks for no CPU."""

DEFAULT_MEMORY = 200 * 1024 * 1024
"""What scoring assumes for a container that asks for no memory."""


@functools.lru_cache(maxsize=4096)
def amount(name: str, quantity: str | int) -> int:
    """Return `quantity` of the resource `name` as an integer.

    Raises :class:`drayman.errors.InputError` when it is not a quantity.
    """
    number = Quantity(quantity)
    return number.milli_value() if name == CPU else number.value()


def amounts(quantities: Mapping[str, Any] | None) -> dict[str, int]:
    """Return a ResourceList as integers."""
    return {name: amount(name, quantity) for name, quantity in (quantities or {}).items()}


def pod_requests(pod: Object, *, defaults: Resources | None = None) -> dict[str, int]:
    """Return what `pod` asks for in total.

    Containers and restartable init containers (sidecars) add up; an ordinary init container counts together with the
    sidecars before it, where that is more. Requests of the whole pod replace the sum; overhead comes on top.
    `defaults` stands in for what a container does not ask for.
    """
    spec = pod["spec"]
    total = _sum(_container(container, defaults) for container in spec.get("containers", ()))
    sidecars: dict[str, int] = {}
    initialising: dict[str, int] = {}
    for container in spec.get("initContainers") or ():
        requests = _container(container, defaults)
        if container.get("restartPolicy") == "Always":
            _add(sidecars, requests)
            _raise(initialising, sidecars)
        else:
            _raise(initialising, _sum((sidecars, requests)))
    _add(total, sidecars)
    _raise(total, initialising)
    total.update(amounts((spec.get("resources") or {}).get("requests")))
    _add(total, amounts(spec.get("overhead")))
    return total


def scoring_requests(pod: Object) -> dict[str, int]:
    """Return what `pod` is taken to use when nodes are scored: CPU and memory are never zero."""
    return pod_requests(pod, defaults={CPU: DEFAULT_MILLI_CPU, MEMORY: DEFAULT_MEMORY})


def _container(container: Object, defaults: Resources | None) -> dict[str, int]:
    requests = amounts((container.get("resources") or {}).get("requests"))
    return requests if defaults is None else {**defaults, **requests}


def _sum(parts: Iterable[Resources]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        _add(total, part)
    return total


def _add(total: dict[str, int], part: Resources) -> None:
    for name, value in part.items():
        total[name] = total.get(name, 0) + value


def _raise(total: dict[str, int], floor: Resources) -> None:
    for name, value in floor.items():
        total[name] = max(total.get(name, 0), value)
