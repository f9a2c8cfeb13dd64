"""Settings of lint in `pyproject.toml`, under `[tool.drayman.lint]`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drayman.api import schema
from drayman.errors import InputError

FILE = "pyproject.toml"
_TABLE = "tool.drayman.lint"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project has set; paths in `context` are relative to `folder`, where the file is."""

    folder: Path = field(default_factory=Path)
    kubernetes_version: str | None = None
    feature_gates: str | None = None
    context: Sequence[str] = ()
    select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    ignore_in: Mapping[str, Sequence[str]] = field(default_factory=dict)


def find(start: Path) -> Settings:
    """Return the settings of the nearest `pyproject.toml` at `start` or above that has some; else the defaults.

    Raises :class:`~drayman.errors.InputError` for a file that is not TOML, and for settings that do not exist or have
    the wrong type.
    """
    for folder in (start, *start.resolve().parents):
        file = folder / FILE
        if file.is_file():
            table = _table(file)
            if table is not None:
                return _settings(file, table)
    return Settings()


def _table(file: Path) -> Mapping[str, Any] | None:
    try:
        value: Any = tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"not TOML: {error}", file=str(file)) from error
    for name in _TABLE.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else None


def _settings(file: Path, table: Mapping[str, Any]) -> Settings:
    values: dict[str, Any] = {}
    for name, value in table.items():
        if name not in _READERS:
            similar = schema.did_you_mean(name, list(_READERS))
            hint = f"did you mean `{similar}`?" if similar else f"there are: {', '.join(_READERS)}"
            raise InputError(f"unknown setting `{name}`", file=str(file), field=_TABLE, hint=hint)
        attribute, accepts, expected = _READERS[name]
        if not accepts(value):
            raise InputError(f"expected {expected}", file=str(file), field=f"{_TABLE}.{name}")
        values[attribute] = value
    return Settings(folder=file.parent, **values)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_lists(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_texts, value.values()))


_READERS = {
    "kubernetes-version": ("kubernetes_version", _is_text, "text"),
    "feature-gates": ("feature_gates", _is_text, "text such as `A=true,B=false`"),
    "with": ("context", _is_texts, "a list of files or names"),
    "select": ("select", _is_texts, "a list of rules"),
    "ignore": ("ignore", _is_texts, "a list of rules"),
    "ignore-in": ("ignore_in", _is_lists, "lists of rules by pattern of files"),
}
