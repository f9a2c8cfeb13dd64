"""The files that a command names: single files, folders, patterns, and `-` for standard input."""

from __future__ import annotations

import glob
import itertools
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from drayman.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_BYTES = 256 * 1024 * 1024
"""The largest file that is read."""

STDIN = "<stdin>"
_SUFFIXES = (".json", ".yaml", ".yml")
_LOOK = 5_000


def texts(
    paths: Iterable[str | os.PathLike[str]], *, strict: bool = True, recursive: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield name and text of every file that `paths` name, in order; the files of a folder or pattern by name.

    A folder stands for its files that end in `.json`, `.yaml` or `.yml`, and when `recursive` for those of the folders
    below it, but hidden ones, too. Raises
    :class:`InputError` for what does not exist, cannot be read, is too large or is not text in UTF-8; the last only
    when `strict`, else bytes that are no text become lone surrogates.
    """
    for path in paths:
        name = os.fspath(path)
        if name == "-":
            if sys.stdin is None:
                raise InputError("standard input is closed")
            yield STDIN, _decode(STDIN, sys.stdin.buffer.read(MAX_BYTES + 1), strict=strict)
            continue
        for file in _expand(name, recursive=recursive):
            yield file, _decode(file, _read(file), strict=strict)


def more_below(folder: str) -> bool:
    """Return whether folders below this one have manifests, as far as a look at the first few thousand files tells."""
    if not Path(folder).is_dir():
        return False
    found = itertools.islice(_walk(Path(folder)), _LOOK)
    return any(file.suffix in _SUFFIXES and file.parent != Path(folder) for file in found)


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder and of those below it, but hidden ones."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        yield from (Path(place, one) for one in files)


def _expand(name: str, *, recursive: bool) -> list[str]:
    path = Path(name)
    if path.is_dir():
        every = _walk(path) if recursive else path.iterdir()
        found = sorted(str(file) for file in every if file.suffix in _SUFFIXES and file.is_file())
        if not found:
            raise InputError("the folder has no .yaml, .yml or .json file", file=name)
        return found
    if path.exists() or not glob.has_magic(name):
        return [name]
    matches = glob.glob(name, recursive=True)  # noqa: PTH207 - Path.glob takes no absolute pattern
    found = sorted(file for file in matches if Path(file).is_file())
    if not found:
        raise InputError("no file matches the pattern", file=name)
    return found


def _read(file: str) -> bytes:
    try:
        with Path(file).open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError((error.strerror or str(error)).lower(), file=file) from error


def _decode(name: str, data: bytes, *, strict: bool) -> str:
    if len(data) > MAX_BYTES:
        raise InputError(f"larger than {MAX_BYTES // 1024**2} MiB", file=name)
    try:
        return data.decode("utf-8-sig", "strict" if strict else "surrogateescape")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("not text in UTF-8", file=name, line=line) from error
