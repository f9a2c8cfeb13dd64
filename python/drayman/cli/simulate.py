"""say what the scheduler would do with manifests, in virtual time

Each FILE is a step: it is applied, the cluster settles, and the next one comes. The first step is the cluster as it
is found (nodes, slices, classes, running pods); `--nodes 2` starts two nodes with mock devices instead. Prints how
every pod and claim ended; with `--explain` why pods are not scheduled, as `drayman explain` does.

examples:
  drayman simulate cluster.yaml pods.yaml
  drayman simulate --nodes 2 pods.yaml -o json
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from drayman import cli, manifest
from drayman.api import schema
from drayman.cli import inputs, options
from drayman.cli.output import Printer, columns, note, print_json, print_yaml
from drayman.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Mapping, Sequence

    from drayman.manifest import Manifest
    from drayman.reasons import Answer
    from drayman.testing.simulate import End, Simulation


_FIELD = re.compile(r'(?:unknown field "|is invalid: \[?)([^":\s]+)')
"""Where the texts of the API server name the (first) field that is wrong."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    inputs.add_arguments(parser, what="a step")
    inputs.add_context(parser)
    parser.add_argument("--nodes", type=int, default=0, metavar="N", help="start N nodes with a mock driver")
    for name, default, what in (("--settle", 60.0, "after each step"), ("--wait", 6.0, "for a pod's verdict")):
        parser.add_argument(
            name, type=options.seconds, default=default, metavar="SECONDS", help=f"virtual time {what} (%(default)g)"
        )
    parser.add_argument(
        "--kubelet", action="store_true", help="run a fake kubelet on every Node of the first step: pods run and end"
    )
    parser.add_argument("--explain", action="store_true", help="explain every pod that is pending at the end")
    options.add_scheduler(parser)
    parser.add_argument("-o", "--output", choices=("table", "json", "yaml"), default="table", help="how to print")
    parser.add_argument("--exit-status", action="store_true", help="exit with 3 when a pod was not scheduled")


def run(arguments: argparse.Namespace) -> int:
    """Simulate and print the result."""
    named = inputs.files(arguments)
    simulation = _simulation(arguments)
    steps = [_load(file) for file in named]
    inputs.some([one for step in steps for one in step], named)
    steps = _stored(steps)
    context = [one.object for one in inputs.load_context(arguments.context_files)]
    _note_namespaces(steps)
    objects = [[loaded.object for loaded in step] for step in steps]
    end = _simulate([[*context, *objects[0]], *objects[1:]], simulation)
    state = end.state
    answers = _explain(end, simulation) if arguments.explain else {}
    if arguments.output == "table":
        printer = Printer()
        print_state(printer, state, explained=answers)
        for answer in answers.values():
            print(f"\n{answer.tree(columns())}")
        _complain(steps, state.get("rejected", {}))
        if state.get("rejected"):
            return cli.ERROR
    else:
        explained = {key: answer.content() for key, answer in answers.items()}
        more = {"explanations": explained} if arguments.explain else {}
        {"json": print_json, "yaml": print_yaml}[arguments.output]({**state, **more})
    waiting = [pod for pod in state["pods"].values() if not pod.get("node") and not pod.get("deleted")]
    return cli.NO if arguments.exit_status and (waiting or state.get("rejected")) else cli.DONE


def _simulate(steps: Sequence[Sequence[Mapping[str, Any]]], simulation: Simulation) -> End:
    from drayman.testing.simulate import play

    return play(steps, simulation)


def _explain(end: End, simulation: Simulation) -> Mapping[str, Answer]:
    """Return why pods are pending, by "namespace/name"."""
    from drayman.cluster import Cluster

    cluster = Cluster.from_objects(
        end.objects,
        kubernetes_version=simulation.options.kubernetes_version,
        feature_gates=simulation.options.feature_gates,
        compatibility=simulation.options.compatibility,
    )
    return {answer.name: answer for answer in cluster.explain_all()}


