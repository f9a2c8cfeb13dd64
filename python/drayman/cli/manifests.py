"""print the manifests of the scheduler or the driver, for `kubectl apply`

What the helm charts in `drayman/manifests/charts` make of their values, without helm.

examples:
  drayman manifests scheduler | kubectl apply -f -
  drayman manifests driver --devices 4 --node-selector gpu=mock | kubectl apply -f -
  drayman manifests scheduler --replicas 2 --scheduler-name batch --name batch
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drayman import cli
from drayman.cli import electing, options
from drayman.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from drayman.manifests import Release

_COMMON = ("name", "namespace", "image")
_SCHEDULER = (
    "replicas",
    "leader_election",
    "scheduler_name",
    "compatibility",
    "kubernetes_version",
)
_DRIVER = ("devices", "kubelet_directory", "cdi_directory", "device_class", "admission_policy")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the parts and their options."""
    parts = parser.add_subparsers(dest="part", required=True, metavar="PART")
    scheduler = parts.add_parser("scheduler", help="Deployment of the scheduler, with its rights and configuration")
    _add_common(scheduler)
    _add_scheduler(scheduler)
    driver = parts.add_parser("driver", help="DaemonSet of the mock driver, with its rights and DeviceClass")
    _add_common(driver)
    _add_driver(driver)


def run(arguments: argparse.Namespace) -> int:
    """Print the objects."""
    from drayman import manifests
    from drayman.cli.output import print_json

    objects = _release(arguments).objects()
    if arguments.output == "json":
        print_json({"apiVersion": "v1", "kind": "List", "items": objects})
    else:
        print(manifests.documents(objects), end="")
    return cli.DONE


def node_selector(given: Iterable[str]) -> dict[str, str]:
    """Read labels as `KEY=VALUE`, several in one text between commas."""
    labels: dict[str, str] = {}
    for text in (part for one in given for part in one.split(",")):
        key, equals, value = text.partition("=")
        if not equals or value.startswith("=") or key.endswith(("!", ">", "<")) or " " in text.strip():
            hint = "labels that nodes must have, as KEY=VALUE; more can be said with `affinity` of the chart"
            raise InputError(f"`{text}` is not a label with its value", field="node selector", hint=hint)
        if labels.setdefault(key, value) != value:
            raise InputError(f"`{key}` is given as `{labels[key]}` and `{value}`", field="node selector")
    return labels


def _release(arguments: argparse.Namespace) -> Release:
    """Return what is chosen; options that are not given keep their defaults."""
    from drayman import features, manifests

    def given(names: Iterable[str]) -> dict[str, Any]:
        found = {name: getattr(arguments, name) for name in names}
        return {name: value for name, value in found.items() if value is not None}

    common = {**given(_COMMON), "node_selector": node_selector(arguments.node_selector)}
    if arguments.part == "driver":
        return manifests.Driver(**common, **given(_DRIVER))
    gates = features.parse(arguments.feature_gates)
    return manifests.Scheduler(**common, **given(_SCHEDULER), feature_gates=gates)


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", help="name of the release, for several in one cluster (default: the chart's)")
    parser.add_argument("-n", "--namespace", help="where pods and accounts are (default: drayman-system)")
    parser.add_argument("--image", metavar="REF", help="image; without a tag, that of this version is taken")
    parser.add_argument(
        "--node-selector",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="only on nodes with this label; repeatable",
    )
    parser.add_argument("-o", "--output", choices=("yaml", "json"), default="yaml", help="(default: %(default)s)")


def _add_scheduler(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--replicas", type=int, metavar="N", help="how many, of which one works (default: 1)")
    parser.add_argument(
        "--leader-elect",
        dest="leader_election",
        type=electing.truth,
        nargs="?",
        const=True,
        metavar="BOOL",
        help="whether a leader is elected (default: if there are several)",
    )
    parser.add_argument("--scheduler-name", metavar="NAME", help="`schedulerName` of its pods (default: drayman)")
    parser.add_argument(
        "--compatibility",
        choices=("1.37", "fixed"),
        help="exactly what 1.37.2 does, or with its known faults fixed (default: fixed)",
    )
    parser.add_argument(
        "--kubernetes-version", type=options.version, metavar="VERSION", help="defaults of feature gates (1.34 to 1.37)"
    )
    parser.add_argument(
        "--feature-gates", default="", metavar="A=true,B=false", help="gates, laid over the defaults of the version"
    )


def _add_driver(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--devices", type=int, metavar="N", help="devices of each node (default: 8)")
    parser.add_argument("--kubelet-directory", metavar="DIR", help="the kubelet's folder (default: /var/lib/kubelet)")
    parser.add_argument("--cdi-directory", metavar="DIR", help="where CDI files go (default: /var/run/cdi)")
    parser.add_argument(
        "--no-device-class", dest="device_class", action="store_const", const=False, help="leave out the DeviceClass"
    )
    parser.add_argument(
        "--no-admission-policy",
        dest="admission_policy",
        action="store_const",
        const=False,
        help="leave out what keeps each driver to the slices of its own node",
    )
