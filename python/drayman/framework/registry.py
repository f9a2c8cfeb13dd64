"""Where plugins come from: built in, installed (entry points), named on the command line, or given."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from importlib import metadata
from typing import cast

from drayman.errors import InputError
from drayman.framework.interfaces import PluginClass

ENTRY_POINTS = "drayman.plugins"
"""The group of entry points; each names a plugin class."""


def installed() -> tuple[PluginClass, ...]:
    """Return the plugin classes of installed packages, by name of their entry points."""
    points = sorted(metadata.entry_points(group=ENTRY_POINTS), key=lambda point: point.name)
    return tuple(_checked(point.load(), f"entry point `{point.name}`") for point in points)


def load(path: str) -> PluginClass:
    """Return the plugin class that `path` ("module:Class") names. Raises :class:`InputError` when there is none."""
    module_name, _, class_name = path.partition(":")
    try:
        found = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"plugin `{path}` cannot be loaded: {error}", hint="give it as module:Class") from error
    return _checked(found, f"plugin `{path}`")


def by_name(*groups: Iterable[PluginClass]) -> Mapping[str, PluginClass]:
    """Return plugin classes by name; of two with one name, the one of the later group counts."""
    return {plugin.name: plugin for group in groups for plugin in group}


def _checked(found: object, what: str) -> PluginClass:
    if not callable(found) or not isinstance(getattr(found, "name", None), str):
        raise InputError(f"{what} is not a plugin class: it needs a `name`")
    return cast("PluginClass", found)
