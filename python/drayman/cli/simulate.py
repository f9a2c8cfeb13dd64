"""say what the scheduler would do with manifests, in virtual time

Each FILE is a step: it is applied, the cluster settles, and the next one comes. The first step is the cluster as it
is found (nodes, slices, classes, running pods); `--nodes 2` starts two nodes with mock devices instead. Prints how
every pod and claim ended.

examples:
  drayman simulate cluster.yaml pods.yaml
  drayman simulate --nodes 2 pods.yaml -o json
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drayman import cli, manifest
from drayman.cli import inputs, options
from drayman.cli.output import Printer, print_json, print_yaml
from drayman.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from drayman.manifest import Manifest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    inputs.add_arguments(parser, what="a step")
    inputs.add_context(parser)
    parser.add_argument("--nodes", type=int, default=0, metavar="N", help="start N nodes with a mock driver")
    parser.add_argument("--settle", type=float, default=60.0, metavar="SECONDS", help="virtual time after each step")
    parser.add_argument("--wait", type=float, default=6.0, metavar="SECONDS", help="virtual time for a pod's verdict")
    parser.add_argument("--config", metavar="FILE", help="KubeSchedulerConfiguration of the scheduler")
    options.add_kubernetes(parser, compatibility="fixed")
    parser.add_argument("-o", "--output", choices=("table", "json", "yaml"), default="table", help="how to print")
    parser.add_argument("--exit-status", action="store_true", help="exit with 3 when a pod was not scheduled")
    parser.set_defaults(usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """Simulate and print the result."""
    from drayman import features, scheduler
    from drayman.testing.parts import Options
    from drayman.testing.simulate import Simulation, simulate

    steps = [_load(file) for file in inputs.files(arguments, arguments.usage_error)]
    context = inputs.load_context(arguments.context_files)
    simulation = Simulation(
        options=Options(
            kubernetes_version=arguments.kubernetes_version,
            feature_gates=features.parse(arguments.feature_gates),
            compatibility=arguments.compatibility,
            nodes=arguments.nodes,
        ),
        configuration=scheduler.Configuration.from_file(arguments.config) if arguments.config else None,
        wait=arguments.wait,
        settle=arguments.settle,
    )
    objects = [[loaded.object for loaded in step] for step in steps]
    state = simulate([[*context, *objects[0]], *objects[1:]], simulation)
    if arguments.output == "table":
        print_state(Printer(), state)
        _complain(steps, state.get("rejected", {}))
        if state.get("rejected"):
            return cli.ERROR
    else:
        {"json": print_json, "yaml": print_yaml}[arguments.output](state)
    waiting = [pod for pod in state["pods"].values() if not pod.get("node") and not pod.get("deleted")]
    return cli.NO if arguments.exit_status and (waiting or state.get("rejected")) else cli.DONE


def _load(file: str) -> list[Manifest]:
    """Return the manifests of a step; field names and values are for the API server to check."""
    loaded = manifest.load([file])
    for one in loaded:
        manifest.check_type(one)
    return loaded


def _complain(steps: Sequence[Sequence[Manifest]], rejected: Mapping[str, str]) -> None:
    """Print what the API server refused, with the place in the files."""
    from drayman.testing.simulate import title

    places = {title(one.object): one for step in reversed(steps) for one in reversed(step)}
    for name, text in rejected.items():
        place = places.get(name)
        error = InputError(text, object=name)
        if place is not None:
            error.file, error.line = place.file, place.line
        cli.complain(error)


def print_state(printer: Printer, state: Mapping[str, Any]) -> None:
    """Print pods and claims as tables."""
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
        if pod.get("message"):
            printer.line()
            printer.paragraph(f"{key} is not scheduled: {pod['message']}")


def _pod_devices(pod: Mapping[str, Any]) -> list[str]:
    return [
        f"{name}: {device['device']}" for name, claim in pod.get("claims", {}).items() for device in claim["devices"]
    ]
