"""Options of leader election, called as kube-scheduler calls them; they are laid over the configuration."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from drayman import durations

if TYPE_CHECKING:
    from drayman.kube.election import LeaderElection

_TRUTHS = dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True) | dict.fromkeys(
    ("0", "f", "F", "false", "FALSE", "False"), False
)
_OPTIONS = {
    "leader_elect": "leader_elect",
    "leader_elect_lease_duration": "lease_duration",
    "leader_elect_renew_deadline": "renew_deadline",
    "leader_elect_retry_period": "retry_period",
    "leader_elect_resource_name": "resource_name",
    "leader_elect_resource_namespace": "resource_namespace",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options, for :func:`laid_over`."""
    group = parser.add_argument_group("leader election", "of replicas, one schedules; others take over when it is gone")
    group.add_argument(
        "--leader-elect",
        type=truth,
        nargs="?",
        const=True,
        metavar="BOOL",
        help="schedule only while holding the lease (default: as --config says, else false)",
    )
    for name, what, default in (
        ("lease-duration", "how long others wait for a leader that is silent", "15s"),
        ("renew-deadline", "how long a leader tries to renew the lease before it ends", "10s"),
        ("retry-period", "time between two tries", "2s"),
    ):
        group.add_argument(
            f"--leader-elect-{name}", type=_duration, metavar="DURATION", help=f"{what} (default: {default})"
        )
    for name, default in (("name", "drayman-scheduler"), ("namespace", "kube-system")):
        group.add_argument(
            f"--leader-elect-resource-{name}", metavar="NAME", help=f"{name} of the lease (default: {default})"
        )


def laid_over(configured: LeaderElection, arguments: argparse.Namespace) -> LeaderElection:
    """Return what is configured, changed by the options. Raises :class:`~drayman.errors.InputError`."""
    import dataclasses

    given = {name: getattr(arguments, option) for option, name in _OPTIONS.items()}
    chosen = dataclasses.replace(configured, **{name: value for name, value in given.items() if value is not None})
    chosen.check()
    return chosen


def truth(text: str) -> bool:
    """Read a truth as Go's flags do; argparse shows the error."""
    if text not in _TRUTHS:
        raise argparse.ArgumentTypeError(f"`{text}` is neither true nor false")
    return _TRUTHS[text]


def _duration(text: str) -> float:
    try:
        return durations.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error}; write it as 15s or 1m30s") from error
