"""Devices, claims, pods and what their containers got, as tables of at most a hundred columns."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from drayman import names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from drayman.cli.output import Printer

_UUID = re.compile(r"([0-9a-f]{8})(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_INJECTED = re.compile(r"GPU_DEVICE_\w+=")
"""Variables that the mock driver gives to containers."""
_USUAL = re.compile(r"\w+(_RESOURCE_CLAIM=.*|_SHARING_STRATEGY=TimeSlicing|_TIMESLICE_INTERVAL=Default)")
"""Those of them that say nothing new: the claim's UID is in the CDI device, the rest is so without configuration."""


class Tables:
    """Prints tables; `wide` ones have whole UIDs and everything that containers got.

    Objects are those of the API, claims and pods by name those of `docs/state.md`.
    """

    def __init__(self, printer: Printer, *, wide: bool = False) -> None:
        self.printer = printer
        self._wide = wide

    def devices(self, slices: Sequence[Mapping[str, Any]]) -> None:
        """Print the ResourceSlices and their devices."""
        self.printer.title("ResourceSlices and their devices")
        self.printer.table(("SLICE", "NODE", "DRIVER", "POOL", "GENERATION", "DEVICES"), map(_slice_row, slices))
        self.printer.line()
        devices = [
            (f"{item['spec']['pool']['name']}/{device['name']}", device)
            for item in slices
            for device in item["spec"].get("devices", [])
        ]
        columns = sorted({name for _, device in devices for name in _properties(device)})
        rows = [
            (name, *(self._short(_properties(device).get(column, "")) for column in columns))
            for name, device in devices
        ]
        self.printer.table(("DEVICE", *(column.upper() for column in columns)), rows)

    def claims(self, claims: Mapping[str, Mapping[str, Any]]) -> None:
        """Print the claims with their STATE and devices."""
        rows = [
            (
                _name(key),
                claim["state"],
                "\n".join(f"{device['request']}: {device['device']}" for device in claim["devices"]),
            )
            for key, claim in claims.items()
        ]
        self._separated(("CLAIM", "STATE", "DEVICES"), rows)

    def pods(self, pods: Sequence[Mapping[str, Any]]) -> None:
        """Print where the pods are."""
        rows = [
            (pod["metadata"]["name"], pod["spec"].get("nodeName", "<none>"), pod.get("status", {}).get("phase", ""))
            for pod in pods
        ]
        self._separated(("POD", "NODE", "PHASE"), rows)

    def containers(self, pods: Sequence[Mapping[str, Any]]) -> None:
        """Print the CDI devices and the environment that the containers of the pods got."""
        rows = []
        for pod in pods:
            annotations = pod["metadata"].get("annotations", {})
            for name, container in json.loads(annotations.get(names.CONTAINERS, "{}")).items():
                devices = [self._short(device) for device in container["cdiDevices"] if self._shown(device)]
                environment = list(self._environment(container["env"]))
                rows.append((f"{pod['metadata']['name']}/{name}", "\n".join(devices), "\n".join(environment)))
        self._separated(("CONTAINER", "CDI DEVICES", "ENVIRONMENT"), rows)

    def reasons(self, pods: Mapping[str, Mapping[str, Any]]) -> None:
        """Print why pods are not scheduled."""
        for key, pod in pods.items():
            if pod.get("message"):
                self.printer.paragraph(f"{_name(key)} is not scheduled: {pod['message']}")

    def _separated(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        if rows:
            self.printer.table(columns, rows)
            self.printer.line()

    def _shown(self, device: str) -> bool:
        """Every container gets the driver's common edits; only wide output repeats them each time."""
        return self._wide or not device.endswith("=common")

    def _environment(self, environment: Mapping[str, str]) -> Iterator[str]:
        for name, value in environment.items():
            line = f"{name}={value}"
            if self._wide or (_INJECTED.match(line) and not _USUAL.fullmatch(line)):
                yield self._short(line)

    def _short(self, text: str) -> str:
        return text if self._wide else _UUID.sub(r"\1…", text)


def _slice_row(item: Mapping[str, Any]) -> tuple[str, ...]:
    spec = item["spec"]
    pool = spec["pool"]
    return (
        item["metadata"]["name"],
        spec.get("nodeName", ""),
        spec["driver"],
        pool["name"],
        str(pool["generation"]),
        str(len(spec.get("devices", []))),
    )


def _properties(device: Mapping[str, Any]) -> dict[str, str]:
    """Return attributes and capacities of a device as text."""
    attributes = {name: str(next(iter(value.values()), "")) for name, value in device.get("attributes", {}).items()}
    return attributes | {name: value["value"] for name, value in device.get("capacity", {}).items()}


def _name(key: str) -> str:
    """Return the name of "namespace/name": what is shown together is of one namespace."""
    return key.rpartition("/")[2]
