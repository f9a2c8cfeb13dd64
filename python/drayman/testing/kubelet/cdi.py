"""CDI specification files, and what their edits make of a container (Container Device Interface 1.1.0)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from drayman.errors import DraymanError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_LETTERS_AND_MORE = r"[A-Za-z](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?"
_KIND = re.compile(rf"{_LETTERS_AND_MORE}/{_LETTERS_AND_MORE}")


class CDIError(DraymanError):
    """CDI devices cannot be injected; `str()` is the text of upstream's CDI library."""


@dataclass(slots=True)
class Edits:
    """Edits to a container, in the order in which they apply: environment, device nodes and mounts as in CDI files."""

    env: dict[str, str] = field(default_factory=dict)
    devices: list[dict[str, Any]] = field(default_factory=list)
    mounts: list[dict[str, Any]] = field(default_factory=list)

    def add(self, edits: dict[str, Any]) -> None:
        """Add one `containerEdits` member; a variable, device path or mount point set again takes the new value."""
        for variable in edits.get("env", ()):
            name, _, value = variable.partition("=")
            self.env[name] = value
        _replace(self.devices, edits.get("deviceNodes", ()), "path")
        _replace(self.mounts, edits.get("mounts", ()), "containerPath")


class Registry:
    """The devices of all specification files in some directories.

    A device defined in a later directory hides one of the same name in an earlier directory; two definitions in one
    directory are in conflict and hide the device. Files that are not valid are left out, and listed in `errors`.
    """

    def __init__(self, directories: Sequence[Path]) -> None:
        self.errors: dict[str, str] = {}
        self._devices: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
        for directory in directories:
            self._add_directory(directory)

    def inject(self, names: Iterable[str]) -> Edits:
        """Return the edits of the devices `names` (`vendor/class=device`), in order; each file's own edits come once.

        Raises :class:`CDIError` naming the devices that are not defined.
        """
        wanted = list(dict.fromkeys(names))
        missing = [name for name in wanted if name not in self._devices]
        if missing:
            raise CDIError(f"CDI device injection failed: unresolvable CDI devices {', '.join(missing)}")
        edits = Edits()
        seen: list[dict[str, Any]] = []
        for name in wanted:
            spec, device = self._devices[name]
            if all(spec is not other for other in seen):
                seen.append(spec)
                edits.add(spec.get("containerEdits") or {})
            edits.add(device.get("containerEdits") or {})
        return edits

    def _add_directory(self, directory: Path) -> None:
        found: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
        conflicts: set[str] = set()
        if not directory.is_dir():
            return
        for path in sorted(directory.iterdir()):
            if path.suffix not in (".json", ".yaml"):
                continue
            try:
                spec = _load(path)
            except CDIError as error:
                self.errors[str(path)] = str(error)
                continue
            for device in spec["devices"]:
                name = f"{spec['kind']}={device['name']}"
                if name in found:
                    conflicts.add(name)
                    self.errors[str(path)] = f'conflicting device "{name}"'
                found[name] = (spec, device)
        self._devices |= found
        for name in conflicts:
            del self._devices[name]


def _load(path: Path) -> dict[str, Any]:
    """Return the specification in `path`. Raises :class:`CDIError` when it is none."""
    try:
        text = path.read_text()
        spec = json.loads(text) if path.suffix == ".json" else yaml.load(text, Loader=yaml.CSafeLoader)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise CDIError(f"failed to read CDI Spec: {error}") from error
    if not isinstance(spec, dict) or not _KIND.fullmatch(str(spec.get("kind", ""))):
        raise CDIError("invalid CDI Spec: `kind` has to be `vendor/class`")
    devices = spec.get("devices")
    if not isinstance(devices, list) or not all(isinstance(device, dict) and device.get("name") for device in devices):
        raise CDIError("invalid CDI Spec: every entry of `devices` needs a name")
    for device in devices:
        if not any((device.get("containerEdits") or {}).values()):
            raise CDIError(f'invalid device "{device["name"]}", empty device edits')
    return spec


def _replace(entries: list[dict[str, Any]], new: Iterable[dict[str, Any]], key: str) -> None:
    for entry in new:
        entries[:] = [known for known in entries if known.get(key) != entry.get(key)]
        entries.append(dict(entry))
