"""Which feature gates a cluster has on: the API server drops a field whose gate is off, also in a dry run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman import features
from drayman.errors import APIStatusError
from drayman.kube.resources import CLAIMS, DEVICE_CLASSES, SLICES, Resource

if TYPE_CHECKING:
    from drayman.kube.client import Client, Object


@dataclass(frozen=True, slots=True)
class Probe:
    """An object with a field that a gate guards; `kept` finds the field in the answer."""

    resource: Resource
    spec: Object
    kept: Callable[[Mapping[str, Any]], object]


def _request(**members: Any) -> Object:
    return {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c", **members}}]}}


def _exactly(member: str) -> Callable[[Mapping[str, Any]], object]:
    return lambda spec: spec["devices"]["requests"][0].get("exactly", {}).get(member)


def _slice(**members: Any) -> Object:
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    return {"driver": "probe.drayman.example.com", "pool": pool, "allNodes": True, **members}


_ALTERNATIVES = {"devices": {"requests": [{"name": "r", "firstAvailable": [{"name": "a", "deviceClassName": "c"}]}]}}
_COUNTERS = [{"name": "s", "counters": {"c": {"value": "1"}}}]
_CONDITIONS = {"bindingConditions": ["ready"], "bindingFailureConditions": ["failed"]}

PROBES: Mapping[str, Probe] = {
    "DRAConsumableCapacity": Probe(CLAIMS, _request(capacity={"requests": {"memory": "1Gi"}}), _exactly("capacity")),
    "DRADeviceBindingConditions": Probe(
        SLICES,
        _slice(devices=[{"name": "d", **_CONDITIONS}]),
        lambda spec: spec["devices"][0].get("bindingConditions"),
    ),
    "DRADeviceTaints": Probe(
        CLAIMS, _request(tolerations=[{"key": "k", "operator": "Exists"}]), _exactly("tolerations")
    ),
    "DRAExtendedResource": Probe(
        DEVICE_CLASSES, {"extendedResourceName": "example.com/gpu"}, lambda spec: spec.get("extendedResourceName")
    ),
    "DRAPartitionableDevices": Probe(SLICES, _slice(sharedCounters=_COUNTERS), lambda spec: spec.get("sharedCounters")),
    "DRAPrioritizedList": Probe(
        CLAIMS, _ALTERNATIVES, lambda spec: spec["devices"]["requests"][0].get("firstAvailable")
    ),
}
"""What is tried for each gate. The others have no field of their own: for them the version's defaults hold."""


async def on(client: Client, wanted: Collection[str], namespace: str, kubernetes_version: str) -> frozenset[str]:
    """Return the gates that are on: those of `wanted` are tried, with dry runs in `namespace`."""
    gates = set(features.defaults(kubernetes_version))
    for name in sorted(set(wanted) & set(PROBES)):
        answer = await _is_on(client, PROBES[name], namespace)
        if answer is not None:
            (gates.add if answer else gates.discard)(name)
    return frozenset(gates)


async def _is_on(client: Client, probe: Probe, namespace: str) -> bool | None:
    """Return whether the field of a probe survives; None where the client may not try."""
    resource = probe.resource
    metadata = {"name": "drayman-probe", **({"namespace": namespace} if resource.namespaced else {})}
    obj = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, "spec": probe.spec}
    try:
        answer = await client.create(resource, obj, dry_run=True)
    except APIStatusError as error:
        # Without its field a probe may lack what is required.
        return False if error.reason == "Invalid" else None
    return bool(probe.kept(answer["spec"]))
