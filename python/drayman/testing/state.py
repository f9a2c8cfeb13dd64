"""What became of pods and claims, as plain data: the JSON that `drayman simulate` prints and that scenarios are
compared with.

The shape is documented in `docs/state.md`. Members that would be empty are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from drayman.kube.client import Object

EXTENDED_RESOURCES = "<extended-resources>"
"""The name under which the claim made for a pod's extended resources is shown."""


def claim_state(claim: Mapping[str, Any]) -> str:
    """Return what kubectl shows as STATE.

    `pending`, `allocated`, `allocated,reserved`, with `deleted` in front while being deleted.
    """
    status = claim.get("status", {})
    states = []
    if claim["metadata"].get("deletionTimestamp"):
        states.append("deleted")
    if not status.get("allocation"):
        if not claim["metadata"].get("deletionTimestamp"):
            states.append("pending")
    else:
        states.append("allocated")
        states += ["reserved"] if status.get("reservedFor") else []
    return ",".join(states)


def allocation_view(claim: Mapping[str, Any] | None) -> Object:
    """Return devices, node selector and number of configurations of the claim's allocation."""
    allocation = ((claim or {}).get("status") or {}).get("allocation") or {}
    devices = allocation.get("devices", {})
    return _set(
        devices=[_device(result) for result in devices.get("results") or []],
        nodeSelector=_node_selector(allocation.get("nodeSelector")),
        configs=len(devices.get("config") or []) or None,
    )


def claim_view(claim: Mapping[str, Any]) -> Object:
    """Return the claim as it stands: allocation, state and who may use it."""
    reserved = (claim.get("status") or {}).get("reservedFor") or []
    return {
        **allocation_view(claim),
        **_set(
            reservedFor=[f"{consumer['resource']}/{consumer['name']}" for consumer in reserved] or None,
            state=claim_state(claim),
        ),
    }


def pod_view(pod: Mapping[str, Any], claims: Mapping[str, Mapping[str, Any]]) -> Object:
    """Return where the pod runs or why it does not, and what its claims got.

    `claims` are all claims by "namespace/name".
    """
    status = pod.get("status") or {}
    refused: Mapping[str, Any] = next(
        (
            condition
            for condition in status.get("conditions") or []
            if condition["type"] == "PodScheduled" and condition["status"] == "False"
        ),
        {},
    )
    extended = status.get("extendedResourceClaimStatus") or {}
    mappings = extended.get("requestMappings") or []
    return _set(
        node=pod["spec"].get("nodeName"),
        phase=status.get("phase"),
        reason=refused.get("reason"),
        message=refused.get("message"),
        claims=dict(_pod_claims(pod, claims)) or None,
        extendedResourceClaim={
            f"{mapping['containerName']}/{mapping['resourceName']}": mapping["requestName"] for mapping in mappings
        }
        or None,
    )


def event_line(event: Mapping[str, Any]) -> str:
    """Return "Reason namespace/name: note" of an `events.k8s.io/v1` event."""
    about = event.get("regarding", {})
    return f"{event.get('reason')} {about.get('namespace', '')}/{about.get('name')}: {event.get('note', '')}"


def _pod_claims(pod: Mapping[str, Any], claims: Mapping[str, Mapping[str, Any]]) -> Iterable[tuple[str, Object]]:
    namespace = pod["metadata"]["namespace"]
    status = pod.get("status") or {}
    generated = {entry["name"]: entry.get("resourceClaimName") for entry in status.get("resourceClaimStatuses") or []}
    for entry in pod["spec"].get("resourceClaims") or []:
        name = entry.get("resourceClaimName") or generated.get(entry["name"])
        yield entry["name"], _named_claim(namespace, name, claims)
    if name := (status.get("extendedResourceClaimStatus") or {}).get("resourceClaimName"):
        yield EXTENDED_RESOURCES, _named_claim(namespace, name, claims)


def _named_claim(namespace: str, name: str | None, claims: Mapping[str, Mapping[str, Any]]) -> Object:
    return {**_set(name=name), **allocation_view(claims.get(f"{namespace}/{name}"))}


def _device(result: Mapping[str, Any]) -> Object:
    return _set(
        device=f"{result['driver']}/{result['pool']}/{result['device']}",
        request=result["request"],
        adminAccess=True if result.get("adminAccess") else None,
        share=True if result.get("shareID") else None,
        shareID=result.get("shareID"),
        consumedCapacity=result.get("consumedCapacity"),
    )


def _node_selector(selector: Mapping[str, Any] | None) -> str | None:
    """Return the requirements as "key operator values", joined by " && " within a term and " || " between terms."""
    if not selector:
        return None
    return " || ".join(
        " && ".join(
            f"{requirement['key']} {requirement['operator']} {','.join(requirement.get('values') or [])}"
            for requirement in [*(term.get("matchFields") or []), *(term.get("matchExpressions") or [])]
        )
        for term in selector["nodeSelectorTerms"]
    )


def _set(**members: Any) -> Object:
    return {name: value for name, value in members.items() if value is not None}
