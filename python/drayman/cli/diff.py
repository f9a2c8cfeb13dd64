"""say what changed in devices and claims between two states of a cluster

Each of BEFORE and AFTER is a file, a folder or a snapshot; without AFTER it is the live cluster. Devices are compared
in the newest generation of their pools: added, removed, or with other attributes, capacities, counters, taints or
nodes. Claims are compared by their state, devices and users: all of them unless -n is given. Exit code 3 when anything
changed.

examples:
  drayman snapshot before; kubectl apply -f new.yaml; drayman diff before
  drayman diff monday tuesday -o json
  drayman diff old.yaml new.yaml -n team-a
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman import cli
from drayman.cli import claims as naming
from drayman.cli import inputs, required, sources
from drayman.cli.output import Printer, print_json, print_yaml
from drayman.cli.view.fleet import Fleet
from drayman.testing import state

if TYPE_CHECKING:
    import argparse

    from drayman.manifest import Manifest

KINDS = frozenset({"ResourceSlice", "ResourceClaim", "DeviceTaintRule", "Node"})
_SIGNS = {"added": "+", "removed": "-"}
_ABSENT = "<none>"


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a device or claim: `what` is added, removed, changed, allocated, freed, moved or state.

    `fields` has, by what is different, how it was and how it is.
    """

    name: str
    what: str
    fields: Mapping[str, tuple[Any, Any]]

    def json(self, of: str) -> dict[str, Any]:
        """Return the change as a member of the JSON output; `of` is `device` or `claim`."""
        fields = {name: {"before": before, "after": after} for name, (before, after) in self.fields.items()}
        return {of: self.name, "change": self.what, **({"fields": fields} if fields else {})}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("before", metavar="BEFORE", help="a file, folder or snapshot")
    parser.add_argument("after", metavar="AFTER", nargs="?", help="the same (default: the live cluster)")
    sources.add_server_and_namespace(parser)
    parser.add_argument("-o", "--output", choices=("table", "json", "yaml"), default="table", help="how to print")


def run(arguments: argparse.Namespace) -> int:
    """Compare and print the differences."""
    before = sources.load_files(arguments, [arguments.before])
    after = sources.load_files(arguments, [arguments.after]) if arguments.after else sources.load_live(arguments, KINDS)
    old, new = _fleet(before.manifests), _fleet(after.manifests)
    devices = list(_device_changes(old, new))
    namespace = sources.namespace(arguments, None)
    claims = list(_claim_changes(_claims(old, namespace), _claims(new, namespace)))
    if arguments.output == "table":
        _print(devices, claims)
    else:
        document = {
            "version": 1,
            "kubernetes": "1.37",
            "compatibility": "1.37",
            "devices": [one.json("device") for one in devices],
            "claims": [one.json("claim") for one in claims],
        }
        {"json": print_json, "yaml": print_yaml}[arguments.output](document)
    return cli.NO if devices or claims else cli.DONE


def _fleet(manifests: Sequence[Manifest]) -> Fleet:
    return Fleet(inputs.once([required.checked(one) for one in manifests if one.object["kind"] in KINDS]))


def _device_changes(old: Fleet, new: Fleet) -> Iterator[Change]:
    before = {one.key: _properties(one.content, one.node, one.taints) for one in old.devices if one.state != "gone"}
    after = {one.key: _properties(one.content, one.node, one.taints) for one in new.devices if one.state != "gone"}
    for key in sorted(before.keys() | after.keys()):
        if key not in before or key not in after:
            yield Change(key, "added" if key in after else "removed", {})
        elif fields := _differences(before[key], after[key]):
            yield Change(key, "changed", fields)


def _properties(content: Mapping[str, Any], node: str, taints: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what may differ between two states of a device, by what it is called."""
    found: dict[str, Any] = {"node": node} if node else {}
    for name, attribute in (content.get("attributes") or {}).items():
        found[f"attribute {name}"] = next(iter(attribute.values()), None)
    for name, capacity in (content.get("capacity") or {}).items():
        found[f"capacity {name}"] = capacity.get("value")
    for taint in taints:
        found[f"taint {taint.get('key')}:{taint.get('effect')}"] = taint.get("value") or ""
    for one in content.get("consumesCounters") or []:
        for name, counter in (one.get("counters") or {}).items():
            found[f"counter {one.get('counterSet')}/{name}"] = counter.get("value")
    if content.get("allowMultipleAllocations"):
        found["allowMultipleAllocations"] = True
    return found


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    names = [*before, *(name for name in after if name not in before)]
    return {name: (before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)}


def _claims(fleet: Fleet, namespace: str | None) -> dict[str, Mapping[str, Any]]:
    claims = {naming.key_of(one): one for one in fleet.kind("ResourceClaim")}
    return {key: one for key, one in claims.items() if namespace in (None, one["metadata"]["namespace"])}


def _claim_changes(before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]) -> Iterator[Change]:
    for key in sorted(before.keys() | after.keys()):
        old, new = _held(before.get(key)), _held(after.get(key))
        fields = _differences(old, new)
        if key not in before or key not in after:
            yield Change(key, "added" if key in after else "removed", fields)
        elif fields:
            yield Change(key, _what(old, new), fields)


def _held(claim: Mapping[str, Any] | None) -> dict[str, Any]:
    if claim is None:
        return {}
    shown = state.claim_view(claim)
    devices = [f"{one['request']}: {one['device']}" for one in shown.get("devices", [])]
    return {
        "state": shown["state"],
        **({"devices": devices} if devices else {}),
        **({"reservedFor": shown["reservedFor"]} if "reservedFor" in shown else {}),
    }


def _what(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    match "devices" in old, "devices" in new:
        case False, True:
            return "allocated"
        case True, False:
            return "freed"
        case True, True if old["devices"] != new["devices"]:
            return "moved"
    return "changed"


def _print(devices: Sequence[Change], claims: Sequence[Change]) -> None:
    printer = Printer()
    for of, changes in (("device", devices), ("claim", claims)):
        for one in changes:
            printer.line(f"{_SIGNS.get(one.what, '~')} {of} {one.name}: {one.what}")
            for name, (before, after) in one.fields.items():
                printer.line(f"    {name}: {_text(before)} → {_text(after)}")
    if not devices and not claims:
        printer.line("no device and no claim has changed")


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or _ABSENT
    if isinstance(value, bool):
        return str(value).lower()
    return _ABSENT if value is None else f'"{value}"' if value == "" else str(value)
