"""list ResourceSlices and their pools: devices, used and free

Says of each pool whether it is complete: devices of a pool with missing slices are not allocated.

examples:
  drayman slices
  drayman slices --snapshot DIR -o wide
  kubectl dra slices -l team=a
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from drayman.cli import view
from drayman.cli.view import Entry, View, without_empty
from drayman.cli.view.fleet import count

if TYPE_CHECKING:
    import argparse

    from drayman.cli.output import Printer
    from drayman.cli.view.fleet import Fleet, Pool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    view.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Show the slices and pools."""
    return view.run(VIEW, arguments)


def _entries(fleet: Fleet, __: argparse.Namespace) -> Iterator[Entry]:
    for item in fleet.kind("ResourceSlice"):
        metadata, spec, pool = item["metadata"], item["spec"], fleet.pool_of(item)
        names = {device["name"] for device in spec.get("devices") or []}
        current = spec["pool"].get("generation", 0) == pool.generation
        devices = [device for device in pool.devices if current and device.name in names]
        _, used, free = count(devices)
        state = "current" if current else "outdated"
        yield Entry(
            metadata["name"],
            (
                metadata["name"],
                f"{pool.driver}/{pool.name}",
                str(spec["pool"].get("generation", 0)),
                str(len(names)),
                str(used),
                str(free),
                state,
            ),
            (str(len(spec.get("sharedCounters") or [])), metadata.get("creationTimestamp") or ""),
            {
                "name": metadata["name"],
                "pool": f"{pool.driver}/{pool.name}",
                "generation": spec["pool"].get("generation", 0),
                "state": state,
                "devices": len(names),
                "used": used,
                "free": free,
            },
            labels=metadata.get("labels") or {},
        )


def _after(printer: Printer, fleet: Fleet, entries: Sequence[Entry], _: argparse.Namespace) -> None:
    rows = [
        (f"{pool.driver}/{pool.name}", pool.node, *map(str, count(pool.devices)), str(_others(pool)), pool.state)
        for pool in _pools(fleet, entries)
    ]
    if rows:
        printer.line()
        printer.table(("POOL", "NODE", "DEVICES", "USED", "FREE", "OTHER", "STATE"), rows)


def _others(pool: Pool) -> int:
    """Return how many devices are neither used nor free: blocked, tainted or in an incomplete pool."""
    there, used, free = count(pool.devices)
    return there - used - free


def _pools(fleet: Fleet, entries: Sequence[Entry]) -> list[Pool]:
    shown = {one.json["pool"] for one in entries}
    return [pool for pool in fleet.pools.values() if f"{pool.driver}/{pool.name}" in shown]


def _members(fleet: Fleet, entries: Sequence[Entry]) -> dict[str, Any]:
    return {"pools": [_pool_json(pool) for pool in _pools(fleet, entries)]}


def _pool_json(pool: Pool) -> dict[str, Any]:
    there, used, free = count(pool.devices)
    return {
        "pool": f"{pool.driver}/{pool.name}",
        **without_empty(node=pool.node),
        "generation": pool.generation,
        "slices": len(pool.slices),
        "expectedSlices": pool.expected,
        "outdatedSlices": pool.outdated,
        "devices": there,
        "used": used,
        "free": free,
    }


VIEW = View(
    plural="slices",
    resource="resourceslice.resource.k8s.io",
    kinds=frozenset({"ResourceSlice", "ResourceClaim", "DeviceTaintRule", "Node"}),
    columns=("SLICE", "POOL", "GENERATION", "DEVICES", "USED", "FREE", "STATE"),
    wide=("COUNTER SETS", "CREATED"),
    entries=_entries,
    after=_after,
    members=_members,
)
