"""allocate claims offline: which devices would they get, and if none, why

Takes ResourceSlices, DeviceClasses, ResourceClaims, and pods with their templates. The claims of a pod are allocated
together on one node, claims without a pod alone; in the order of the files, each seeing the ones before. What is
allocated in the files stays so: a pod goes where such claims of it can be used, or where it is already. Exit code 3
when one gets nothing, 1 when one ends a scheduling attempt with an error.

examples:
  drayman allocate claim.yaml --with gpu.example.com
  drayman allocate slices.yaml classes.yaml pod.yaml --node worker-1
  drayman allocate claim.yaml --context my-cluster --claim team-a/train
  drayman allocate --snapshot DIR
  kubectl get resourceslices,deviceclasses,resourceclaims -A -o yaml | drayman allocate -
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from drayman import cli
from drayman.cli import claims, inputs, options, sources
from drayman.cli.output import Printer, note, print_json, print_yaml
from drayman.errors import AllocationError, InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from drayman.cli.claims import Group, Plan
    from drayman.cli.placing import Answer, Placer
    from drayman.cluster import Cluster
    from drayman.manifest import Manifest

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
    sources.add_arguments(parser, namespace=False)
    parser.add_argument("--node", help="allocate on this node (default: the first one that fits)")
    parser.add_argument("--claim", action="append", default=[], metavar="NS/NAME", help="only this claim; repeatable")
    options.add_kubernetes(parser, compatibility="1.37")
    parser.add_argument("-o", "--output", choices=("table", "json", "yaml"), default="table", help="how to print")


def run(arguments: argparse.Namespace) -> int:
    """Allocate and print the result."""
    from drayman import features
    from drayman.cli import references

    features.resolve(feature_gates=arguments.feature_gates, kubernetes_version=arguments.kubernetes_version)
    manifests = _manifests(arguments)
    plan = claims.plan(manifests)
    groups = _chosen(plan, arguments.claim)
    waiting = [plan.claims[key] for group in groups for key in group.claims if not plan.claims[key].allocation]
    references.check(waiting, claims.of_kind(manifests, "DeviceClass"))
    answers = _answers(arguments, manifests, plan, groups)
    if not answers:
        note(f"nothing to allocate: {'all claims are allocated already' if plan.claims else 'there are no claims'}")
    _print(arguments, answers, plan)
    errors = [answer.error for answer in answers if answer.error]
    for error in errors:
        cli.complain(error)
    if errors:
        return cli.ERROR
    return cli.DONE if all(answer.fits for answer in answers) else cli.NO


def _manifests(arguments: argparse.Namespace) -> Sequence[Manifest]:
    named = sources.files(arguments)
    loaded = inputs.some(sources.load(arguments, named, kinds=KINDS).manifests, named)
    given = [*inputs.load_context(arguments.context_files), *loaded]
    return inputs.once([claims.placed(one) for one in inputs.split(given, KINDS, verb="allocate")])


def _chosen(plan: Plan, only: Sequence[str]) -> list[Group]:
    """Return the groups that are asked for."""
    keys = [name if "/" in name else f"default/{name}" for name in only]
    for key in keys:
        if key not in plan.claims:
            known = ", ".join(f"`{known}`" for known in plan.claims) or "none"
            raise InputError(f"claim `{key}` is not in the given files; there are: {known}")
    return claims.only(plan.groups, keys) if keys else plan.groups


def _answers(
    arguments: argparse.Namespace, manifests: Sequence[Manifest], plan: Plan, groups: Sequence[Group]
) -> list[Answer]:
    from drayman.cli.placing import Placer

    nodes = {name: one.object for name, one in claims.of_kind(manifests, "Node").items()}
    placer = Placer(_cluster(arguments, manifests, plan), plan, nodes)
    answers = []
    for group in groups:
        if placer.waiting(group):
            answers.append(_place(placer, plan, group, arguments.node))
        elif arguments.claim:
            answers.append(placer.known(group))
    return answers


def _cluster(arguments: argparse.Namespace, manifests: Sequence[Manifest], plan: Plan) -> Cluster:
    """Return the cluster of the files. Raises :class:`InputError` with the place of what it cannot take."""
    from drayman.cluster import Cluster

    others = [one.object for one in manifests if one.object["kind"] not in ("ResourceClaim", "Pod")]
    try:
        return Cluster.from_objects(
            [*others, *(claim.object for claim in plan.claims.values())],
            kubernetes_version=arguments.kubernetes_version,
            feature_gates=arguments.feature_gates,
            compatibility=arguments.compatibility,
        )
    except InputError as error:
        source = next((one for one in manifests if error.object and one.name == error.object), None)
        if source is not None:
            error.file, error.line = source.file, source.position(error.field or "").line
        raise


def _place(placer: Placer, plan: Plan, group: Group, node: str | None) -> Answer:
    from drayman.cli import placing

    try:
        return placer.place(group, node)
    except AllocationError as error:
        # Its text names the claim, or the class that all claims of the group use.
        key = next((key for key in group.claims if f"claim {key}" in str(error)), group.claims[0])
        source = plan.claims[key].source
        told = InputError(str(error), file=source.file, line=source.line, object=source.name, hint=error.hint)
        return placing.Answer(group, tuple(group.claims), error=told)


def _print(arguments: argparse.Namespace, answers: Sequence[Answer], plan: Plan) -> None:
    if arguments.output == "yaml":
        allocated = [
            _with_status(plan.claims[key].object, allocation)
            for answer in answers
            for key, allocation in zip(answer.claims, answer.allocations, strict=False)
        ]
        print_yaml({"apiVersion": "v1", "kind": "List", "items": allocated})
        for answer in answers:
            if not answer.fits and not answer.error:
                print(_refusal(answer), file=sys.stderr)
    elif arguments.output == "json":
        print_json(
            {
                "version": 1,
                "kubernetes": arguments.kubernetes_version,
                "compatibility": arguments.compatibility,
                "results": [_json(answer) for answer in answers],
            }
        )
    else:
        _print_table(answers)


def _print_table(answers: Sequence[Answer]) -> None:
    printer = Printer()
    fitting = [answer for answer in answers if answer.fits]
    printer.table(("CLAIM", "NODE", "REQUEST", "DEVICE"), [row for answer in fitting for row in _rows(answer)])
    for answer in fitting:
        if answer.was_there:
            note(f"{answer.group.title} is allocated already")
    for number, answer in enumerate(one for one in answers if not one.fits and not one.error):
        if number or fitting:
            printer.line()
        printer.line(_refusal(answer))


def _refusal(answer: Answer) -> str:
    why = answer.outcome.explanation.tree() if answer.outcome is not None else answer.refusal or ""
    return f"{answer.group.title}: cannot allocate all claims\n{why}"


def _rows(answer: Answer) -> list[tuple[str, str, str, str]]:
    rows = []
    for key, allocation in zip(answer.claims, answer.allocations, strict=True):
        devices = (allocation.get("devices") or {}).get("results") or []
        requests = "\n".join(result["request"] for result in devices)
        names = "\n".join(f"{result['driver']}/{result['pool']}/{result['device']}" for result in devices)
        rows.append((key, answer.node or "<any>", requests, names))
    return rows


def _json(answer: Answer) -> dict[str, Any]:
    group = {"claims": list(answer.claims), **({"pod": answer.group.pod} if answer.group.pod else {})}
    if answer.error:
        return {**group, "error": str(answer.error)}
    if answer.refusal:
        return {**group, "message": answer.refusal}
    if answer.outcome is not None:
        return {**group, "explanation": answer.outcome.explanation.json()}
    node = {"node": answer.node} if answer.node else {}
    was_there = {"allocatedAlready": True} if answer.was_there else {}
    return {**group, **node, **was_there, "allocations": list(answer.allocations)}


def _with_status(claim: Mapping[str, Any], allocation: Mapping[str, Any]) -> dict[str, Any]:
    return {**claim, "status": {**(claim.get("status") or {}), "allocation": dict(allocation)}}
