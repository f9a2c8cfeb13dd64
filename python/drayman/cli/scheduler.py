"""run the secondary scheduler against an API server, until interrupted

Serves the pods whose schedulerName is one of its profiles (`drayman` when no configuration is given). With
--leader-elect, it ends with exit code 1 when it has lost the lead, to be started anew.

examples:
  drayman scheduler
  drayman scheduler --config scheduler.yaml --kubeconfig ~/.kube/config
  drayman scheduler --plugin my_plugins:PreferWarmNodes
  drayman scheduler --health-bind-address :10251 --leader-elect
  drayman scheduler --leader-elect --leader-elect-resource-namespace drayman-system
"""

from __future__ import annotations

import dataclasses
import random
import sys
from typing import TYPE_CHECKING

from drayman import cli
from drayman.cli import electing, options, services

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from drayman.framework import PluginClass


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    options.add_server(parser)
    options.add_scheduler(parser)
    parser.add_argument(
        "--plugin",
        action="append",
        default=[],
        metavar="MODULE:CLASS",
        help="plugin besides the built-in and installed ones, also from this folder; repeatable",
    )
    options.add_health(parser)
    electing.add_arguments(parser)
    options.add_verbosity(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run until told to end."""
    options.start_logging(arguments.verbose + 1)
    plugins = load_plugins(arguments.plugin)
    services.run(_run(arguments, plugins))
    return cli.DONE


def load_plugins(paths: Sequence[str]) -> list[PluginClass]:
    """Return the plugin classes named "module:Class"; modules of the working directory are found too."""
    if not paths:
        return []
    from drayman.framework import registry

    sys.path.insert(0, "")
    try:
        return [registry.load(path) for path in paths]
    finally:
        sys.path.remove("")


async def _run(arguments: argparse.Namespace, plugins: Sequence[PluginClass]) -> None:
    from drayman import scheduler
    from drayman.clock import RealClock
    from drayman.kube import connect

    configured = options.scheduler_configuration(arguments)
    election = electing.laid_over(configured.leader_election, arguments)
    configuration = dataclasses.replace(configured, leader_election=election)
    clock = RealClock()
    vitals = scheduler.Vitals(clock, configuration)
    async with (
        connect.client(arguments.kubeconfig, context=arguments.context, user_agent="drayman-scheduler") as client,
        options.health_served(arguments, vitals.probes()),
    ):
        source = random.SystemRandom()
        await scheduler.run(client, configuration, clock, random=source, plugins=plugins, vitals=vitals)
