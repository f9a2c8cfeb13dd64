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

from typing import TYPE_CHECKING, Any

from drayman import cli
from drayman.cli import claims, inputs, options
from drayman.cli.output import Printer, print_json, print_yaml

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
    objects = [claims.placed(obj) for obj in inputs.split(given, KINDS, verb="allocate")]
    generated = list(claims.generated_claims(objects))
    cluster = drayman.Cluster.from_objects(
        [*objects, *generated],
        kubernetes_version=arguments.kubernetes_version,
        feature_gates=arguments.feature_gates,
        compatibility=arguments.compatibility,
    )
    groups = claims.groups(objects, generated, arguments.claim)
    results = []
    for group in groups:
        outcome = cluster.allocate(list(group.claims), node=arguments.node or group.node)
        if isinstance(outcome, drayman.Allocated):
            cluster = cluster.with_allocation(outcome)
        results.append((group, outcome))
    _print(
        arguments,
        results,
        {claims.key_of(obj): obj for obj in [*objects, *generated] if obj["kind"] == "ResourceClaim"},
    )
    return cli.DONE if all(isinstance(outcome, drayman.Allocated) for _, outcome in results) else cli.NO


def _print(
    arguments: argparse.Namespace,
    results: Sequence[tuple[claims.Group, drayman.Allocated | drayman.Unallocatable]],
    given: Mapping[str, Mapping[str, Any]],
) -> None:
    if arguments.output == "yaml":
        allocated = [_with_status(given[key], allocation) for key, allocation in _allocations(results)]
        print_yaml({"apiVersion": "v1", "kind": "List", "items": allocated})
    elif arguments.output == "json":
        print_json(_json(arguments, results))
    else:
        _print_table(results)


def _print_table(results: Sequence[tuple[claims.Group, drayman.Allocated | drayman.Unallocatable]]) -> None:
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
            printer.line(f"{'' if not rows else chr(10)}{group.title}: cannot allocate all claims")
            printer.line(outcome.explanation.tree())


def _json(
    arguments: argparse.Namespace, results: Sequence[tuple[claims.Group, drayman.Allocated | drayman.Unallocatable]]
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
    results: Sequence[tuple[claims.Group, drayman.Allocated | drayman.Unallocatable]],
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    import drayman

    for group, outcome in results:
        if isinstance(outcome, drayman.Allocated):
            yield from zip(group.claims, outcome.allocations, strict=True)


def _with_status(claim: Mapping[str, Any], allocation: Mapping[str, Any]) -> dict[str, Any]:
    return {**claim, "status": {**claim.get("status", {}), "allocation": dict(allocation)}}
