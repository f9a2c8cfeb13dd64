"""allocate claims offline: which devices would they get, and if none, why

Takes ResourceSlices, DeviceClasses, ResourceClaims, and pods with their templates. The claims of a pod are allocated
together on one node, claims without a pod alone; in the order of the files, each seeing the ones before. Exit code 3
when one gets nothing.

examples:
  drayman allocate claim.yaml --with gpu.example.com
  drayman allocate slices.yaml classes.yaml pod.yaml --node worker-1
  kubectl get resourceslices,deviceclasses,resourceclaims -A -o yaml | drayman allocate - --claim team-a/train
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman import cli
from drayman.cli import inputs, options
from drayman.cli.output import Printer, print_json, print_yaml
from drayman.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

    import drayman

KINDS = frozenset(
    {
        "DeviceClass",
        "DeviceTaintRule",
        "Node",
        "Pod",
        "ResourceClaim",
        "ResourceClaimTemplate",
        "ResourceSlice",
    }
)


@dataclass(frozen=True, slots=True)
class _Group:
    """Claims that are allocated together: those of `pod`, or a single one."""

    claims: tuple[str, ...]
    pod: str | None = None
    node: str | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    inputs.add_arguments(parser, what="manifests")
    inputs.add_context(parser)
    parser.add_argument("--node", help="allocate on this node (default: the first one that fits)")
    parser.add_argument("--claim", action="append", default=[], metavar="NS/NAME", help="only this claim; repeatable")
    options.add_kubernetes(parser, compatibility="1.37")
    parser.add_argument("-o", "--output", choices=("table", "json", "yaml"), default="table", help="how to print")
    parser.set_defaults(usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """Allocate and print the result."""
    import drayman

    named = inputs.files(arguments, arguments.usage_error)
    given = [*inputs.load_context(arguments.context_files), *inputs.load(named)]
    objects = [_placed(obj) for obj in inputs.split(given, KINDS, verb="allocate")]
    generated = list(_generated_claims(objects))
    cluster = drayman.Cluster.from_objects(
        [*objects, *generated],
        kubernetes_version=arguments.kubernetes_version,
        feature_gates=arguments.feature_gates,
        compatibility=arguments.compatibility,
    )
    groups = _groups(objects, generated, arguments.claim)
    results = []
    for group in groups:
        outcome = cluster.allocate(list(group.claims), node=arguments.node or group.node)
        if isinstance(outcome, drayman.Allocated):
            cluster = cluster.with_allocation(outcome)
        results.append((group, outcome))
    _print(arguments, results, {_key(obj): obj for obj in [*objects, *generated] if obj["kind"] == "ResourceClaim"})
    return cli.DONE if all(isinstance(outcome, drayman.Allocated) for _, outcome in results) else cli.NO


def _print(
    arguments: argparse.Namespace,
    results: Sequence[tuple[_Group, drayman.Allocated | drayman.Unallocatable]],
    claims: Mapping[str, Mapping[str, Any]],
) -> None:
    if arguments.output == "yaml":
        allocated = [_with_status(claims[key], allocation) for key, allocation in _allocations(results)]
        print_yaml({"apiVersion": "v1", "kind": "List", "items": allocated})
    elif arguments.output == "json":
        print_json(_json(arguments, results))
    else:
        _print_table(results)


def _print_table(results: Sequence[tuple[_Group, drayman.Allocated | drayman.Unallocatable]]) -> None:
    import drayman

    printer = Printer()
    rows = []
    for group, outcome in results:
        if not isinstance(outcome, drayman.Allocated):
            continue
        for key, allocation in zip(group.claims, outcome.allocations, strict=True):
            devices = allocation["devices"].get("results", [])
            rows.append(
                (
                    key,
                    outcome.node or "",
                    "\n".join(result["request"] for result in devices),
                    "\n".join(f"{result['driver']}/{result['pool']}/{result['device']}" for result in devices),
                )
            )
    printer.table(("CLAIM", "NODE", "REQUEST", "DEVICE"), rows)
    for group, outcome in results:
        if isinstance(outcome, drayman.Unallocatable):
            printer.line(f"{'' if not rows else chr(10)}{_title(group)}: cannot allocate all claims")
            printer.line(outcome.explanation.tree())


def _json(
    arguments: argparse.Namespace, results: Sequence[tuple[_Group, drayman.Allocated | drayman.Unallocatable]]
) -> dict[str, Any]:
    import drayman

    answers: list[dict[str, Any]] = []
    for group, outcome in results:
        answer: dict[str, Any] = {"claims": list(group.claims), **({"pod": group.pod} if group.pod else {})}
        if isinstance(outcome, drayman.Allocated):
            answer |= {"node": outcome.node, "allocations": outcome.allocations}
        else:
            answer |= {"explanation": outcome.explanation.json()}
        answers.append(answer)
    return {
        "version": 1,
        "kubernetes": arguments.kubernetes_version,
        "compatibility": arguments.compatibility,
        "results": answers,
    }


def _allocations(
    results: Sequence[tuple[_Group, drayman.Allocated | drayman.Unallocatable]],
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    import drayman

    for group, outcome in results:
        if isinstance(outcome, drayman.Allocated):
            yield from zip(group.claims, outcome.allocations, strict=True)


def _with_status(claim: Mapping[str, Any], allocation: Mapping[str, Any]) -> dict[str, Any]:
    return {**claim, "status": {**claim.get("status", {}), "allocation": dict(allocation)}}


def _groups(
    objects: Sequence[Mapping[str, Any]], generated: Sequence[Mapping[str, Any]], only: Sequence[str]
) -> list[_Group]:
    """Return what to allocate, in the order of the files; claims that are allocated already stay as they are."""
    claims = {_key(obj): obj for obj in [*objects, *generated] if obj["kind"] == "ResourceClaim"}
    for key in only:
        if key not in claims:
            known = ", ".join(f"`{known}`" for known in claims) or "none"
            raise InputError(f"claim `{key}` is not in the given files; there are: {known}")
    wanted = {key for key in (only or claims) if not claims[key].get("status", {}).get("allocation")}
    pods = [obj for obj in objects if obj["kind"] == "Pod"]
    of_pods = {key: _key(pod) for pod in reversed(pods) for key in _pod_claims(pod)}
    groups: list[_Group] = []
    for obj in objects:
        if obj["kind"] == "Pod":
            together = tuple(key for key in _pod_claims(obj) if key in wanted and of_pods[key] == _key(obj))
            if together:
                groups.append(_Group(together, _key(obj), obj["spec"].get("nodeName")))
        elif obj["kind"] == "ResourceClaim" and _key(obj) in wanted and _key(obj) not in of_pods:
            groups.append(_Group((_key(obj),)))
    return groups


def _pod_claims(pod: Mapping[str, Any]) -> Iterator[str]:
    """Yield "namespace/name" of each claim of the pod; those made from templates are called POD-ENTRY."""
    metadata = pod["metadata"]
    for entry in pod.get("spec", {}).get("resourceClaims") or []:
        name = entry.get("resourceClaimName") or f"{metadata['name']}-{entry['name']}"
        yield f"{metadata['namespace']}/{name}"


def _generated_claims(objects: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the claims that the templates of the pods give.

    Raises :class:`InputError` for what a pod names and is not there.
    """
    templates = {_key(obj): obj for obj in objects if obj["kind"] == "ResourceClaimTemplate"}
    claims = {_key(obj) for obj in objects if obj["kind"] == "ResourceClaim"}
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


def _placed(obj: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a namespaced object with its namespace."""
    if obj["kind"] not in ("Pod", "ResourceClaim", "ResourceClaimTemplate"):
        return obj
    metadata = obj["metadata"]
    return {**obj, "metadata": {**metadata, "namespace": metadata.get("namespace") or "default"}}


def _key(obj: Mapping[str, Any]) -> str:
    metadata = obj["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}" if "namespace" in metadata else str(metadata["name"])


def _title(group: _Group) -> str:
    return f"pod {group.pod}" if group.pod else f"claim {group.claims[0]}"
