"""Options that several verbs share, so that they are spelled and explained once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def add_kubernetes(parser: argparse.ArgumentParser, *, compatibility: str) -> None:
    """Add the options that say which Kubernetes is meant."""
    parser.add_argument(
        "--kubernetes-version", default="1.37", metavar="VERSION", help="defaults of feature gates (1.34 to 1.37)"
    )
    parser.add_argument(
        "--feature-gates", default="", metavar="A=true,B=false", help="gates, laid over the defaults of the version"
    )
    parser.add_argument(
        "--compatibility",
        choices=("1.37", "fixed"),
        default=compatibility,
        help="exactly what 1.37.2 does, or with its known faults fixed (default: %(default)s)",
    )


def add_server(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which API server to talk to."""
    parser.add_argument("--kubeconfig", metavar="FILE", help="kubeconfig (default: as kubectl finds it)")
    parser.add_argument("--context", help="context of the kubeconfig")


def add_verbosity(parser: argparse.ArgumentParser) -> None:
    """Add the option for logs of long-running verbs."""
    parser.add_argument("-v", "--verbose", action="count", default=0, help="log more (-vv: everything)")


def start_logging(verbose: int) -> None:
    """Log to standard error: warnings, with -v what happens, with -vv everything."""
    import logging

    level = (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
