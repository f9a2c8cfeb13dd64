"""When the taints of its devices make a claim's pods go, and which rules are the reason."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman.timestamps import parse_rfc3339

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

NO_EXECUTE = "NoExecute"


@dataclass(frozen=True, slots=True)
class Eviction:
    """Pods are to go at `when`; `rules` are the UIDs of the DeviceTaintRules among the reasons."""

    when: dt.datetime
    rules: frozenset[str]


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint on a device, from its slice or, with the UID `rule`, from a DeviceTaintRule."""

    taint: Mapping[str, Any]
    since: dt.datetime
    rule: str | None = None


def claim_eviction(
    results: Iterable[Mapping[str, Any]],
    taints_of: Callable[[Mapping[str, Any]], Iterable[Taint]],
    *,
    any_effect: bool,
) -> Eviction | None:
    """Return when the pods of a claim with the allocation `results` are to go; None when all taints are tolerated.

    Only the tolerations copied into the allocation count. One without an effect tolerates every effect by the API's
    documentation, which `any_effect` follows; 1.37 asks for `NoExecute` literally.
    """
    evictions = []
    for result in results:
        for taint in taints_of(result):
            seconds = _tolerated_seconds(result.get("tolerations", ()), taint.taint, any_effect=any_effect)
            if seconds is None:
                continue
            rules = frozenset() if taint.rule is None else frozenset({taint.rule})
            evictions.append(Eviction(taint.since + dt.timedelta(seconds=seconds), rules))
    return join(evictions)


def join(evictions: Sequence[Eviction]) -> Eviction | None:
    """Return the earliest of `evictions` with the reasons of all."""
    if not evictions:
        return None
    return Eviction(min(one.when for one in evictions), frozenset().union(*(one.rules for one in evictions)))


def slice_taints(device: Mapping[str, Any], created: str) -> Iterator[Taint]:
    """Yield the evicting taints of a device in a slice that was created at `created`."""
    for taint in device.get("taints", ()):
        if taint["effect"] == NO_EXECUTE:
            yield Taint(taint, parse_rfc3339(taint.get("timeAdded") or created))


def rule_taint(rule: Mapping[str, Any]) -> Taint:
    """Return the taint of a DeviceTaintRule."""
    taint, metadata = rule["spec"]["taint"], rule["metadata"]
    return Taint(taint, parse_rfc3339(taint.get("timeAdded") or metadata["creationTimestamp"]), metadata["uid"])


def selects(rule: Mapping[str, Any], driver: str, pool: str, device: str) -> bool:
    """Tell whether `rule` selects a device; a rule without selector selects none."""
    selector = rule["spec"].get("deviceSelector")
    if selector is None:
        return False
    wanted = {"driver": driver, "pool": pool, "device": device}
    return all(selector.get(name) in (None, value) for name, value in wanted.items())


def _tolerated_seconds(
    tolerations: Iterable[Mapping[str, Any]], taint: Mapping[str, Any], *, any_effect: bool
) -> float | None:
    """Return for how long `taint` is tolerated: 0 when it is not, None for ever."""
    seconds: list[float] = []
    for toleration in tolerations:
        if not _tolerates(toleration, taint, any_effect=any_effect):
            continue
        if toleration.get("tolerationSeconds") is None:
            return None
        seconds.append(max(float(toleration["tolerationSeconds"]), 0.0))
    return min(seconds, default=0.0)


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any], *, any_effect: bool) -> bool:
    effect = toleration.get("effect") or (NO_EXECUTE if any_effect else "")
    if effect != taint["effect"] or toleration.get("key") not in (None, "", taint["key"]):
        return False
    match toleration.get("operator", "Equal"):
        case "Exists":
            return True
        case "" | "Equal":
            return bool(toleration.get("value", "") == taint.get("value", ""))
    return False
