"""How pods, the claim entries of their spec, and ResourceClaims relate.

The rules are those of upstream's package `k8s.io/dynamic-resource-allocation/resourceclaim`; scheduler, controllers and
kubelet share them. Objects are plain dicts and are only read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman.errors import DraymanError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

POD_GROUP_API = "scheduling.k8s.io"
"""API group of PodGroups, as owner of a claim or holder of a reservation."""


class ClaimReferenceError(DraymanError):
    """A claim entry of a pod does not lead to a usable ResourceClaim; `str()` is upstream's text."""


class ClaimNotCreatedError(ClaimReferenceError):
    """The claim of a template has not been created yet."""


@dataclass(frozen=True, slots=True)
class ClaimReference:
    """The ResourceClaim behind a pod's claim entry; with `check_owner`, :func:`check_for_pod` must hold for it."""

    name: str
    check_owner: bool


def reference(pod: Mapping[str, Any], entry: Mapping[str, Any]) -> ClaimReference | None:
    """Return the claim of `entry` (of `pod.spec.resourceClaims`); None when no claim is needed for it.

    Raises :class:`ClaimNotCreatedError` when a template's claim is not recorded in the pod's status, and
    :class:`ClaimReferenceError` when the entry has no source that is known here.
    """
    if (name := entry.get("resourceClaimName")) is not None:
        return ClaimReference(name, check_owner=False)
    metadata = pod["metadata"]
    where = f'pod "{metadata.get("namespace", "")}/{metadata["name"]}"'
    if entry.get("resourceClaimTemplateName") is None:
        raise ClaimReferenceError(
            f'{where}, spec.resourceClaim "{entry["name"]}": none of the supported fields are set'
        )
    for status in pod.get("status", {}).get("resourceClaimStatuses", ()):
        if status["name"] == entry["name"]:
            generated = status.get("resourceClaimName")
            return None if generated is None else ClaimReference(generated, check_owner=True)
    raise ClaimNotCreatedError(f"{where}: ResourceClaim not created yet")


def references(pod: Mapping[str, Any]) -> Iterator[tuple[str, ClaimReference]]:
    """Yield `(entry name, claim)` for every claim of `pod` that is known, in the order of the spec.

    The claim for extended resources comes last, with an empty entry name. Entries without a claim are left out.
    """
    for entry in pod.get("spec", {}).get("resourceClaims", ()):
        try:
            found = reference(pod, entry)
        except ClaimReferenceError:
            continue
        if found is not None:
            yield entry["name"], found
    extended = pod.get("status", {}).get("extendedResourceClaimStatus")
    if extended:
        yield "", ClaimReference(extended["resourceClaimName"], check_owner=False)


def controller_of(obj: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the owner reference that is marked as controller."""
    owners = obj["metadata"].get("ownerReferences", ())
    return next((owner for owner in owners if owner.get("controller")), None)


def check_for_pod(pod: Mapping[str, Any], claim: Mapping[str, Any], *, pod_groups: bool = False) -> None:
    """Raise :class:`ClaimReferenceError` unless `claim` was made for `pod` or, with `pod_groups`, for its PodGroup."""
    pod_meta, claim_meta = pod["metadata"], claim["metadata"]
    claim_key = f"{claim_meta.get('namespace', '')}/{claim_meta['name']}"
    pod_key = f"{pod_meta.get('namespace', '')}/{pod_meta['name']}"
    if claim_meta.get("namespace") != pod_meta.get("namespace"):
        raise ClaimReferenceError(f"ResourceClaim {claim_key} is not in the same namespace as Pod {pod_key}")
    owner = controller_of(claim)
    if owner is not None and owner.get("uid") == pod_meta.get("uid"):
        return
    group = _pod_group(pod) if pod_groups else None
    if group is None:
        raise ClaimReferenceError(f"ResourceClaim {claim_key} was not created for Pod {pod_key} (Pod is not owner)")
    if not _is_pod_group(owner, group):
        raise ClaimReferenceError(
            f"ResourceClaim {claim_key} was not created for Pod {pod_key} "
            f"(neither Pod nor PodGroup {group} is the owner)"
        )


def is_reserved_for(pod: Mapping[str, Any], claim: Mapping[str, Any], *, pod_groups: bool = False) -> bool:
    """Tell whether `claim.status.reservedFor` lists `pod` or, with `pod_groups`, its PodGroup."""
    group = _pod_group(pod) if pod_groups else None
    for consumer in claim.get("status", {}).get("reservedFor", ()):
        if consumer.get("uid") == pod["metadata"].get("uid"):
            return True
        if group is not None and is_pod_group(consumer) and consumer.get("name") == group:
            return True
    return False


def is_pod(consumer: Mapping[str, Any]) -> bool:
    """Tell whether an entry of `reservedFor` is a pod."""
    return not consumer.get("apiGroup") and consumer.get("resource") == "pods"


def is_pod_group(consumer: Mapping[str, Any]) -> bool:
    """Tell whether an entry of `reservedFor` is a PodGroup."""
    return consumer.get("apiGroup") == POD_GROUP_API and consumer.get("resource") == "podgroups"


def base_request(request: str) -> str:
    """Return the request of `request` or `request/subrequest`."""
    return request.partition("/")[0]


def _pod_group(pod: Mapping[str, Any]) -> str | None:
    group = pod.get("spec", {}).get("schedulingGroup") or {}
    name = group.get("podGroupName")
    return None if name is None else str(name)


def _is_pod_group(owner: Mapping[str, Any] | None, name: str) -> bool:
    return (
        owner is not None
        and owner.get("kind") == "PodGroup"
        and owner.get("name") == name
        and str(owner.get("apiVersion", "")).startswith(POD_GROUP_API + "/")
    )
