"""Manifests named on the command line: loading, checking, and the context that `--with` adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from drayman import manifest
from drayman.cli.output import note

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser, *, what: str) -> None:
    """Add the positional FILES and `-f`."""
    parser.add_argument("files", nargs="*", metavar="FILE", help=f"{what}; a folder, a glob, or - for standard input")
    parser.add_argument("-f", "--filename", action="append", default=[], metavar="FILE", help="the same as FILE")


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


def files(arguments: argparse.Namespace, parser_error: Any) -> list[str]:
    """Return the named files; having none is a usage error."""
    named = [*arguments.files, *arguments.filename]
    if not named:
        parser_error("name at least one FILE")
    return named


def load(paths: Sequence[str]) -> list[Mapping[str, Any]]:
    """Return the objects of the files, checked.

    Raises :class:`~drayman.errors.InputError` for the first that cannot be used.
    """
    return [manifest.check(loaded).object for loaded in manifest.load(paths)]


def load_context(named: Sequence[str]) -> list[Mapping[str, Any]]:
    """Return the objects of files, and of hardware of the catalogue that is named."""
    from drayman.driver import catalogue

    objects: list[Mapping[str, Any]] = []
    for name in named:
        if name in catalogue.NAMES:
            profile = catalogue.profile(name)
            objects += [profile.device_class(), *profile.slices("node-1")]
        else:
            objects += load([name])
    return objects


def split(objects: Sequence[Mapping[str, Any]], kinds: frozenset[str], *, verb: str) -> list[Mapping[str, Any]]:
    """Return the objects whose kind the verb uses; the other kinds are skipped with one note."""
    skipped = sorted({str(obj["kind"]) for obj in objects} - kinds)
    if skipped:
        note(f"`{verb}` does not use {', '.join(skipped)}: skipped")
    return [obj for obj in objects if obj["kind"] in kinds]
