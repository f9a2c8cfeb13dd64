"""Rules about how pods use ResourceClaims. Source: `pkg/apis/core/validation`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drayman.api.field import Path, duplicate, forbidden, invalid, not_found, required
from drayman.api.validation import names
from drayman.api.validation.rules import Errors, matching

_MIRROR_POD = "kubernetes.io/config.mirror"


def claim_names(spec: Mapping[str, Any]) -> frozenset[str]:
    """Return the names under which containers may refer to the claims of a pod."""
    return frozenset(claim["name"] for claim in spec.get("resourceClaims") or () if claim.get("name"))


def resource_claims(path: Path, claims: Sequence[Mapping[str, Any]] | None, metadata: Mapping[str, Any]) -> Errors:
    """Each entry of `spec.resourceClaims` has a name of its own, and one source."""
    seen: set[str] = set()
    for index, claim in enumerate(claims or ()):
        if _MIRROR_POD in (metadata.get("annotations") or {}):
            yield forbidden(Path(), "static pods do not support resource claims")
            continue
        yield from _claim_name(path.index(index).child("name"), claim.get("name", ""), seen)
        yield from _source(path.index(index), claim)


def _claim_name(path: Path, name: str, seen: set[str]) -> Errors:
    if not name:
        yield required(path)
    elif name in seen:
        yield duplicate(path, name)
    else:
        yield from matching(path, name, names.dns_label)
        seen.add(name)


def _source(path: Path, claim: Mapping[str, Any]) -> Errors:
    by_name, by_template = claim.get("resourceClaimName"), claim.get("resourceClaimTemplateName")
    # Upstream shows the entry with the names of its internal Go type.
    shown = {"Name": claim.get("name", ""), "ResourceClaimName": by_name, "ResourceClaimTemplateName": by_template}
    if by_name is not None and by_template is not None:
        text = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
        yield invalid(path, shown, text)
    if by_name is None and by_template is None:
        yield invalid(path, shown, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
    if by_name is not None:
        yield from matching(path.child("resourceClaimName"), by_name, names.dns_subdomain)
    if by_template is not None:
        yield from matching(path.child("resourceClaimTemplateName"), by_template, names.dns_subdomain)


def container_claims(path: Path, claims: Sequence[Mapping[str, Any]] | None, known: frozenset[str]) -> Errors:
    """A container refers to claims of its pod, as a whole or by request, and to nothing twice."""
    seen: set[str] = set()
    for index, claim in enumerate(claims or ()):
        name = claim.get("name", "")
        if not name:
            yield required(path.index(index))
            continue
        yield from _overlap(path.index(index), name, claim.get("request", ""), seen)
        if name not in known:
            among = f": {', '.join(sorted(known))}" if known else " which is empty"
            yield not_found(path.index(index), name, f"must be one of the names in pod.spec.resourceClaims{among}")


def _overlap(path: Path, name: str, request: str, seen: set[str]) -> Errors:
    if name in seen:
        yield duplicate(path, name)
        return
    key = f"{name}/{request}" if request else name
    if request:
        yield from matching(path.child("request"), request, names.dns_label)
    if key in seen:
        yield duplicate(path, key)
    elif not request:
        for other in sorted(seen):
            if other.partition("/")[0] == name:
                yield duplicate(path, name)
    seen.add(key)


def claim_statuses(path: Path, statuses: Sequence[Mapping[str, Any]] | None, spec: Mapping[str, Any]) -> Errors:
    """`status.resourceClaimStatuses` tells which claims were generated for entries of the spec."""
    known, seen = claim_names(spec), set[str]()
    for index, status in enumerate(statuses or ()):
        name_path, name = path.index(index).child("name"), status.get("name", "")
        if name not in known:
            yield invalid(name_path, name, "must match the name of an entry in `spec.resourceClaims`")
        if name in seen:
            yield duplicate(name_path, name)
        seen.add(name)
        if status.get("resourceClaimName") is not None:
            claim_path = path.index(index).child("resourceClaimName")
            yield from matching(claim_path, status["resourceClaimName"], names.dns_subdomain)


def extended_resource_claim(path: Path, status: Mapping[str, Any] | None, spec: Mapping[str, Any]) -> Errors:
    """`status.extendedResourceClaimStatus` maps requests for extended resources to requests of a claim."""
    if status is None:
        return
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    requests = {
        container.get("name", ""): (container.get("resources") or {}).get("requests") or {} for container in containers
    }
    mappings, mappings_path = status.get("requestMappings") or (), path.child("requestMappings")
    if not mappings:
        yield required(mappings_path, "at least one request mapping is required")
    seen = set()
    for index, mapping in enumerate(mappings):
        yield from _request_mapping(mappings_path.index(index), mapping, requests)
        yield from matching(path.child("requestName"), mapping.get("requestName", ""), names.dns_label)
        key = tuple(mapping.get(name, "") for name in _MAPPING_KEY)
        if key in seen:
            for name, value in zip(_MAPPING_KEY, key, strict=True):
                yield duplicate(mappings_path.index(index).child(name), value)
        seen.add(key)
    claim = status.get("resourceClaimName")
    if not claim:
        yield required(path.child("resourceClaimName"))
    else:
        yield from matching(path.child("resourceClaimName"), claim, names.dns_subdomain)


_MAPPING_KEY = ("containerName", "resourceName", "requestName")


def _request_mapping(path: Path, mapping: Mapping[str, Any], requests: Mapping[str, Mapping[str, Any]]) -> Errors:
    container, resource = mapping.get("containerName", ""), mapping.get("resourceName", "")
    if container not in requests:
        text = "must match the name of an entry in spec.initContainers.name or spec.containers.name"
        yield invalid(path.child("containerName"), container, text)
    elif resource not in requests[container]:
        text = (
            "must match the extended resource name of an entry in spec.initContainers.resources.requests "
            "or spec.containers.resources.requests"
        )
        yield invalid(path.child("resourceName"), resource, text)
