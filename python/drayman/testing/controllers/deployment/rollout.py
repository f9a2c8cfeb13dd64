"""The arithmetic of rolling updates, and the name of a template's version."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drayman.kube.client import Object

HASH_LABEL = "pod-template-hash"
_HASH_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


def template_hash(template: Mapping[str, Any]) -> str:
    """Return a short name for a template; upstream's differs, because it hashes a Go value."""
    digest = hashlib.sha256(json.dumps(template, sort_keys=True).encode()).digest()
    return "".join(_HASH_LETTERS[byte % len(_HASH_LETTERS)] for byte in digest[:10])


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a rollout may go: pods above the wanted number, and pods that may be missing."""

    surge: int
    unavailable: int

    @classmethod
    def of(cls, deployment: Object) -> Limits:
        """Return the limits of a Deployment; `Recreate` allows no surge and everything to be missing."""
        replicas = int(deployment["spec"].get("replicas", 1))
        strategy = deployment["spec"].get("strategy", {})
        if strategy.get("type") == "Recreate":
            return cls(0, replicas)
        rolling = strategy.get("rollingUpdate", {})
        surge = _resolve(rolling.get("maxSurge", "25%"), replicas, math.ceil)
        unavailable = _resolve(rolling.get("maxUnavailable", "25%"), replicas, math.floor)
        return cls(surge, unavailable if surge or unavailable else 1)


def scale(replicas: int, limits: Limits, new: Object, old: Sequence[Object], *, recreate: bool) -> dict[str, int]:
    """Return the number of pods that each ReplicaSet, by name, should have next.

    Old ones shrink first where pods are not available anyway, then as far as enough stay available; the new one grows
    into what the surge leaves.
    """
    wanted = {one["metadata"]["name"]: int(one["spec"].get("replicas", 1)) for one in old}
    name, current = new["metadata"]["name"], int(new["spec"].get("replicas", 0))
    if recreate:
        wanted = dict.fromkeys(wanted, 0)
        gone = all(one.get("status", {}).get("replicas", 0) == 0 for one in old)
        return {**wanted, name: replicas if gone else current}
    room = replicas + limits.surge - sum(wanted.values()) - current
    grown = min(replicas, current + max(room, 0))
    new_missing = current - _available(new)
    spare = sum(wanted.values()) + current - (replicas - limits.unavailable) - new_missing
    for one in old:
        key = one["metadata"]["name"]
        unhealthy = min(wanted[key] - _available(one), max(spare, 0))
        wanted[key] -= unhealthy
        spare -= unhealthy
    surplus = sum(_available(one) for one in (new, *old)) - (replicas - limits.unavailable)
    for one in old:
        key = one["metadata"]["name"]
        removed = max(0, min(wanted[key], surplus))
        wanted[key] -= removed
        surplus -= removed
    return {**wanted, name: grown}


def _available(replica_set: Object) -> int:
    return int(replica_set.get("status", {}).get("availableReplicas", 0))


def _resolve(value: int | str, total: int, rounding: Any) -> int:
    if isinstance(value, str) and value.endswith("%"):
        return int(rounding(int(value[:-1]) * total / 100))
    return int(value)
