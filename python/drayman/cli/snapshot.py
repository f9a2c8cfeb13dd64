"""write the objects of a cluster into a folder: what explain, simulate and every other verb need

Reads and never writes the cluster. The folder then stands for it: `--snapshot DIR`, or DIR wherever files are named.
Managed fields, applied configurations and the environment of containers are left out. With --redact, names, label
values, images, commands and opaque parameters are left out or replaced, one name always by the same other one, so that
answers stay the same.

examples:
  drayman snapshot before
  drayman snapshot for-support --redact --context production
  drayman snapshot anonymous --redact -f dump.yaml
  drayman allocate claim.yaml --snapshot before
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from drayman import cli, snapshots
from drayman.cli import inputs, required, sources
from drayman.cli.output import note

if TYPE_CHECKING:
    import argparse

_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("folder", metavar="DIR", help="where to; made when it is not there, or an older snapshot")
    parser.add_argument("--redact", action="store_true", help="replace names, and leave out what no answer needs")
    parser.add_argument(
        "-f", "--filename", action="append", default=[], metavar="FILE", help="of these objects instead; repeatable"
    )
    sources.add_arguments(parser, namespace=False)


def run(arguments: argparse.Namespace) -> int:
    """Write the snapshot and say what is in it."""
    source = sources.load(arguments, arguments.filename)
    objects = [stripped(one.object) for one in inputs.once([required.checked(one) for one in source.manifests])]
    if arguments.redact:
        from drayman.redaction import KEPT, Redactor

        objects = Redactor().redact(objects)
        note(f"kept as they are: {KEPT}")
    files = snapshots.write(arguments.folder, objects, {"redacted": arguments.redact})
    print(f"{len(objects)} objects in {arguments.folder}: {', '.join(files)}")
    return cli.DONE


def stripped(obj: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object without what only its writers need, and without what its containers are told in private."""
    # A simulated cluster has namespaces of its own, which nothing refers to by UID.
    unwanted = {"managedFields", "uid"} if obj["kind"] == "Namespace" else {"managedFields"}
    metadata = {name: value for name, value in obj["metadata"].items() if name not in unwanted}
    if _APPLIED in (metadata.get("annotations") or {}):
        metadata["annotations"] = {name: one for name, one in metadata["annotations"].items() if name != _APPLIED}
    kept = {**obj, "metadata": metadata}
    if obj["kind"] == "Node" and obj.get("status"):
        kept["status"] = {name: value for name, value in obj["status"].items() if name != "images"}
    if isinstance(obj.get("spec"), Mapping):
        kept["spec"] = _without_environment(obj["spec"])
    return kept


def _without_environment(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the spec of a pod, or of what makes pods, without the environment of its containers."""
    kept = dict(spec)
    for name in ("containers", "initContainers"):
        if isinstance(spec.get(name), list):
            kept[name] = [
                {key: value for key, value in one.items() if key not in ("env", "envFrom")} for one in spec[name]
            ]
    for name in ("template", "jobTemplate"):
        inner = spec.get(name)
        if isinstance(inner, Mapping) and isinstance(inner.get("spec"), Mapping):
            kept[name] = {**inner, "spec": _without_environment(inner["spec"])}
    return kept
