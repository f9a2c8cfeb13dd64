"""run the tutorial: pods that ask for mock GPUs, and what they get

Starts a cluster of two nodes with eight mock GPUs each and the drayman scheduler, applies the scenarios one after the
other, and shows for each what became of its claims and pods, and whether that is what the scenario says. Exit code 0
only if all is as it should be.

examples:
  drayman demo
  drayman demo --only shared-claim-two-pods --keep
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from drayman import cli
from drayman.cli import background
from drayman.cli.output import Printer
from drayman.cli.tables import Tables
from drayman.errors import DraymanError, InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from drayman.testing.clusters.live import Live
    from drayman.testing.scenario import Result, Scenario

COMMAND = "DRAYMAN_COMMAND"
"""Variable with which `hack/demo` says how its user calls this command: its `.venv` is not on their PATH."""

NODES = 2
DEVICES = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--name", help="name of the cluster (default: `demo`, or `demo-2`, … while that is running)")
    parser.add_argument("--keep", action="store_true", help="leave the cluster and the last scenario, for kubectl")
    parser.add_argument("--only", action="append", default=[], metavar="SCENARIO", help="run only this one; repeatable")
    parser.add_argument("--wide", action="store_true", help="show whole UIDs, and everything that containers got")
    parser.add_argument("--list", action="store_true", help="list the scenarios and exit")


def run(arguments: argparse.Namespace) -> int:
    """Run the demo."""
    import asyncio

    from drayman.testing import scenario
    from drayman.testing.clusters import registry

    scenarios = _chosen(scenario.shipped(), arguments.only)
    printer = Printer()
    if arguments.list:
        printer.table(("SCENARIO", "WHAT IT SHOWS"), [(one.name, one.title) for one in scenarios])
        return cli.DONE
    name = arguments.name or registry.free_name("demo")
    background.check_free(name)
    background.start(name, ["cluster", "up", name, "--nodes", str(NODES), "--devices", str(DEVICES)])
    keep = False
    try:
        failed = asyncio.run(_play(name, scenarios, Tables(printer, wide=arguments.wide), keep=arguments.keep))
        keep = arguments.keep
    except TimeoutError as error:
        raise DraymanError(str(error)) from error
    finally:
        if not keep:
            background.end(name)
    printer.title(f"{len(scenarios) - len(failed)} of {len(scenarios)} scenarios ended as they say")
    for one in failed:
        printer.line(f"not as expected: {one}")
    if keep:
        namespaces = ", ".join(scenarios[-1].namespaces)
        printer.title(f"the cluster is still running, with the last scenario in namespace {namespaces}")
        printer.line(f"export KUBECONFIG={registry.kubeconfig(name)}")
        printer.line("kubectl get resourceslices,resourceclaims,pods -A")
        printer.line(f"{os.environ.get(COMMAND, 'drayman')} cluster down {name}")
    return cli.ERROR if failed else cli.DONE


def _chosen(scenarios: Sequence[Scenario], only: Sequence[str]) -> list[Scenario]:
    known = {one.name: one for one in scenarios}
    for name in only:
        if name not in known:
            raise InputError(f"there is no scenario `{name}`", hint="drayman demo --list")
    return [one for one in scenarios if not only or one.name in only]


async def _play(name: str, scenarios: Sequence[Scenario], tables: Tables, *, keep: bool) -> list[str]:
    """Run the scenarios and return the names of those that did not end as they say."""
    from drayman.clock import RealClock
    from drayman.kube import connect
    from drayman.kube.resources import SLICES
    from drayman.testing import scenario
    from drayman.testing.clusters import registry
    from drayman.testing.clusters.live import Live

    async with connect.client(str(registry.kubeconfig(name)), user_agent="drayman-demo") as client:
        backend = Live(client, RealClock())
        await backend.wait_for_devices(NODES)
        tables.devices((await client.list(SLICES))[0])
        failed = []
        for number, one in enumerate(scenarios, 1):
            tables.printer.title(f"{number}/{len(scenarios)} {one.name}: {one.title}")
            result = await scenario.run(one, backend)
            await _show(one, result, backend, tables)
            if result.deviations:
                failed.append(one.name)
            if not keep or one is not scenarios[-1]:  # together, the scenarios need more devices than there are
                await scenario.clean_up(one, backend)
        return failed


async def _show(one: Scenario, result: Result, backend: Live, tables: Tables) -> None:
    pods = [pod for namespace in one.namespaces for pod in await backend.list("pods", namespace)]
    tables.claims(result.state["claims"])
    tables.pods(pods)
    tables.containers(pods)
    tables.reasons(result.state["pods"])
    for deviation in result.deviations:
        tables.printer.line(f"NOT AS EXPECTED: {deviation}")
    if not result.deviations:
        tables.printer.line("as expected")
