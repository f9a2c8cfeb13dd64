"""What the driver reads of an allocated ResourceClaim, and what it remembers of a prepared one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ClaimReference:
    """A claim as the kubelet names it; `uid` tells apart two claims that had the same name."""

    namespace: str
    name: str
    uid: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class PreparedDevice:
    """One device of a prepared claim.

    `request` may name a subrequest (`gpu/older`). `env` is what a container with the device gets (`NAME=value`).
    `exclusive` is false for devices that several claims may hold at a time: with admin access, or shared.
    """

    request: str
    pool: str
    device: str
    env: Sequence[str]
    share_id: str | None = None
    exclusive: bool = True

    @property
    def base_request(self) -> str:
        """The request's name without that of the subrequest, as the kubelet wants it."""
        return base_request(self.request)


@dataclass(frozen=True, slots=True)
class PreparedClaim:
    """A claim whose devices are ready, in the order of its allocation."""

    reference: ClaimReference
    devices: Sequence[PreparedDevice]


def base_request(request: str) -> str:
    """Return the name of the request that `request`, which may name a subrequest, belongs to."""
    return request.partition("/")[0]


def results(claim: Mapping[str, Any], driver: str) -> list[Object]:
    """Return the allocation results of an allocated `claim` that are for `driver`."""
    devices = claim["status"]["allocation"].get("devices") or {}
    return [result for result in devices.get("results") or [] if result["driver"] == driver]


def configurations(claim: Mapping[str, Any]) -> list[Object]:
    """Return the configurations of an allocated `claim`, as the scheduler copied them from class and claim."""
    devices = claim["status"]["allocation"].get("devices") or {}
    return list(devices.get("config") or [])
