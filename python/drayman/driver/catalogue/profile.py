"""A profile: the devices that one kind of node has, and the objects that a driver publishes for them."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, ClassVar

import yaml

from drayman.errors import InputError

Object = dict[str, Any]

DEVICES_PER_SLICE = 128
"""How many devices the API server takes in one ResourceSlice."""

MOST_DEVICES = 10_000
"""How many devices a node may have: they fill 79 ResourceSlices, three megabytes."""

_UUIDS = uuid.UUID("6b1d9c1e-6f0a-5e0c-9f0b-0d3f6a5b7c21")
"""Namespace of the devices' UUIDs: the same node and index always get the same UUID."""

NAMES = tuple(
    sorted(path.name.removesuffix(".yaml") for path in resources.files(__package__).iterdir() if ".yaml" in path.name)
)
"""The drivers that the catalogue has hardware for."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The hardware of one node: `count` equal devices, called `<kind>-<index>`.

    `capacity` holds quantities as text. `driver` is the DRA driver's name and that of its DeviceClass.
    """

    driver: str
    kind: str
    count: int
    model: str
    driver_version: str
    capacity: Mapping[str, str]
    reads_configuration: ClassVar[bool] = True

    def has(self, node: str, pool: str, device: str) -> bool:
        """Return whether `node` has the device."""
        return pool == node and any(device == f"{self.kind}-{index}" for index in range(self.count))

    def devices(self, node: str) -> list[Object]:
        """Return the devices of `node` as they stand in a ResourceSlice."""
        return [
            {
                "name": f"{self.kind}-{index}",
                "attributes": {
                    "driverVersion": {"version": self.driver_version},
                    "index": {"int": index},
                    "model": {"string": self.model},
                    "uuid": {"string": f"{self.kind}-{uuid.uuid5(_UUIDS, f'{self.driver}/{node}/{index}')}"},
                },
                "capacity": {name: {"value": value} for name, value in self.capacity.items()},
            }
            for index in range(self.count)
        ]

    def slice_specs(self, node: str) -> list[Object]:
        """Return the specs of the ResourceSlices of `node`: one pool, called like the node, in its first generation."""
        devices = self.devices(node)
        # A node without devices publishes an empty slice: it says that the driver runs and the pool is complete.
        chunks = [devices[at : at + DEVICES_PER_SLICE] for at in range(0, len(devices), DEVICES_PER_SLICE)] or [[]]
        return [
            {
                "driver": self.driver,
                "pool": {"name": node, "generation": 1, "resourceSliceCount": len(chunks)},
                "nodeName": node,
                "devices": chunk,
            }
            for chunk in chunks
        ]

    def slices(self, node: str) -> list[Object]:
        """Return whole ResourceSlices for use without a cluster.

        Their names are those that a driver asks for, without the random suffix that a server adds.
        """
        return [
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceSlice",
                "metadata": {"name": slice_name(index, self.driver, node)},
                "spec": spec,
            }
            for index, spec in enumerate(self.slice_specs(node))
        ]

    def device_class(self) -> Object:
        """Return the DeviceClass that selects all devices of the driver."""
        return {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": self.driver},
            "spec": {"selectors": [{"cel": {"expression": f"device.driver == '{self.driver}'"}}]},
        }


def profile(
    name: str,
    *,
    devices: int | None = None,
    model: str | None = None,
    driver_version: str | None = None,
    capacity: Mapping[str, str] | None = None,
) -> Profile:
    """Return the profile of the driver `name`, with what is given instead of the catalogue's values.

    `capacity` is laid over the catalogue's. Raises :class:`~drayman.errors.InputError` for a driver that the catalogue
    does not have and for a number of devices that no node can have.
    """
    if name not in NAMES:
        known = ", ".join(f"`{known}`" for known in NAMES)
        raise InputError(f"the catalogue has no hardware for driver `{name}`", hint=f"known: {known}")
    if devices is not None:
        check_devices(devices)
    base = _load(name)
    given = {"count": devices, "model": model, "driver_version": driver_version}
    changes: Object = {field: value for field, value in given.items() if value is not None}
    return dataclasses.replace(base, **changes, capacity={**base.capacity, **(capacity or {})})


def check_devices(count: int) -> None:
    """Raise :class:`~drayman.errors.InputError` for a number of devices that no node can have."""
    if not 0 <= count <= MOST_DEVICES:
        raise InputError(f"{count} devices: between 0 and {MOST_DEVICES} are possible")


def slice_name(index: int, driver: str, owner: str) -> str:
    """Return how the name of a pool's ResourceSlice number `index` begins.

    The index comes first, because allocators try slices in the order of their names (upstream: `resourceslice`
    controller).
    """
    return f"{index:05x}-{driver}-{owner}"


def _load(name: str) -> Profile:
    text = (resources.files(__package__) / f"{name}.yaml").read_text(encoding="utf-8")
    row = yaml.safe_load(text)
    return Profile(
        driver=name,
        kind=row["kind"],
        count=row["devices"],
        model=row["model"],
        driver_version=row["driverVersion"],
        capacity=row["capacity"],
    )
