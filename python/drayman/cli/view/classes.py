"""list DeviceClasses: the devices that each selects, used and free

Counts the claims that wait for each class, and says which selectors fail.

examples:
  drayman classes
  drayman classes cluster.yaml -o wide
  kubectl dra classes -o json
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from drayman import cel
from drayman.cli import view
from drayman.cli.view import Entry, View, without_empty
from drayman.cli.view.fleet import count
from drayman.errors import CELCompileError, CELRuntimeError
from drayman.testing import state

if TYPE_CHECKING:
    import argparse

    from drayman.cli.view.fleet import Device, Fleet, Object


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    view.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Show the classes."""
    return view.run(VIEW, arguments)


def _entries(fleet: Fleet, _: argparse.Namespace) -> Iterator[Entry]:
    waiting = [claim for claim in fleet.kind("ResourceClaim") if state.claim_state(claim) == "pending"]
    devices = [device for device in fleet.devices if device.state != "gone"]
    for item in fleet.kind("DeviceClass"):
        name, spec = item["metadata"]["name"], item.get("spec") or {}
        selected, failure = _selected(spec, devices)
        there, used, free = count(selected)
        pending = sum(name in _classes(claim) for claim in waiting)
        extended = spec.get("extendedResourceName") or ""
        yield Entry(
            name,
            (
                name,
                str(there),
                str(used),
                str(free),
                str(there - used - free),
                str(pending),
                failure.partition("\n")[0],
            ),
            (extended, "\n".join(_expressions(spec))),
            {
                "class": name,
                "devices": there,
                "used": used,
                "free": free,
                "pendingClaims": pending,
                **without_empty(extendedResourceName=extended, error=failure, selectors=_expressions(spec)),
            },
            labels=item["metadata"].get("labels") or {},
        )


def _selected(spec: Object, devices: list[Device]) -> tuple[list[Device], str]:
    """Return the devices that the class selects, and what is wrong with its selectors, if anything is."""
    try:
        selectors = [cel.compile(expression) for expression in _expressions(spec)]
    except CELCompileError as error:
        return [], str(error)
    selected, failed, first = [], 0, ""
    for device in devices:
        try:
            if all(selector.matches(device.content, device.driver) for selector in selectors):
                selected.append(device)
        except CELRuntimeError as error:
            failed += 1
            first = first or str(error)
    return selected, f"fails on {failed} devices: {first}" if failed else ""


def _expressions(spec: Object) -> list[str]:
    return [str((one.get("cel") or {}).get("expression", "")) for one in spec.get("selectors") or []]


def _classes(claim: Object) -> set[str]:
    """Return the classes that a claim asks for."""
    requests = ((claim.get("spec") or {}).get("devices") or {}).get("requests") or []
    asked = [
        one for request in requests for one in [request.get("exactly") or {}, *(request.get("firstAvailable") or [])]
    ]
    return {str(one.get("deviceClassName")) for one in asked}


VIEW = View(
    plural="classes",
    resource="deviceclass.resource.k8s.io",
    kinds=frozenset({"DeviceClass", "ResourceSlice", "ResourceClaim", "DeviceTaintRule", "Node"}),
    columns=("CLASS", "DEVICES", "USED", "FREE", "OTHER", "PENDING CLAIMS", "ERROR"),
    wide=("EXTENDED RESOURCE", "SELECTORS"),
    entries=_entries,
)
