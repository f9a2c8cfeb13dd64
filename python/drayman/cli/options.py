"""Options that several verbs share, so that they are spelled and explained once."""

from __future__ import annotations

import argparse
import math
import re
from typing import TYPE_CHECKING

from drayman.errors import InputError

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from drayman.scheduler import Configuration
    from drayman.serving import Address, Probes
    from drayman.testing.clusters import existing


def add_kubernetes(parser: argparse.ArgumentParser, *, compatibility: str) -> None:
    """Add the options that say which Kubernetes is meant."""
    _add_version(parser)
    _add_compatibility(parser, compatibility, "(default: %(default)s)")


def add_scheduler(parser: argparse.ArgumentParser) -> None:
    """Add the options of a scheduler, for :func:`scheduler_configuration`."""
    parser.add_argument("--config", metavar="FILE", help="KubeSchedulerConfiguration of the scheduler")
    _add_version(parser)
    _add_compatibility(parser, None, "(default: as --config says, else fixed)")


def scheduler_configuration(arguments: argparse.Namespace) -> Configuration:
    """Return the configuration of the file that is named, or the default, changed by the other options."""
    import dataclasses

    from drayman import features
    from drayman.scheduler import Configuration

    configuration = Configuration.from_file(arguments.config) if arguments.config else Configuration()
    return dataclasses.replace(
        configuration,
        kubernetes_version=arguments.kubernetes_version,
        feature_gates=features.parse(arguments.feature_gates),
        compatibility=arguments.compatibility or configuration.compatibility,
    )


def add_server(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add the options that say which API server to talk to."""
    parser.add_argument("--kubeconfig", metavar="FILE", help="kubeconfig (default: as kubectl finds it)")
    parser.add_argument("--context", help="context of the kubeconfig")


def add_health(parser: argparse.ArgumentParser) -> None:
    """Add the option that says where health is served, for :func:`health_served`."""
    parser.add_argument(
        "--health-bind-address",
        type=_address,
        metavar="HOST:PORT",
        help="answer /livez, /readyz and /healthz there; `:PORT` on all interfaces (default: nowhere)",
    )


def health_served(arguments: argparse.Namespace, probes: Probes) -> AbstractAsyncContextManager[object]:
    """Serve `probes` where the option says, if it does, for as long as the block lasts."""
    from drayman.serving import server

    return server.served(arguments.health_bind_address, probes)


def add_existing(parser: argparse.ArgumentParser) -> None:
    """Add the options of the backend `existing`, for :func:`existing_request`."""
    group = parser.add_argument_group("backend `existing`")
    add_server(group)
    group.add_argument(
        "--driver",
        choices=("installed", "install"),
        default="installed",
        help="use the mock driver that is there, or bring one for the run (default: %(default)s)",
    )
    group.add_argument("--driver-image", metavar="IMAGE", help="image of a driver that is brought (default: ours)")
    group.add_argument("--test-image", metavar="IMAGE", help="image of the scenarios' containers (default: testbox)")
    group.add_argument("--scenarios", action="store_true", help="check also what the scenarios need")
    group.add_argument("--plan", action="store_true", help="say what would be created, and create nothing")


def refuse_existing(arguments: argparse.Namespace) -> None:
    """Raise :class:`~drayman.errors.InputError` when an option is given that only the backend `existing` has."""
    given = {name: getattr(arguments, name) for name in ("kubeconfig", "context", "driver_image", "test_image")}
    given |= {"driver": arguments.driver == "install", "scenarios": arguments.scenarios, "plan": arguments.plan}
    for name, value in given.items():
        if value:
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"`{option}` is about a cluster that is there already", hint="--backend existing")


def existing_request(arguments: argparse.Namespace) -> existing.Request:
    """Return what is wanted of a cluster that is there."""
    from drayman.testing.clusters import existing

    base = existing.Request()
    return existing.Request(
        kubeconfig=arguments.kubeconfig,
        context=arguments.context,
        name=arguments.name,
        scheduler=arguments.scheduler in ("drayman", "both"),
        driver_image=(arguments.driver_image or existing.DRIVER_IMAGE) if arguments.driver == "install" else "",
        scenarios=arguments.scenarios,
        test_image=arguments.test_image or base.test_image,
        nodes=base.nodes if arguments.nodes is None else arguments.nodes,
        devices=arguments.devices,
    )


def add_verbosity(parser: argparse.ArgumentParser) -> None:
    """Add the option for logs of long-running verbs."""
    parser.add_argument("-v", "--verbose", action="count", default=0, help="log more (-vv: everything)")


def start_logging(verbose: int) -> None:
    """Log to standard error: warnings, with -v what happens, with -vv everything."""
    import logging

    level = (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")


def version(text: str) -> str:
    """Read a version of Kubernetes: `v1.37.2`, as servers call it, is `1.37`. Whether it is known is told later."""
    found = re.fullmatch(r"v?(\d+\.\d+)(\.\d+)?", text)
    return found[1] if found else text


def seconds(text: str) -> float:
    """Read a duration in seconds; argparse shows the error."""
    value = float(text)
    if not math.isfinite(value) or value < 0:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of seconds")
    return value


def port(text: str) -> int:
    """Read the number of a TCP port, 0 for any; argparse shows the error."""
    value = int(text)
    if not 0 <= value <= 65535:
        raise argparse.ArgumentTypeError(f"`{text}` is not the number of a port")
    return value


def _address(text: str) -> Address:
    from drayman.serving import Address

    try:
        return Address.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _add_version(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--kubernetes-version",
        type=version,
        default="1.37",
        metavar="VERSION",
        help="defaults of feature gates (1.34 to 1.37)",
    )
    parser.add_argument(
        "--feature-gates",
        default="",
        metavar="A=true,B=false",
        help="gates, laid over the defaults of the version",
    )


def _add_compatibility(parser: argparse.ArgumentParser, default: str | None, note: str) -> None:
    parser.add_argument(
        "--compatibility",
        choices=("1.37", "fixed"),
        default=default,
        help=f"exactly what 1.37.2 does, or with its known faults fixed {note}",
    )
