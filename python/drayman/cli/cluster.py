"""start, list and end clusters on this machine, with their API on a loopback socket

`up` runs in the foreground until interrupted, or with --detach in the background. kubectl and any other client can
use the cluster. The backend `fake` is embedded in drayman; `local` is Kubernetes' own control plane, with one real
kubelet as root and fake ones else; `kind` has nodes in Docker, and stays with --keep or --detach until `down`.
`existing` brings our scheduler into a cluster that is there, under names of its own, and takes it out again.

examples:
  drayman cluster up
  drayman cluster up test --detach --nodes 4
  drayman cluster up --backend local --scheduler upstream
  drayman cluster up --backend kind --detach
  drayman cluster up --backend existing --context staging --plan
  export KUBECONFIG=$(drayman cluster kubeconfig test --path)
  drayman cluster down test
"""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from drayman import cli
from drayman.cli import background, options
from drayman.cli.output import Printer
from drayman.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from drayman.testing.clusters import registry
    from drayman.testing.clusters.backends import Choice
    from drayman.testing.parts import Options

DEFAULT_NAME = "drayman"
BACKENDS = ("fake", "local", "kind", "existing")
SCHEDULERS = ("drayman", "upstream", "both", "none")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions and their options."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    up = actions.add_parser("up", help="start a cluster")
    _add_name(up)
    up.add_argument("--backend", choices=BACKENDS, default="fake", help="kind of cluster (default: %(default)s)")
    up.add_argument(
        "--nodes", type=int, metavar="N", help="nodes with a mock driver (default: 2; 1 for a real kubelet)"
    )
    up.add_argument("--devices", type=int, default=8, metavar="N", help="devices of each (default: %(default)s)")
    up.add_argument("--port", type=options.port, default=0, help="port of the API server (default: any free one)")
    up.add_argument(
        "--scheduler",
        choices=SCHEDULERS,
        default="drayman",
        help="`upstream`: kube-scheduler; `both`: each for pods with its schedulerName (default: %(default)s)",
    )
    up.add_argument("--no-scheduler", action="store_const", dest="scheduler", const="none", help="--scheduler none")
    up.add_argument(
        "--kubelet",
        choices=("auto", "real", "fake"),
        default="auto",
        help="of the backend `local`: `auto` is real as root, else fake (default: %(default)s)",
    )
    up.add_argument(
        "--keep", action="store_true", help="of the backend `kind`: leave the cluster when this command ends"
    )
    up.add_argument("--logs", type=Path, metavar="DIR", help="keep there what the cluster's processes say")
    up.add_argument(
        "--detach",
        "-d",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="run in the background; end it with `down`",
    )
    options.add_kubernetes(up, compatibility="fixed")
    options.add_verbosity(up)
    options.add_existing(up)
    up.set_defaults(act=_up)
    listed = actions.add_parser("list", help="list the running clusters")
    listed.set_defaults(act=_list)
    down = actions.add_parser("down", help="end a cluster")
    _add_name(down)
    down.add_argument("--run", dest="run_id", metavar="ID", help="remove this run from the cluster of the kubeconfig")
    options.add_server(down)
    down.set_defaults(act=_down)
    kubeconfig = actions.add_parser("kubeconfig", help="print the kubeconfig of a cluster")
    _add_name(kubeconfig)
    kubeconfig.add_argument("--path", action="store_true", help="print where it is instead")
    kubeconfig.set_defaults(act=_kubeconfig)


def run(arguments: argparse.Namespace) -> int:
    """Carry out the action."""
    return int(arguments.act(arguments))


