"""Files that others read at any moment: written whole or not at all."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from drayman.errors import InputError

_PART = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?")


def checked_part(text: str, what: str) -> str:
    """Return `text`, which comes from outside, if it may be a part of a file name.

    Raises :class:`~drayman.errors.InputError` naming `what` it is.
    """
    if not _PART.fullmatch(text):
        raise InputError(f"{what} `{text}` cannot be part of a file name")
    return text


def write_json(path: Path, value: Any) -> None:
    """Replace the file `path` by the JSON of `value`: a reader, or a crash, never sees a half of it."""
    # The temporary name is hidden and has another suffix: container runtimes load every *.json of a CDI folder.
    temporary = path.with_name(f".{path.name}.new")
    with temporary.open("w", encoding="utf-8") as file:
        json.dump(value, file, separators=(",", ":"), ensure_ascii=False)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
