"""Which claims of manifests are allocated together: those of a pod, its templates expanded, or a claim by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from drayman.errors import InputError

if TYPE_CHECKING:
    from drayman.manifest import Manifest

Object = Mapping[str, Any]

NAMESPACED = ("Pod", "ResourceClaim", "ResourceClaimTemplate")


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, and where its spec stands: at `path` in `source`, which is the claim itself or its template."""

    object: Object
    source: Manifest
    path: str = "spec"

    @property
    def allocation(self) -> Object | None:
        """The allocation that the files have for it."""
        return (self.object.get("status") or {}).get("allocation") or None


@dataclass(frozen=True, slots=True)
class Group:
    """Claims that are allocated together: those of `pod`, which may be on `node` already, or a single one."""

    claims: tuple[str, ...]
    pod: str | None = None
    node: str | None = None

    @property
    def title(self) -> str:
        """What to call it in messages."""
        return f"pod {self.pod}" if self.pod else f"claim {self.claims[0]}"


@dataclass(slots=True)
class Plan:
    """All claims by "namespace/name", those made from templates too, and the groups in the order of the files."""

    claims: dict[str, Claim] = field(default_factory=dict)
    groups: list[Group] = field(default_factory=list)


def plan(manifests: Sequence[Manifest]) -> Plan:
    """Return what there is to allocate.

    Raises :class:`InputError` for what a pod names and is not there, and for a claim entry that the API refuses.
    """
    found = Plan({key: Claim(one.object, one) for key, one in of_kind(manifests, "ResourceClaim").items()})
    templates = of_kind(manifests, "ResourceClaimTemplate")
    groups = {id(one): _pod_group(one, found.claims, templates) for one in manifests if _is_waiting_pod(one.object)}
    of_pods = {key for group in groups.values() for key in group.claims}
    for one in manifests:
        if id(one) in groups and groups[id(one)].claims:
            found.groups.append(groups[id(one)])
        elif one.object["kind"] == "ResourceClaim" and key_of(one.object) not in of_pods:
            found.groups.append(Group((key_of(one.object),)))
    return found


def only(groups: Sequence[Group], wanted: Sequence[str]) -> list[Group]:
    """Return the groups with nothing but the `wanted` claims, each in the first group that has it."""
    left = dict.fromkeys(wanted)
    chosen = []
    for group in groups:
        claims = tuple(key for key in group.claims if key in left)
        if claims:
            chosen.append(replace(group, claims=claims))
        for key in claims:
            del left[key]
    return chosen


def placed(manifest: Manifest) -> Manifest:
    """Return an object that has its name and, where it needs one, its namespace."""
    obj = manifest.object
    metadata = obj.get("metadata") or {}
    if not metadata.get("name"):
        raise _error(manifest, "metadata.name", "not set")
    if obj["kind"] not in NAMESPACED:
        return manifest
    placed_metadata = {**metadata, "namespace": metadata.get("namespace") or "default"}
    return replace(manifest, object={**obj, "metadata": placed_metadata})


def of_kind(manifests: Sequence[Manifest], kind: str) -> dict[str, Manifest]:
    """Return the manifests of a kind by "namespace/name" or "name"; of two with one name the later counts."""
    return {key_of(one.object): one for one in manifests if one.object["kind"] == kind}


def key_of(obj: Object) -> str:
    """Return "namespace/name", or "name" for objects without a namespace."""
    metadata = obj["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}" if "namespace" in metadata else str(metadata["name"])


def _is_waiting_pod(obj: Object) -> bool:
    """Tell whether the object is a pod that needs its claims: one that has ended does not."""
    return obj["kind"] == "Pod" and (obj.get("status") or {}).get("phase") not in ("Succeeded", "Failed")


def _pod_group(pod: Manifest, claims: dict[str, Claim], templates: Mapping[str, Manifest]) -> Group:
    """Return the pod's claims; those that its templates give are added to `claims`."""
    spec = pod.object.get("spec") or {}
    keys = list(_pod_claims(pod, claims, templates))
    return Group(tuple(dict.fromkeys(keys)), key_of(pod.object), spec.get("nodeName") or None)


def _pod_claims(pod: Manifest, claims: dict[str, Claim], templates: Mapping[str, Manifest]) -> Iterator[str]:
    namespace = pod.object["metadata"]["namespace"]
    made = _made_claims(pod.object)
    for index, entry in enumerate((pod.object.get("spec") or {}).get("resourceClaims") or []):
        path = f"spec.resourceClaims[{index}]"
        _check_entry(pod, path, entry)
        name = entry.get("resourceClaimName") or made.get(entry["name"])
        if name and f"{namespace}/{name}" in claims:
            yield f"{namespace}/{name}"
        elif entry.get("resourceClaimName"):
            raise _missing(pod, f"{path}.resourceClaimName", "ResourceClaim", f"{namespace}/{name}")
        else:
            key = f"{namespace}/{entry['resourceClaimTemplateName']}"
            if key not in templates:
                raise _missing(pod, f"{path}.resourceClaimTemplateName", "ResourceClaimTemplate", key)
            claim = _from_template(templates[key], f"{pod.object['metadata']['name']}-{entry['name']}", claims)
            claims[key_of(claim.object)] = claim
            yield key_of(claim.object)


def _made_claims(pod: Object) -> dict[str, str]:
    """Return the claims that the cluster has made for the pod already, by the name of their entry."""
    statuses = (pod.get("status") or {}).get("resourceClaimStatuses") or []
    return {str(one.get("name")): one["resourceClaimName"] for one in statuses if one.get("resourceClaimName")}


def _check_entry(pod: Manifest, path: str, entry: Object) -> None:
    """Refuse what the API refuses of a claim entry, in its words."""
    sources = [source for source in ("resourceClaimName", "resourceClaimTemplateName") if entry.get(source)]
    if not entry.get("name"):
        raise _error(pod, f"{path}.name", "not set")
    if not sources:
        raise _error(pod, path, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
    if len(sources) > 1:
        raise _error(pod, path, "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified")


def _from_template(template: Manifest, name: str, taken: Mapping[str, Claim]) -> Claim:
    """Return the claim that a template gives, called `name` where that is free; a server adds random letters."""
    namespace = template.object["metadata"]["namespace"]
    number = 1
    free = name
    while f"{namespace}/{free}" in taken:
        number += 1
        free = f"{name}-{number}"
    inner = template.object.get("spec") or {}
    metadata = {key: value for key, value in (inner.get("metadata") or {}).items() if key in ("labels", "annotations")}
    made = {
        "apiVersion": template.object["apiVersion"],
        "kind": "ResourceClaim",
        "metadata": {"name": free, "namespace": namespace, **metadata},
        "spec": inner.get("spec") or {},
    }
    return Claim(made, template, "spec.spec")


def _missing(manifest: Manifest, path: str, kind: str, key: str) -> InputError:
    return _error(manifest, path, f"{kind} `{key}` is not in the given files")


def _error(manifest: Manifest, path: str, message: str) -> InputError:
    return InputError(message, file=manifest.file, line=manifest.position(path).line, object=manifest.name, field=path)
