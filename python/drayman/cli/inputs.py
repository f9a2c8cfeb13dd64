"""Manifests named on the command line: loading, checking, and the context that `--with` adds.

The loader is imported when there is something to load: `--help` does not wait for YAML.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from drayman.cli.output import note
from drayman.errors import InputError

if TYPE_CHECKING:
    import argparse

    from drayman.manifest import Manifest

_NODE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "node-1", "labels": {"kubernetes.io/hostname": "node-1"}},
    "status": {field: {"cpu": "16", "memory": "64Gi", "pods": "110"} for field in ("allocatable", "capacity")},
}
"""The node on which hardware of the catalogue stands."""


def add_arguments(parser: argparse.ArgumentParser, *, what: str) -> None:
    """Add the positional FILES and `-f`."""
    parser.add_argument("files", nargs="*", metavar="FILE", help=f"{what}; a folder, a glob, or - for standard input")
    parser.add_argument("-f", "--filename", action="append", default=[], metavar="FILE", help="the same as FILE")
    parser.set_defaults(usage_error=parser.error)


def add_context(parser: argparse.ArgumentParser) -> None:
    """Add `--with`."""
    parser.add_argument(
        "--with",
        dest="context_files",
        action="append",
        default=[],
        metavar="FILE|NAME",
        help="more objects for context, or `gpu.example.com`: a node with eight such devices, and their class",
    )


def files(arguments: argparse.Namespace) -> list[str]:
    """Return the named files; having none is a usage error."""
    named: list[str] = [*arguments.files, *arguments.filename]
    if not named:
        arguments.usage_error("name at least one FILE")
    return named


def load(paths: Sequence[str]) -> list[Manifest]:
    """Return the objects of the files and snapshots, checked.

    Raises :class:`~drayman.errors.InputError` for the first that cannot be used.
    """
    from drayman import manifest

    found: list[Manifest] = []
    for path in paths:
        if is_snapshot(path):
            found += load_snapshot(path)
        else:
            found += map(manifest.check, manifest.load([path]))
    return found


def is_snapshot(path: str) -> bool:
    """Tell whether `path` is a folder that `drayman snapshot` has written."""
    from drayman import snapshots

    return snapshots.is_snapshot(path)


def load_snapshot(folder: str) -> list[Manifest]:
    """Return the objects of a snapshot. Raises :class:`~drayman.errors.InputError` when it cannot be read."""
    from drayman import snapshots

    return snapshots.read(folder)


def once(given: Sequence[Manifest]) -> Sequence[Manifest]:
    """Return `given`. Raises :class:`InputError` for an object that is in it twice."""
    places: dict[str, Manifest] = {}
    for one in given:
        group = str(one.object["apiVersion"]).rpartition("/")[0]
        earlier = places.setdefault(f"{group} {one.name}", one)
        if one.name and earlier is not one:
            where = f"{earlier.file or 'the context'}:{earlier.line}"
            raise InputError(f"given twice: it is in {where} already", file=one.file, object=one.name, line=one.line)
    return given


def load_context(named: Sequence[str]) -> list[Manifest]:
    """Return the objects of files, and of hardware of the catalogue that is named."""
    from drayman.driver import catalogue
    from drayman.manifest import Manifest

    found: list[Manifest] = []
    for name in named:
        if name in catalogue.NAMES:
            profile = catalogue.profile(name)
            found += map(Manifest, [_NODE, profile.device_class(), *profile.slices(_NODE["metadata"]["name"])])
        else:
            found += load([name])
    return found


def some(given: Sequence[Manifest], named: Sequence[str]) -> Sequence[Manifest]:
    """Return `given`, the objects of the files `named`. Raises :class:`InputError` when there are none."""
    if not given:
        raise InputError("no objects in the given files", file=", ".join(named))
    return given


def split(given: Sequence[Manifest], kinds: frozenset[str], *, verb: str) -> Iterator[Manifest]:
    """Return the objects whose kind the verb uses; the other kinds are skipped with one note."""
    skipped = sorted({str(one.object["kind"]) for one in given} - kinds)
    if skipped:
        note(f"`{verb}` does not use {', '.join(skipped)}: skipped")
    return (one for one in given if one.object["kind"] in kinds)
