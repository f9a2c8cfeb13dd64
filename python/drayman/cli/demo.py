"""run the tutorial: a cluster with mock GPUs, pods that ask for them, and what they got

Starts a cluster of two nodes with eight mock GPUs each and the drayman scheduler, applies the scenarios one after the
other, and shows for each what became of its claims and pods, and whether that is what the scenario says. Exit code 0
only if all is as it should be.

examples:
  drayman demo
  drayman demo --only shared-claim-two-pods --keep
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from drayman import cli, names
from drayman.cli import cluster
from drayman.cli.output import Printer
from drayman.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from drayman.kube.client import Client
    from drayman.testing.access import Access
    from drayman.testing.clusters.live import Live
    from drayman.testing.scenario import Result, Scenario

NODES = 2
DEVICES = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--name", default="demo", help="name of the cluster (default: %(default)s)")
    parser.add_argument("--keep", action="store_true", help="leave the cluster and the last scenario, for kubectl")
    parser.add_argument("--only", action="append", default=[], metavar="SCENARIO", help="run only this one; repeatable")
    parser.add_argument("--list", action="store_true", help="list the scenarios and exit")


def run(arguments: argparse.Namespace) -> int:
    """Run the demo."""
    from drayman.testing import scenario
    from drayman.testing.clusters import registry

    scenarios = _chosen(scenario.shipped(), arguments.only)
    printer = Printer()
    if arguments.list:
        printer.table(("SCENARIO", "WHAT IT SHOWS"), [(one.name, one.title) for one in scenarios])
        return cli.DONE
    if registry.find(arguments.name):
        raise InputError(f"a cluster `{arguments.name}` is running", hint=f"drayman cluster down {arguments.name}")
    options = ["--nodes", str(NODES), "--devices", str(DEVICES)]
    cluster.start_detached(arguments.name, ["cluster", "up", arguments.name, *options])
    keep = False
    try:
        failed = asyncio.run(_play(printer, arguments.name, scenarios, keep=arguments.keep))
        keep = arguments.keep
    finally:
        if not keep:
            cluster.end(arguments.name)
    if keep:
        printer.title("the cluster is still running")
        printer.line(f"export KUBECONFIG={registry.kubeconfig(arguments.name)}")
        printer.line("kubectl get resourceslices,resourceclaims,pods -A")
        printer.line(f"drayman cluster down {arguments.name}")
    return cli.ERROR if failed else cli.DONE


def _chosen(scenarios: Sequence[Scenario], only: Sequence[str]) -> list[Scenario]:
    known = {one.name: one for one in scenarios}
    for name in only:
        if name not in known:
            raise InputError(f"there is no scenario `{name}`", hint="drayman demo --list")
    return [one for one in scenarios if not only or one.name in only]


async def _play(printer: Printer, name: str, scenarios: Sequence[Scenario], *, keep: bool) -> list[str]:
    """Run the scenarios and return the names of those that did not end as they say."""
    from drayman.clock import RealClock
    from drayman.kube import connect
    from drayman.testing import scenario
    from drayman.testing.clusters import registry
    from drayman.testing.clusters.live import Live

    async with connect.client(str(registry.kubeconfig(name)), user_agent="drayman-demo") as client:
        backend = Live(client, RealClock())
        await _wait_for_devices(backend)
        await _print_devices(printer, client)
        failed = []
        for number, one in enumerate(scenarios, 1):
            printer.title(f"{number}/{len(scenarios)} {one.name}: {one.title}")
            result = await scenario.run(one, backend)
            await _print_result(printer, backend, one, result)
            if result.deviations:
                failed.append(one.name)
            if not keep or one is not scenarios[-1]:  # together, the scenarios need more devices than there are
                await scenario.clean_up(one, backend)
        printer.title(f"{len(scenarios) - len(failed)} of {len(scenarios)} scenarios ended as they say")
        for name in failed:
            printer.line(f"not as expected: {name}")
        return failed


async def _wait_for_devices(backend: Live) -> None:
    """Wait until every node has published its devices."""
    from drayman.kube.resources import SLICES

    async def published() -> str | None:
        slices, _ = await backend.client.list(SLICES)
        nodes = {item["spec"].get("nodeName") for item in slices}
        return None if len(nodes) == NODES else f"{len(nodes)} of {NODES} nodes have published their devices"

    await backend.wait(published)


async def _print_devices(printer: Printer, client: Client) -> None:
    from drayman.kube.resources import SLICES

    slices, _ = await client.list(SLICES)
    printer.title("ResourceSlices and their devices")
    printer.table(
        ("SLICE", "NODE", "DRIVER", "POOL", "GENERATION", "DEVICES"),
        [
            (
                item["metadata"]["name"],
                item["spec"].get("nodeName", ""),
                item["spec"]["driver"],
                item["spec"]["pool"]["name"],
                f"{item['spec']['pool']['generation']} (of {item['spec']['pool']['resourceSliceCount']})",
                str(len(item["spec"].get("devices", []))),
            )
            for item in slices
        ],
    )
    printer.line()
    printer.table(
        ("DEVICE", "ATTRIBUTES", "CAPACITY"),
        [
            (
                f"{item['spec']['pool']['name']}/{device['name']}",
                ", ".join(f"{name}={_value(value)}" for name, value in device.get("attributes", {}).items()),
                ", ".join(f"{name}={value['value']}" for name, value in device.get("capacity", {}).items()),
            )
            for item in slices
            for device in item["spec"].get("devices", [])
        ],
    )


async def _print_result(printer: Printer, backend: Access, one: Scenario, result: Result) -> None:
    claims = result.state["claims"]
    printer.table(
        ("CLAIM", "STATE", "DEVICES"),
        [(_short(key), claim["state"], _devices(claim)) for key, claim in claims.items()],
    )
    pods = await backend.list("pods")
    wanted = [pod for pod in pods if pod["metadata"]["namespace"] in one.namespaces]
    printer.table(
        ("POD", "NODE", "PHASE", "CONTAINER", "CDI DEVICES", "ENVIRONMENT"), [_pod_row(pod) for pod in wanted]
    )
    for key, pod in result.state["pods"].items():
        if pod.get("message"):
            printer.line(f"{_short(key)} is not scheduled: {pod['message']}")
    for deviation in result.deviations:
        printer.line(f"NOT AS EXPECTED: {deviation}")
    if not result.deviations:
        printer.line("as expected")


def _pod_row(pod: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the cells of a pod; its containers stand in lines of one cell each."""
    metadata, status = pod["metadata"], pod.get("status", {})
    containers = json.loads(metadata.get("annotations", {}).get(names.CONTAINERS, "{}"))
    column_names: list[str] = []
    devices: list[str] = []
    environments: list[str] = []
    for name, container in containers.items():
        injected = [f"{key}={value}" for key, value in container["env"].items() if key.startswith("GPU_DEVICE")]
        height = max(1, len(container["cdiDevices"]), len(injected))
        for column, lines in ((column_names, [name]), (devices, container["cdiDevices"]), (environments, injected)):
            column += [*lines, *[""] * (height - len(lines))]
    node = pod["spec"].get("nodeName", "<none>")
    return (
        metadata["name"],
        node,
        status.get("phase", ""),
        "\n".join(column_names),
        "\n".join(devices),
        "\n".join(environments),
    )


def _devices(claim: Mapping[str, Any]) -> str:
    return "\n".join(f"{device['request']}: {device['device']}" for device in claim["devices"])


def _value(attribute: Mapping[str, Any]) -> str:
    return str(next(iter(attribute.values()), ""))


def _short(key: str) -> str:
    """Return the name of "namespace/name": each scenario has a namespace of its own."""
    return key.rpartition("/")[2]
