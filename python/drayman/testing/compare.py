"""Compares what became of pods and claims with what a scenario expects.

`expect` names what has to be so and nothing else, with one exception: an object that the API server refused without
being listed under `rejected` is a deviation. The shape of the result is documented in `docs/state.md`, that of
expectations in `docs/scenarios.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Expectation = Mapping[str, Any]
View = Mapping[str, Any]

_MESSAGE_LENGTH = 300
"""How much of a message is shown in a deviation."""

COMPARED = frozenset(
    {
        "pods", "groups", "unschedulable", "rejected", "evicted", "notEvicted", "unbound", "firstVerdict", "sameNode",
        "sameDevices", "claims", "eventsContain", "sameDomain", "scheduledCount", "uniqueDevices", "maxVerdictMs",
    }
)  # fmt: skip
"""The members of an expectation that are compared."""


@dataclass(frozen=True, slots=True)
class _Result:
    pods: Mapping[str, View]
    claims: Mapping[str, View]
    rejected: Mapping[str, str]
    events: Sequence[str]
    node_labels: Mapping[str, Mapping[str, str]]

    def node(self, pod: str) -> str | None:
        node: str | None = self.pods.get(pod, {}).get("node")
        return node


def compare(
    expect: Expectation, actual: View, *, node_labels: Mapping[str, Mapping[str, str]] | None = None
) -> list[str]:
    """Return the deviations of `actual` from `expect`, one sentence each; none when all is as expected.

    `node_labels`, by node name, are needed for `sameDomain` only.
    """
    result = _Result(
        pods=actual.get("pods") or {},
        claims=actual.get("claims") or {},
        rejected=actual.get("rejected") or {},
        events=actual.get("events") or (),
        node_labels=node_labels or {},
    )
    return [deviation for check in _CHECKS for deviation in check(expect, result)]


def _pods(expect: Expectation, result: _Result) -> Iterator[str]:
    for key, wanted in expect.get("pods", {}).items():
        pod = result.pods.get(key)
        if pod is None:
            yield f"{key}: no such pod (rejected: {result.rejected.get(f'Pod {key}')})"
            continue
        yield from _node(key, wanted, pod)
        yield from _pod_members(key, wanted, pod)
        for name, claim in wanted.get("claims", {}).items():
            found = pod.get("claims", {}).get(name)
            if found is None:
                yield f"{key}: claim {name} missing"
            else:
                yield from _allocation(f"{key}/{name}", claim, found)


def _node(key: str, wanted: Expectation, pod: View) -> Iterator[str]:
    node = wanted.get("node")
    if node is not None and pod.get("node") not in (node if isinstance(node, list) else [node]):
        reason = f"{pod.get('reason', '')} {pod.get('message', '')[:_MESSAGE_LENGTH]}"
        yield f"{key}: node {pod.get('node') or 'none'} instead of {node} ({reason})"


def _pod_members(key: str, wanted: Expectation, pod: View) -> Iterator[str]:
    phase = wanted.get("phase")
    if phase is not None and pod.get("phase") != phase:
        why = f" ({pod['message'][:_MESSAGE_LENGTH]})" if pod.get("message") else ""
        yield f"{key}: phase {pod.get('phase') or 'none'} instead of {phase}{why}"
    if wanted.get("noExtendedClaim") and "<extended-resources>" in (pod.get("claims") or {}):
        yield f"{key}: has an extended resource claim"
    logs = pod.get("logs") or {}
    for member, what in (("env", "no variable"), ("logs", "no output")):
        for container, patterns in wanted.get(member, {}).items():
            lines = logs.get(container, "").splitlines()
            for pattern in patterns:
                if not any(re.fullmatch(pattern, line) for line in lines):
                    yield f"{key}: {what} of container {container} matches {pattern!r}"


def _allocation(place: str, wanted: Expectation, found: View) -> Iterator[str]:
    """Compare one claim of a pod; members that are named in order are those of the allocation's results."""
    devices = [one["device"] for one in found["devices"]]
    if "devices" in wanted and sorted(devices) != sorted(wanted["devices"]):
        yield f"{place}: devices {devices} instead of {wanted['devices']}"
    if "anyOf" in wanted and not any(sorted(devices) == sorted(choice) for choice in wanted["anyOf"]):
        yield f"{place}: devices {devices} not in {wanted['anyOf']}"
    if "count" in wanted and len(devices) != wanted["count"]:
        yield f"{place}: {len(devices)} devices instead of {wanted['count']}"
    actual = {
        "deviceNames": sorted(device.rpartition("/")[2] for device in devices),
        "configs": found.get("configs", 0),
        "requests": [one["request"] for one in found["devices"]],
        "consumedCapacity": [one.get("consumedCapacity") or {} for one in found["devices"]],
        "nodeSelector": found.get("nodeSelector"),
        "adminAccess": [bool(one.get("adminAccess")) for one in found["devices"]],
    }
    for member, value in actual.items():
        if member in wanted and value != wanted[member]:
            yield f"{place}: {member} {value!r} instead of {wanted[member]!r}"


def _groups(expect: Expectation, result: _Result) -> Iterator[str]:
    """Compare pods whose names are generated, by a regular expression on "namespace/name"."""
    for pattern, wanted in expect.get("groups", {}).items():
        pods = {key: pod for key, pod in result.pods.items() if re.fullmatch(pattern, key)}
        matching = [key for key, pod in pods.items() if "phase" not in wanted or pod.get("phase") == wanted["phase"]]
        if len(matching) != wanted["count"]:
            phase = f" in phase {wanted['phase']}" if "phase" in wanted else ""
            yield f"{pattern}: {len(matching)} pods{phase} instead of {wanted['count']}"
        members = {name: value for name, value in wanted.items() if name not in ("count", "phase")}
        for key in sorted(matching):
            yield from _pod_members(key, members, pods[key])


