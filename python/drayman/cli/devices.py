"""Devices named on the command line: those of ResourceSlices, or one that a file gives alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman import manifest
from drayman.api import schema
from drayman.cli import inputs
from drayman.errors import InputError

if TYPE_CHECKING:
    from drayman.manifest import Manifest

_IN_SLICE = "spec.devices[0]"


@dataclass(frozen=True, slots=True)
class Device:
    """A device as a slice has it, and its driver; `name` is `driver/pool/device`, or that of the file of a lone one."""

    name: str
    driver: str
    content: dict[str, Any]


def load(files: Sequence[str], context: Sequence[str]) -> list[Device]:
    """Return the devices of `files` and `context`, which is as for :func:`drayman.cli.inputs.load_context`.

    Raises :class:`InputError` for what cannot be used, and for files without any device.
    """
    snapshots = [file for file in files if inputs.is_snapshot(file)]
    loaded = manifest.load([file for file in files if file not in snapshots])
    lone = [one for one in loaded if _is_lone(one)]
    checked = [manifest.check(one) for one in loaded if not _is_lone(one)]
    taken = [one for folder in snapshots for one in inputs.load_snapshot(folder)]
    checked += [one for one in taken if one.object["kind"] == "ResourceSlice"]
    catalogued = [one for one in inputs.load_context(context) if one.file or one.object["kind"] == "ResourceSlice"]
    slices = inputs.split([*checked, *catalogued], frozenset({"ResourceSlice"}), verb="cel")
    found = [*map(_lone, lone), *(device for one in slices for device in _of_slice(one))]
    if (files or context) and not found:
        raise InputError("no devices in the given files", file=", ".join([*files, *context]))
    return found


def _of_slice(source: Manifest) -> Iterator[Device]:
    spec = source.object.get("spec") or {}
    driver = spec.get("driver", "")
    pool = (spec.get("pool") or {}).get("name", "")
    for device in spec.get("devices") or []:
        yield Device(f"{driver}/{pool}/{device.get('name', '')}", driver, device)


def _is_lone(source: Manifest) -> bool:
    return not {"apiVersion", "kind"} & source.object.keys()


def _lone(source: Manifest) -> Device:
    """Return a device without a slice, decoded as if it stood in one."""
    content = dict(source.object)
    driver = content.pop("driver", None)
    if not isinstance(driver, str) or not driver:
        raise _error(source, "driver", "not text" if driver else "not set")
    within = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "spec": {"devices": [content]}}
    decoded = schema.decode(within)
    if decoded.fatal:
        raise _error(source, _alone(decoded.fatal.field), decoded.fatal.message)
    if decoded.errors:
        field = decoded.errors[0].field
        raise _error(source, _alone(field), "unknown field", schema.field_hint(within, field))
    return Device(str(content.get("name") or source.file), driver, decoded.object["spec"]["devices"][0])


def _alone(field: str) -> str:
    return field.removeprefix(_IN_SLICE).removeprefix(".")


def _error(source: Manifest, field: str, message: str, hint: str | None = None) -> InputError:
    return InputError(message, file=source.file, field=field, line=source.position(field).line, hint=hint)
