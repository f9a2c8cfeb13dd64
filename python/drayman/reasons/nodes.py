"""What keeps a pod off a node before its devices are looked at: the filters that run before DynamicResources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from drayman import node_selector
from drayman.pods import affinity, tolerations
from drayman.pods.node_info import NodeInfo, PodInfo
from drayman.pods.resources import CPU, PODS
from drayman.quantity import Quantity
from drayman.reasons.facts import Fact, counted

if TYPE_CHECKING:
    from drayman.reasons.claims import Entry
    from drayman.reasons.extended import Extended
    from drayman.reasons.state import Object, State

_BINARY = ("Ei", "Pi", "Ti", "Gi", "Mi", "Ki")


def exclusions(state: State, pod: Object, entries: Sequence[Entry], extended: Extended) -> dict[str, list[Fact]]:
    """Return what keeps `pod` off each node, by name; nothing where its devices decide."""
    known = state.node_infos
    info = PodInfo(pod)
    kept_off = {
        label: resident.key
        for node in known.values()
        if node.with_anti_affinity
        for label, resident in affinity.kept_off(node, pod)
    }
    return {
        name: [*_unfit(info, node, extended.on(node)), *_kept_away(node, kept_off), *_out_of_reach(entries, node)]
        for name, node in known.items()
    }


def _unfit(pod: PodInfo, node: NodeInfo, devices: frozenset[str]) -> Iterator[Fact]:
    if node.unschedulable and not tolerations.tolerates_cordon(pod.pod):
        hint = f"kubectl uncordon {node.name}"
        yield Fact("node-cordoned", "the node is cordoned (`spec.unschedulable`)", {}, hint)
    taints = [taint for taint in node.taints if not (node.unschedulable and taint["key"] == tolerations.CORDON)]
    for taint in taints:
        if tolerations.first_untolerated([taint], tolerations.tolerations_of(pod.pod), tolerations.HARD):
            yield _taint(taint)
    yield from _affinity(pod.pod, node.node)
    wanted = pod.host_ports
    for port in wanted:
        holder = next((one.key for one in node.pods.values() if port.clashes_with_any(one.host_ports)), None)
        if holder:
            yield Fact(
                "node-ports",
                f"host port {port.port}/{port.protocol} is taken by pod `{holder}`",
                {"port": port.port, "protocol": port.protocol, "pod": holder},
            )
    if node.allocatable:
        yield from _resources(pod, node, devices)


def _taint(taint: Mapping[str, Any]) -> Fact:
    value = f"={taint['value']}" if taint.get("value") else ""
    text = f"{taint['key']}{value}:{taint['effect']}"
    operator = f"operator: Equal, value: {taint['value']}" if taint.get("value") else "operator: Exists"
    hint = f"tolerate it in the pod's tolerations: {{key: {taint['key']}, {operator}, effect: {taint['effect']}}}"
    return Fact("node-taint", f"the pod does not tolerate the node's taint `{text}`", {"taint": text}, hint)


def _affinity(pod: Object, node: Object) -> Iterator[Fact]:
    labels = node["metadata"].get("labels") or {}
    for key, value in (pod["spec"].get("nodeSelector") or {}).items():
        if labels.get(key) != value:
            has = f"the node has `{key}={labels[key]}`" if key in labels else "the node does not have that label"
            details = {"label": key, "wanted": value, **({"found": labels[key]} if key in labels else {})}
            wants = f"the pod's nodeSelector wants `{key}={value}`"
            yield Fact("node-selector", f"{wants}: {has}", details, general=f"{wants}, which these nodes do not have")
    required = affinity.required(pod)
    if required is not None and not node_selector.matches(required, node):
        text = node_selector.describe(required) or "nothing, which no node matches"
        yield Fact("node-affinity", f"the pod's required node affinity does not hold: {text}", {"required": text})


def _resources(pod: PodInfo, node: NodeInfo, devices: frozenset[str]) -> Iterator[Fact]:
    limit = node.allocatable.get(PODS, 0)
    if len(node.pods) >= limit:
        yield Fact("node-pods", f"the node has its {counted(limit, 'pod')} already", {"pods": limit})
    for name, wanted in pod.requests.items():
        allocatable = node.allocatable.get(name, 0)
        free = allocatable - node.requested.get(name, 0)
        if name not in devices and wanted > max(free, 0):
            amounts = {"needed": wanted, "free": free, "allocatable": allocatable}
            shown = {member: quantity(name, amount) for member, amount in amounts.items()}
            short = f"too little `{name}`: the pod needs {shown['needed']}"
            message = f"{short}, {shown['free']} of {shown['allocatable']} is free"
            general = f"{short}, which none of these nodes has free"
            yield Fact("node-resources", message, {"resource": name, **shown}, general=general)


def _kept_away(node: NodeInfo, kept_off: Mapping[tuple[str, str], str]) -> Iterator[Fact]:
    for key, value in (node.node["metadata"].get("labels") or {}).items():
        if (key, value) in kept_off:
            holder = kept_off[key, value]
            message = f"pod `{holder}` keeps this pod away from nodes with `{key}={value}`, by its anti-affinity"
            yield Fact("node-anti-affinity", message, {"pod": holder, "label": key, "value": value})


def _out_of_reach(entries: Iterable[Entry], node: NodeInfo) -> Iterator[Fact]:
    for entry in entries:
        selector = (entry.allocation or {}).get("nodeSelector")
        if selector and not node_selector.matches(selector, node.node):
            text = node_selector.describe(selector)
            devices = ", ".join(f"`{device}`" for device in entry.devices)
            message = f"claim `{entry.key}` is allocated already ({devices}), for nodes where {text}"
            yield Fact("claim-elsewhere", message, {"claim": entry.key, "devices": entry.devices, "nodes": text})


def quantity(resource: str, amount: int) -> str:
    """Return an amount of a resource, in the units of the scheduler, as people write it."""
    if resource == CPU:
        return str(Quantity(f"{amount}m").canonical())
    for power, suffix in zip(range(len(_BINARY), 0, -1), _BINARY, strict=True):
        if amount and amount % 1024**power == 0:
            return f"{amount // 1024**power}{suffix}"
    return str(amount)
