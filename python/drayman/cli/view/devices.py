"""list devices: free, used, and by whom

Shows each device of the newest generation of its pool with its state: free, used, shared (others may use it too),
blocked (its counters are used up by other partitions), tainted, incomplete (slices of its pool are missing), or gone
(a claim holds it, but no slice has it). Below, for devices that are partitions: the slots of each card, and who has
them. -l selects by labels of the node and of the slice.

examples:
  drayman devices
  drayman devices --state free,blocked --node worker-1
  drayman devices cluster.yaml -o wide
  kubectl dra devices -w
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from drayman.cli import view
from drayman.cli.view import Entry, View, without_empty
from drayman.cli.view.fleet import STATES

if TYPE_CHECKING:
    from drayman.cli.output import Printer
    from drayman.cli.view.fleet import CounterSet, Device, Fleet, Holder, Pool

_SLOT = re.compile(r"(.*)-([0-9]+)")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_FREE_SLOT, _OTHER_SLOT = ".", "?"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    view.add_arguments(parser)
    parser.add_argument("--node", help="only devices of this node")
    parser.add_argument("--driver", help="only devices of this driver")
    parser.add_argument("--state", type=_states, metavar="STATE,…", help=f"only these: {', '.join(STATES)}")


def run(arguments: argparse.Namespace) -> int:
    """Show the devices."""
    return view.run(VIEW, arguments)


def _states(text: str) -> list[str]:
    for state in text.split(","):
        if state not in STATES:
            raise argparse.ArgumentTypeError(f"`{state}` is not one of {', '.join(STATES)}")
    return text.split(",")


def _entries(fleet: Fleet, arguments: argparse.Namespace) -> Iterator[Entry]:
    for device in fleet.devices:
        if (
            arguments.node in (None, device.node)
            and arguments.driver in (None, device.driver)
            and (arguments.state is None or device.state in arguments.state)
        ):
            yield Entry(
                device.key,
                (device.key, device.node, device.state, "\n".join(map(_user, device.holders)), _use(device)),
                ("\n".join(_properties(device)), "\n".join(_taints(device)), device.short or ""),
                _json(device),
                labels=device.labels,
            )


def _user(holder: Holder) -> str:
    pods = f" ({', '.join(holder.pods)})" if holder.pods else ""
    consumed = "".join(f" {name}={value}" for name, value in holder.consumed.items())
    return f"{holder.claim}{pods}{' as administrator' if holder.admin else ''}{consumed}"


def _use(device: Device) -> str:
    if not device.is_shared:
        return ""
    return "\n".join(f"{name} {used} of {size}" for name, size, used in device.capacities())


def _properties(device: Device) -> Iterator[str]:
    for name, value in sorted((device.content.get("attributes") or {}).items()):
        yield f"{name}={_value(value)}"
    for name, capacity in sorted((device.content.get("capacity") or {}).items()):
        yield f"{name}={capacity.get('value')}"


def _value(attribute: Mapping[str, Any]) -> str:
    value = next(iter(attribute.values()), "")
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _taints(device: Device) -> Iterator[str]:
    for taint in device.taints:
        value = f"={taint['value']}" if taint.get("value") else ""
        yield f"{taint.get('key', '')}{value}:{taint.get('effect', '')}"


def _json(device: Device) -> dict[str, Any]:
    return {
        "device": device.key,
        **without_empty(
            node=device.node,
            state=device.state,
            holders=[
                without_empty(
                    claim=holder.claim,
                    request=holder.request,
                    pods=list(holder.pods),
                    shareID=holder.share,
                    consumedCapacity=dict(holder.consumed),
                    adminAccess=holder.admin or None,
                )
                for holder in device.holders
            ],
            capacity={name: {"size": str(size), "used": str(used)} for name, size, used in device.capacities()},
            attributes={
                name: next(iter(value.values()), None)
                for name, value in (device.content.get("attributes") or {}).items()
            },
            taints=list(device.taints),
            shortCounter=device.short,
        ),
    }


def _after(printer: Printer, fleet: Fleet, entries: Sequence[Entry], arguments: argparse.Namespace) -> None:
    """Print the slots of the cards whose partitions are shown, and in wide output all of their counters."""
    shown = {one.name.rpartition("/")[0] for one in entries}
    pools = [pool for pool in fleet.pools.values() if f"{pool.driver}/{pool.name}" in shown]
    sets = [(pool, one) for pool in pools for one in pool.counters.values()]
    rows = [_card(pool, one, wide=arguments.output == "wide") for pool, one in sets]
    if rows:
        printer.line()
        printer.table(("CARD", "SLOTS", "PARTITIONS IN USE", "COUNTERS"), rows)


def _card(pool: Pool, counter_set: CounterSet, *, wide: bool) -> tuple[str, str, str, str]:
    letters = dict(zip(counter_set.consumers, _LETTERS, strict=False))
    lines = []
    for prefix, slots in slots_of(counter_set).items():
        marks = "".join(_FREE_SLOT if user is None else letters.get(user, _OTHER_SLOT) for user in slots)
        lines.append(f"{prefix} {marks}")
    devices = {device.name: device for device in pool.devices}
    users = [f"{letters.get(name, _OTHER_SLOT)} {name}: {_names(devices[name])}" for name in counter_set.consumers]
    numbered = {name for prefix, slots in slots_of(counter_set).items() for name in _slot_names(prefix, slots)}
    counters = [
        f"{name} {counter_set.used(name)} of {size}"
        for name, size in counter_set.sizes.items()
        if name not in numbered and (wide or name == "memory" or not numbered)
    ]
    return (f"{pool.driver}/{pool.name} {counter_set.name}", "\n".join(lines), "\n".join(users), "\n".join(counters))


def _names(device: Device) -> str:
    return ", ".join(holder.claim for holder in device.users)


def slots_of(counter_set: CounterSet) -> dict[str, list[str | None]]:
    """Return what stands in each place of a card, and None for free ones, by what the places are called.

    Places are counters of size 1 that are numbered from 0, as `memory-slice-0`, `memory-slice-1`, … of MIG.
    """
    numbers: dict[str, set[int]] = {}
    for name, size in counter_set.sizes.items():
        if (found := _SLOT.fullmatch(name)) and size.milli_value() == 1000:
            numbers.setdefault(found[1], set()).add(int(found[2]))
    return {
        prefix: [_in_slot(counter_set, f"{prefix}-{number}") for number in sorted(found)]
        for prefix, found in numbers.items()
        if found == set(range(len(found)))
    }


def _slot_names(prefix: str, slots: Sequence[object]) -> Iterator[str]:
    return (f"{prefix}-{number}" for number in range(len(slots)))


def _in_slot(counter_set: CounterSet, counter: str) -> str | None:
    return next((name for name, parts in counter_set.consumers.items() if parts.get(counter)), None)


def _members(fleet: Fleet, entries: Sequence[Entry]) -> dict[str, Any]:
    shown = {one.name.rpartition("/")[0] for one in entries}
    sets = [
        {
            "pool": f"{pool.driver}/{pool.name}",
            "name": one.name,
            "counters": {name: {"size": str(size), "used": str(one.used(name))} for name, size in one.sizes.items()},
            **without_empty(slots=slots_of(one)),
        }
        for pool in fleet.pools.values()
        if f"{pool.driver}/{pool.name}" in shown
        for one in pool.counters.values()
    ]
    return without_empty(counterSets=sets)


VIEW = View(
    plural="devices",
    resource="device",
    kinds=frozenset({"ResourceSlice", "ResourceClaim", "DeviceTaintRule", "Node"}),
    columns=("DEVICE", "NODE", "STATE", "USED BY", "CAPACITY IN USE"),
    wide=("ATTRIBUTES AND CAPACITY", "TAINTS", "SHORT OF"),
    entries=_entries,
    after=_after,
    members=_members,
)