def _unschedulable(expect: Expectation, result: _Result) -> Iterator[str]:
    for key, pattern in expect.get("unschedulable", {}).items():
        pod = result.pods.get(key)
        if pod is None:
            yield f"{key}: no such pod (rejected: {result.rejected.get(f'Pod {key}')})"
        elif pod.get("node"):
            yield f"{key}: scheduled to {pod['node']} but should be unschedulable"
        elif pod.get("deleted"):
            yield f"{key}: deleted, should be pending"
        elif not _tells(pod.get("message", ""), pattern):
            yield f"{key}: message {pod.get('message', '')[:_MESSAGE_LENGTH]!r} does not mention {pattern!r}"


def _tells(message: str, pattern: str) -> bool:
    """Return whether the message matches; a `pending` in the pattern also takes a pod without a message."""
    return not pattern or bool(re.search(pattern, message, re.IGNORECASE)) or ("pending" in pattern and not message)


def _rejected(expect: Expectation, result: _Result) -> Iterator[str]:
    wanted = expect.get("rejected", {})
    for key, pattern in wanted.items():
        if key not in result.rejected:
            yield f"{key}: accepted, should be rejected ({pattern})"
        elif not re.search(pattern, result.rejected[key], re.IGNORECASE):
            yield f"{key}: rejected with {result.rejected[key][:_MESSAGE_LENGTH]!r}, expected {pattern!r}"
    for key, text in result.rejected.items():
        if key not in wanted:
            yield f"{key}: unexpectedly rejected: {text[:_MESSAGE_LENGTH]}"


def _evicted(expect: Expectation, result: _Result) -> Iterator[str]:
    for key in expect.get("evicted", ()):
        if not result.pods.get(key, {}).get("deleted"):
            yield f"{key}: not evicted"
    for key in expect.get("notEvicted", ()):
        if result.pods.get(key, {}).get("deleted"):
            yield f"{key}: evicted"


def _unbound(expect: Expectation, result: _Result) -> Iterator[str]:
    for key in expect.get("unbound", ()):
        if node := result.node(key):
            yield f"{key}: bound to {node}"


def _first_verdict(expect: Expectation, result: _Result) -> Iterator[str]:
    for key in expect.get("firstVerdict", {}):
        if not any(event.startswith(f"FailedScheduling {key}") for event in result.events):
            yield f"{key}: no FailedScheduling event before it was scheduled"


def _together(expect: Expectation, result: _Result) -> Iterator[str]:
    for group in expect.get("sameNode", ()):
        if len({result.node(key) for key in group}) != 1:
            yield f"{group}: not on one node"
    for group in expect.get("sameDevices", ()):
        if len({_all_devices(result.pods.get(key, {})) for key in group}) != 1:
            yield f"{group}: not on the same devices"
    domain: Expectation = expect.get("sameDomain") or {}
    for group in domain.get("groups", ()):
        nodes = [result.node(key) for key in group]
        if len({result.node_labels.get(node or "", {}).get(domain["label"]) for node in nodes}) != 1:
            yield f"{group}: in different domains"


def _all_devices(pod: View) -> tuple[str, ...]:
    return tuple(sorted(one["device"] for claim in (pod.get("claims") or {}).values() for one in claim["devices"]))


def _claims(expect: Expectation, result: _Result) -> Iterator[str]:
    for key, wanted in expect.get("claims", {}).items():
        claim = result.claims.get(key)
        if wanted is None:
            if claim is not None:
                yield f"claim {key}: still exists"
        elif claim is None:
            yield f"claim {key}: does not exist"
        else:
            yield from _claim(key, wanted, claim)


def _claim(key: str, wanted: Expectation, claim: View) -> Iterator[str]:
    devices = [one["device"] for one in claim["devices"]]
    if "allocated" in wanted and bool(devices) != wanted["allocated"]:
        yield f"claim {key}: allocated={bool(devices)}"
    if "devices" in wanted and sorted(devices) != sorted(wanted["devices"]):
        yield f"claim {key}: devices {devices}"
    if "reservedFor" in wanted and sorted(claim.get("reservedFor") or []) != sorted(wanted["reservedFor"]):
        yield f"claim {key}: reservedFor {claim.get('reservedFor')}"
    if "state" in wanted and claim.get("state") != wanted["state"]:
        yield f"claim {key}: state {claim.get('state')} instead of {wanted['state']}"


def _events(expect: Expectation, result: _Result) -> Iterator[str]:
    for pattern in expect.get("eventsContain", ()):
        if not any(re.search(pattern, event) for event in result.events):
            yield f"no event matches {pattern!r}"


def _totals(expect: Expectation, result: _Result) -> Iterator[str]:
    if "scheduledCount" in expect:
        scheduled = sum(1 for pod in result.pods.values() if pod.get("node"))
        if scheduled != expect["scheduledCount"]:
            yield f"{scheduled} pods scheduled instead of {expect['scheduledCount']}"
    if expect.get("uniqueDevices"):
        devices = [one["device"] for claim in result.claims.values() for one in claim["devices"]]
        if len(devices) != len(set(devices)):
            yield "a device is allocated twice"
    for key, limit in (expect.get("maxVerdictMs") or {}).items():
        milliseconds = result.pods.get(key, {}).get("firstVerdictMs")
        if milliseconds is None or milliseconds > limit:
            yield f"{key}: verdict after {milliseconds} ms, should be under {limit} ms"


_CHECKS = (
    _pods, _groups, _unschedulable, _rejected, _evicted, _unbound, _first_verdict, _together, _claims, _events, _totals
)  # fmt: skip