def _add_name(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", default=DEFAULT_NAME, metavar="NAME", help="(default: %(default)s)")


def _up(arguments: argparse.Namespace) -> int:
    import asyncio

    chosen = _options(arguments)
    if arguments.backend != "existing":
        options.refuse_existing(arguments)
    if arguments.plan:
        return _plan(arguments)
    background.check_free(arguments.name)
    can_stay = _choice(arguments).can_stay
    if arguments.keep and not can_stay:
        raise InputError(f"a cluster of the backend `{arguments.backend}` ends with its process", hint="--detach")
    if can_stay or not arguments.detach:
        options.start_logging(arguments.verbose)
        return asyncio.run(_serve(arguments, chosen))
    background.start(arguments.name, [*arguments.given, "--no-detach"], backend=arguments.backend)
    _tell(arguments.name)
    return cli.DONE


def _plan(arguments: argparse.Namespace) -> int:
    import asyncio

    from drayman.testing.clusters import existing

    for line in asyncio.run(existing.planned(options.existing_request(arguments))):
        print(line)
    return cli.DONE


def _options(arguments: argparse.Namespace) -> Options:
    """Return what the cluster consists of. Raises :class:`MissingExtraError` where that is not installed."""
    from drayman import features

    try:
        importlib.import_module(f"drayman.testing.clusters.{arguments.backend}")
        from drayman.testing.parts import Options, checked
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("drayman"):
            raise
        raise MissingExtraError(f"the {arguments.backend} cluster", "all") from error
    return checked(
        Options(
            kubernetes_version=arguments.kubernetes_version,
            feature_gates=features.parse(arguments.feature_gates),
            compatibility=arguments.compatibility,
            scheduler=arguments.scheduler in ("drayman", "both"),
            nodes=_choice(arguments).nodes(arguments.nodes),
            devices=arguments.devices,
        )
    )


def _choice(arguments: argparse.Namespace) -> Choice:
    from drayman.testing.clusters.backends import Choice

    chosen = arguments
    request = options.existing_request(arguments) if chosen.backend == "existing" else None
    keep = chosen.keep or chosen.detach
    return Choice(
        chosen.backend, chosen.scheduler, chosen.kubelet, chosen.port, chosen.logs, request, chosen.name, keep
    )


async def _serve(arguments: argparse.Namespace, chosen: Options) -> int:
    """Run the cluster until the process is told to end, at any moment; return the exit code."""
    import asyncio

    from drayman.testing.clusters import backends, registry

    told = _ended_when_told()
    is_ready = False
    registry.forget_killed()
    try:
        with registry.reserved(arguments.name):
            await backends.remove_containers(arguments.name)
            async with backends.running(_choice(arguments), chosen) as server:
                registry.record(_entry(arguments, chosen, server.url), server)
                is_ready = True
                _tell(arguments.name)
                if not arguments.detach:
                    print("running until interrupted with Ctrl-C", flush=True)
                    await asyncio.Event().wait()
    except asyncio.CancelledError:
        if not told:
            raise
    if is_ready and _choice(arguments).stays:
        print(f"cluster `{arguments.name}` stays; `drayman cluster down {arguments.name}` deletes it", flush=True)
    return cli.DONE if is_ready and signal.SIGINT not in told else cli.INTERRUPTED


def _ended_when_told() -> list[int]:
    """Let the first signal to end cancel this task; return a list to which signals are added.

    Those that follow change nothing, so that who presses Ctrl-C twice does not keep the cluster from cleaning up.
    """
    import asyncio

    told: list[int] = []
    task = asyncio.current_task()

    def end(number: int) -> None:
        if not told and task is not None:
            task.cancel()
        told.append(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # `nohup`, and jobs in the background of a script
            asyncio.get_running_loop().add_signal_handler(number, end, number)
    return told


def _entry(arguments: argparse.Namespace, chosen: Options, url: str) -> registry.Entry:
    from drayman.clock import RealClock
    from drayman.testing.clusters import registry
    from drayman.timestamps import rfc3339

    noted = registry.noted(arguments.name) or {}
    return registry.Entry(
        name=arguments.name,
        backend=arguments.backend,
        kubernetes=noted.get("kubernetes", arguments.kubernetes_version),
        nodes=len(noted["nodes"].split(",")) if "nodes" in noted else chosen.nodes,
        server=url,
        created=rfc3339(RealClock().now()),
        pid=os.getpid(),
        started=registry.process_start(os.getpid()) or "",
        stays=_choice(arguments).stays,
    )


def _tell(name: str) -> None:
    from drayman.testing.clusters import registry

    print(f"cluster `{name}` is running")
    print(f"export KUBECONFIG={registry.kubeconfig(name)}")


def _list(_: argparse.Namespace) -> int:
    from drayman.testing.clusters import registry

    rows = [
        (entry.name, entry.backend, entry.kubernetes, str(entry.nodes), entry.server, entry.created)
        for entry in registry.running()
    ]
    if not rows:
        print("no clusters are running", file=sys.stderr)
    Printer().table(("NAME", "BACKEND", "KUBERNETES", "NODES", "SERVER", "CREATED"), rows)
    return cli.DONE


def _down(arguments: argparse.Namespace) -> int:
    from drayman.testing.clusters import registry

    name = arguments.name
    if arguments.run_id:
        return _remove_run(arguments)
    last = registry.last(name)
    if (last is None and registry.noted(name) is None) or (last is not None and last.alive()):
        background.end(name)
        print(f"cluster `{name}` has ended")
        return cli.DONE
    background.remove_killed(name, arguments.kubeconfig, arguments.context)
    print(f"the process of cluster `{name}` was killed before; what it left is removed")
    return cli.DONE


def _remove_run(arguments: argparse.Namespace) -> int:
    import asyncio

    from drayman.kube import config
    from drayman.testing.clusters import existing

    server = config.load(arguments.kubeconfig, context=arguments.context)
    asyncio.run(existing.remove(existing.Run(arguments.run_id), server))
    print(f"nothing of run `{arguments.run_id}` is left in {server.url}")
    return cli.DONE


def _kubeconfig(arguments: argparse.Namespace) -> int:
    from drayman.testing.clusters import registry

    registry.existing(arguments.name)
    path = registry.kubeconfig(arguments.name)
    print(path if arguments.path else path.read_text(), end="\n" if arguments.path else "")
    return cli.DONE
