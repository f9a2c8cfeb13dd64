"""run the mock DRA driver for one node, until interrupted

Publishes ResourceSlices, registers with the kubelet through its plugin folders, and writes CDI files for prepared
claims.

examples:
  drayman driver --node-name worker-1
  drayman driver --node-name worker-1 --devices 4 --cdi-root /var/run/cdi
  drayman driver --node-name worker-1 --health-bind-address :51515
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from drayman import cli
from drayman.cli import options, services

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    options.add_server(parser)
    parser.add_argument("--node-name", required=True, help="the node that the devices are on")
    parser.add_argument("--driver-name", default="gpu.example.com", help="what it is called (default: %(default)s)")
    parser.add_argument(
        "--hardware", metavar="NAME", help="what it has, by name of the catalogue (default: as it is called)"
    )
    parser.add_argument("--devices", type=int, default=8, metavar="N", help="number of devices (default: %(default)s)")
    parser.add_argument(
        "--kubelet-registrar-directory-path",
        type=Path,
        default=Path("/var/lib/kubelet/plugins_registry"),
        metavar="DIR",
        help="where the kubelet looks for plugins (default: %(default)s)",
    )
    parser.add_argument(
        "--kubelet-plugins-directory-path",
        type=Path,
        default=Path("/var/lib/kubelet/plugins"),
        metavar="DIR",
        help="where plugins keep their sockets and data (default: %(default)s)",
    )
    parser.add_argument(
        "--cdi-root", type=Path, default=Path("/var/run/cdi"), metavar="DIR", help="CDI files (default: %(default)s)"
    )
    options.add_health(parser)
    options.add_verbosity(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run until told to end."""
    options.start_logging(arguments.verbose + 1)
    services.run(_run(arguments))
    return cli.DONE


async def _run(arguments: argparse.Namespace) -> None:
    import dataclasses

    from drayman.clock import RealClock
    from drayman.driver import Driver, catalogue, vitals
    from drayman.kube import connect
    from drayman.kube.resources import SLICES

    name = arguments.driver_name
    profile = dataclasses.replace(catalogue.profile(arguments.hardware or name, devices=arguments.devices), driver=name)
    async with connect.client(arguments.kubeconfig, context=arguments.context, user_agent="drayman-driver") as client:
        clock = RealClock()
        driver = Driver(
            client,
            clock,
            arguments.node_name,
            profile=profile,
            plugins_dir=arguments.kubelet_plugins_directory_path,
            registry_dir=arguments.kubelet_registrar_directory_path,
            cdi_dir=arguments.cdi_root,
        )
        async with options.health_served(arguments, vitals.probes(driver, clock)):
            # The driver waits for a server that goes away; one that was never there is a mistake in the command.
            await client.list(SLICES, field_selector=f"spec.nodeName={arguments.node_name}")
            await driver.run()