def _simulation(arguments: argparse.Namespace) -> Simulation:
    from drayman.testing.parts import Options, checked
    from drayman.testing.simulate import Simulation

    configuration = options.scheduler_configuration(arguments)
    return Simulation(
        options=checked(
            Options(
                kubernetes_version=configuration.kubernetes_version,
                feature_gates=configuration.feature_gates,
                compatibility=configuration.compatibility,
                nodes=arguments.nodes,
            )
        ),
        configuration=configuration,
        kubelet=arguments.kubelet,
        wait=arguments.wait,
        settle=arguments.settle,
    )


def _load(file: str) -> list[Manifest]:
    """Return the manifests of a step; all but the type and the metadata is for the API server to check."""
    loaded = manifest.load([file])
    for one in loaded:
        manifest.check_type(one)
        wrong = schema.decode(one.object).fatal
        if wrong and wrong.field.startswith("metadata"):
            line = one.position(wrong.field).line
            raise InputError(wrong.message, file=one.file, line=line, field=wrong.field)
    return loaded


def _stored(steps: Sequence[Sequence[Manifest]]) -> list[list[Manifest]]:
    """Return the steps without the kinds that a cluster has only after they were installed; one note names them."""
    foreign = {
        _group(one): str(one.object["kind"]) for step in steps for one in step if _group(one) not in schema.groups()
    }
    if foreign:
        note(f"`simulate` does not use {', '.join(sorted(foreign.values()))}: skipped")
    return [[one for one in step if _group(one) not in foreign] for step in steps]


def _group(one: Manifest) -> str:
    return str(one.object["apiVersion"]).rpartition("/")[0]


def _note_namespaces(steps: Sequence[Sequence[Manifest]]) -> None:
    """Say which namespaces are used before there is an object for them: they are created."""
    there, made = {"default"}, []
    for one in (one for step in steps for one in step):
        metadata = one.object.get("metadata") or {}
        if one.object["kind"] == "Namespace":
            there.add(str(metadata.get("name")))
        elif (namespace := metadata.get("namespace")) and namespace not in there:
            there.add(namespace)
            made.append(f"`{namespace}`")
    if made:
        note(f"namespaces that do not exist are created: {', '.join(made)}")


def _complain(steps: Sequence[Sequence[Manifest]], rejected: Mapping[str, str]) -> None:
    """Print what the API server refused, with the place in the files."""
    from drayman.testing.simulate import title

    places = {title(one.object): one for step in reversed(steps) for one in reversed(step)}
    for name, text in rejected.items():
        error = InputError(text, object=name)
        if place := places.get(name):
            field = _FIELD.search(text)
            error.file, error.line = place.file, place.position(field[1] if field else "").line
        cli.complain(error)


def print_state(printer: Printer, state: Mapping[str, Any], explained: Collection[str] = ()) -> None:
    """Print pods and claims as tables, and the messages of pods but those that are `explained` otherwise."""
    printer.table(
        ("POD", "NODE", "PHASE", "DEVICES"),
        [
            (
                key,
                pod.get("node", "<none>"),
                "<deleted>" if pod.get("deleted") else pod.get("phase", ""),
                "\n".join(_pod_devices(pod)),
            )
            for key, pod in state["pods"].items()
        ],
    )
    if state["pods"] and state["claims"]:
        printer.line()
    printer.table(
        ("CLAIM", "STATE", "DEVICES", "RESERVED FOR"),
        [
            (
                key,
                claim["state"],
                "\n".join(device["device"] for device in claim["devices"]),
                "\n".join(claim.get("reservedFor", [])),
            )
            for key, claim in state["claims"].items()
        ],
    )
    for key, pod in state["pods"].items():
        if pod.get("message") and key not in explained:
            printer.line()
            printer.paragraph(f"{key} is not scheduled: {pod['message']}")


def _pod_devices(pod: Mapping[str, Any]) -> list[str]:
    return [
        f"{name}: {device['device']}" for name, claim in pod.get("claims", {}).items() for device in claim["devices"]
    ]
