"""What public drivers publish, for manifests beside which no ResourceSlices are given."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, NamedTuple

import yaml


class Name(NamedTuple):
    """Where an attribute or capacity is looked up: `section` is `attributes` or `capacity`."""

    section: str
    domain: str
    name: str


@dataclass(frozen=True, slots=True)
class Published:
    """`type` is that of the attribute in a ResourceSlice, `quantity` of a capacity, `any` where it is not known.

    An `optional` one is missing on some devices.
    """

    type: str
    optional: bool


@dataclass(frozen=True, slots=True)
class Kind:
    """What the devices of one kind have."""

    name: str
    published: Mapping[Name, Published]


@dataclass(frozen=True, slots=True)
class Driver:
    """A driver, its DeviceClasses with the kind that each selects, and names that it does not publish any more.

    `resources` are patterns of the extended resources of the device plugin for the same hardware.
    """

    name: str
    classes: Mapping[str, Kind]
    kinds: Mapping[str, Kind]
    withdrawn: Mapping[str, str]
    resources: Sequence[str]


@functools.cache
def known() -> Mapping[str, Driver]:
    """Return the drivers by name."""
    text = (resources.files(__package__) / "drivers.yaml").read_text(encoding="utf-8")
    rows = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe
    return {name: _driver(name, row) for name, row in rows.items()}


def of_class(device_class: str) -> tuple[Driver, Kind] | None:
    """Return the driver that the DeviceClass comes with, and the devices that it selects."""
    for driver in known().values():
        if device_class in driver.classes:
            return driver, driver.classes[device_class]
    return None


def meant(name: str, names: Collection[str]) -> str | None:
    """Return the one of `names`, of drivers, for which the name of something else stands, or None.

    Such are a DeviceClass (`mig.nvidia.com`, of driver `gpu.nvidia.com`), an extended resource (`example.com/gpu`,
    which driver `gpu.example.com` often serves), and the domain of a vendor of whose drivers there is one.
    """
    found = of_class(name)
    if found is not None and found[0].name in names:
        return found[0].name
    domain, _, resource = name.rpartition("/")
    if domain and f"{resource}.{domain}" in names:
        return f"{resource}.{domain}"
    vendor = domain or name
    of_vendor = [one for one in names if "." in vendor and (one == vendor or one.endswith(f".{vendor}"))]
    return of_vendor[0] if len(of_vendor) == 1 else None


def _driver(name: str, row: Mapping[str, Any]) -> Driver:
    kinds = {kind: Kind(kind, dict(_published(name, content))) for kind, content in row["kinds"].items()}
    classes = {one: kinds[kind] for one, kind in row["classes"].items()}
    return Driver(name, classes, kinds, row.get("withdrawn", {}), row.get("resources", ()))


def _published(driver: str, content: Mapping[str, Any]) -> list[tuple[Name, Published]]:
    found = [("attributes", name, kind) for name, kind in content["attributes"].items()]
    for name in content["capacity"]:
        found += [("capacity", name.removesuffix("?"), "quantity?" if name.endswith("?") else "quantity")]
    return [
        (Name(section, name.rpartition("/")[0] or driver, name.rpartition("/")[2]), _entry(kind))
        for section, name, kind in found
    ]


def _entry(kind: str) -> Published:
    return Published(kind.removesuffix("?"), kind.endswith("?"))
