"""Folders that hold the objects of a cluster as they were: `drayman snapshot` writes them, everything that takes files
reads them.

A snapshot has one JSON file for each kind, and a file `SNAPSHOT` that says what it is. Its objects come from a server,
which has checked them, perhaps a newer one: unknown fields are no error.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drayman import manifest
from drayman.api import convert
from drayman.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from drayman.manifest import Manifest

MARKER = "SNAPSHOT"


def is_snapshot(path: str | os.PathLike[str]) -> bool:
    """Tell whether `path` is a folder that :func:`write` has written."""
    return (Path(path) / MARKER).is_file()


def read(folder: str | os.PathLike[str]) -> list[Manifest]:
    """Return the objects of a snapshot, those of `resource.k8s.io` in `v1`.

    Raises :class:`~drayman.errors.InputError` for a folder that is none, and for a file of it that cannot be read.
    """
    if not is_snapshot(folder):
        there = "not a snapshot" if Path(folder).exists() else "no such folder"
        raise InputError(there, file=os.fspath(folder), hint="drayman snapshot DIR writes one")
    loaded = manifest.load([folder])
    for one in loaded:
        manifest.check_type(one)
    return [replace(one, object=convert.to_v1(one.object)) for one in loaded]


def write(folder: str | os.PathLike[str], objects: Iterable[Mapping[str, Any]], about: Mapping[str, Any]) -> list[str]:
    """Write `objects` into `folder`, which is made when it is not there, and return the names of the files.

    `about` is kept in the marker. Only this user can read the files: pods may carry what is not for everybody. Raises
    :class:`~drayman.errors.InputError` for a folder that holds something else.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    if not is_snapshot(place) and any(place.iterdir()):
        raise InputError("the folder is not empty, and is no snapshot", file=str(place))
    for old in place.glob("*.json"):
        old.unlink()
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for obj in objects:
        kinds.setdefault(str(obj["kind"]), []).append(obj)
    _write(place / MARKER, {"version": 1, **about, "objects": {kind: len(found) for kind, found in kinds.items()}})
    names = []
    for kind, found in kinds.items():
        names.append(f"{kind.lower()}.json")
        _write(place / names[-1], {"apiVersion": "v1", "kind": "List", "items": found})
    return names


def _write(file: Path, value: Any) -> None:
    text = json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
