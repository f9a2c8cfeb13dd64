"""Which claims of manifests are allocated together: those of a pod, its templates expanded, or a claim by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Group:
    """Claims that are allocated together: those of `pod` (on `node` if it is bound already), or a single one."""

    claims: tuple[str, ...]
    pod: str | None = None
    node: str | None = None

    @property
    def title(self) -> str:
        """What to call it in messages."""
        return f"pod {self.pod}" if self.pod else f"claim {self.claims[0]}"


def groups(
    objects: Sequence[Mapping[str, Any]], generated: Sequence[Mapping[str, Any]], only: Sequence[str]
) -> list[Group]:
    """Return what to allocate, in the order of the files; claims that are allocated already stay as they are."""
    claims = {key_of(obj): obj for obj in [*objects, *generated] if obj["kind"] == "ResourceClaim"}
    for key in only:
        if key not in claims:
            known = ", ".join(f"`{known}`" for known in claims) or "none"
            raise InputError(f"claim `{key}` is not in the given files; there are: {known}")
    wanted = {key for key in (only or claims) if not claims[key].get("status", {}).get("allocation")}
    pods = [obj for obj in objects if obj["kind"] == "Pod"]
    of_pods = {key: key_of(pod) for pod in reversed(pods) for key in _pod_claims(pod)}
    groups: list[Group] = []
    for obj in objects:
        if obj["kind"] == "Pod":
            together = tuple(key for key in _pod_claims(obj) if key in wanted and of_pods[key] == key_of(obj))
            if together:
                groups.append(Group(together, key_of(obj), obj["spec"].get("nodeName")))
        elif obj["kind"] == "ResourceClaim" and key_of(obj) in wanted and key_of(obj) not in of_pods:
            groups.append(Group((key_of(obj),)))
    return groups


def _pod_claims(pod: Mapping[str, Any]) -> Iterator[str]:
    """Yield "namespace/name" of each claim of the pod; those made from templates are called POD-ENTRY."""
    metadata = pod["metadata"]
    for entry in pod.get("spec", {}).get("resourceClaims") or []:
        name = entry.get("resourceClaimName") or f"{metadata['name']}-{entry['name']}"
        yield f"{metadata['namespace']}/{name}"


def generated_claims(objects: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the claims that the templates of the pods give.

    Raises :class:`InputError` for what a pod names and is not there.
    """
    templates = {key_of(obj): obj for obj in objects if obj["kind"] == "ResourceClaimTemplate"}
    claims = {key_of(obj) for obj in objects if obj["kind"] == "ResourceClaim"}
    for pod in (obj for obj in objects if obj["kind"] == "Pod"):
        namespace, pod_name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        for index, entry in enumerate(pod.get("spec", {}).get("resourceClaims") or []):
            field = f"spec.resourceClaims[{index}]"
            if name := entry.get("resourceClaimName"):
                if f"{namespace}/{name}" not in claims:
                    raise InputError(
                        f"ResourceClaim `{namespace}/{name}` is not in the given files",
                        object=f"Pod {namespace}/{pod_name}",
                        field=f"{field}.resourceClaimName",
                    )
                continue
            template = templates.get(f"{namespace}/{entry.get('resourceClaimTemplateName')}")
            if template is None:
                raise InputError(
                    f"ResourceClaimTemplate `{namespace}/{entry.get('resourceClaimTemplateName')}`"
                    " is not in the given files",
                    object=f"Pod {namespace}/{pod_name}",
                    field=f"{field}.resourceClaimTemplateName",
                )
            yield {
                "apiVersion": template["apiVersion"],
                "kind": "ResourceClaim",
                "metadata": {"name": f"{pod_name}-{entry['name']}", "namespace": namespace},
                "spec": template["spec"]["spec"],
            }


def placed(obj: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a namespaced object with its namespace."""
    if obj["kind"] not in ("Pod", "ResourceClaim", "ResourceClaimTemplate"):
        return obj
    metadata = obj["metadata"]
    return {**obj, "metadata": {**metadata, "namespace": metadata.get("namespace") or "default"}}


def key_of(obj: Mapping[str, Any]) -> str:
    """Return "namespace/name", or "name" for objects without a namespace."""
    metadata = obj["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}" if "namespace" in metadata else str(metadata["name"])
