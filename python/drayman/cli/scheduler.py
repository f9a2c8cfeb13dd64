"""run the secondary scheduler against an API server, until interrupted

Serves the pods whose schedulerName is one of its profiles (`drayman` when no configuration is given).

examples:
  drayman scheduler
  drayman scheduler --config scheduler.yaml --kubeconfig ~/.kube/config
"""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

from drayman import cli
from drayman.cli import options

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    options.add_server(parser)
    parser.add_argument("--config", metavar="FILE", help="KubeSchedulerConfiguration")
    options.add_kubernetes(parser, compatibility="fixed")
    options.add_verbosity(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run until interrupted."""
    options.start_logging(arguments.verbose)
    asyncio.run(_run(arguments))
    return cli.DONE


async def _run(arguments: argparse.Namespace) -> None:
    from drayman import features, scheduler
    from drayman.clock import RealClock
    from drayman.kube import connect

    configuration = (
        scheduler.Configuration.from_file(arguments.config)
        if arguments.config
        else scheduler.Configuration(
            compatibility=arguments.compatibility,
            kubernetes_version=arguments.kubernetes_version,
            feature_gates=features.parse(arguments.feature_gates),
        )
    )
    async with connect.client(
        arguments.kubeconfig, context=arguments.context, user_agent="drayman-scheduler"
    ) as client:
        await scheduler.run(client, configuration, RealClock(), random=random.SystemRandom())
