"""list ResourceClaims: state, devices, and the pods that use them

States are pending, allocated and allocated,reserved, with `deleted` in front while a claim is being deleted.

examples:
  drayman claims -A
  drayman claims cluster.yaml -n team-a -o wide
  kubectl dra claims --watch
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from drayman import node_selector
from drayman.cli import view
from drayman.cli.claims import key_of
from drayman.cli.view import Entry, View
from drayman.testing import state

if TYPE_CHECKING:
    import argparse

    from drayman.cli.view.fleet import Fleet, Object


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    view.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Show the claims."""
    return view.run(VIEW, arguments)


def _entries(fleet: Fleet, _: argparse.Namespace) -> Iterator[Entry]:
    for claim in sorted(fleet.kind("ResourceClaim"), key=key_of):
        metadata, shown = claim["metadata"], state.claim_view(claim)
        devices = shown.get("devices", [])
        users = [name.removeprefix("pods/") for name in shown.get("reservedFor", [])]
        yield Entry(
            metadata["name"],
            (key_of(claim), shown["state"], _where(claim, shown), "\n".join(map(_device, devices)), "\n".join(users)),
            ("\n".join(_requests(claim)), "\n".join(_consumed(devices)), metadata.get("creationTimestamp") or ""),
            {"claim": key_of(claim), "requests": list(_requests(claim)), **shown},
            namespace=metadata["namespace"],
            labels=metadata.get("labels") or {},
            waits=shown["state"] == "pending",
        )


def _where(claim: Object, shown: Mapping[str, Any]) -> str:
    """Return the node on which the claim can be used, if it is a single one, else what its node has to have."""
    selector = ((claim.get("status") or {}).get("allocation") or {}).get("nodeSelector")
    names = node_selector.names_in_fields(selector) if selector else None
    return ",".join(names) if names else str(shown.get("nodeSelector", ""))


def _device(device: Mapping[str, Any]) -> str:
    admin = " as administrator" if device.get("adminAccess") else ""
    return f"{device['request']}: {device['device']}{admin}"


def _consumed(devices: list[Mapping[str, Any]]) -> Iterator[str]:
    for device in devices:
        parts = device.get("consumedCapacity") or {}
        yield " ".join(f"{name}={value}" for name, value in parts.items())


def _requests(claim: Object) -> Iterator[str]:
    """Yield what the claim asks for, a line each: `gpu: 2 of gpu.example.com`."""
    for request in ((claim.get("spec") or {}).get("devices") or {}).get("requests") or []:
        if request.get("exactly"):
            yield f"{request.get('name')}: {_asked(request['exactly'])}"
        for alternative in request.get("firstAvailable") or []:
            yield f"{request.get('name')}/{alternative.get('name')}: {_asked(alternative)}"


def _asked(request: Object) -> str:
    number = "all" if request.get("allocationMode") == "All" else str(request.get("count") or 1)
    return f"{number} of {request.get('deviceClassName', '')}"


VIEW = View(
    plural="claims",
    resource="resourceclaim.resource.k8s.io",
    kinds=frozenset({"ResourceClaim"}),
    columns=("CLAIM", "STATE", "NODE", "DEVICES", "RESERVED FOR"),
    wide=("REQUESTS", "CONSUMED", "CREATED"),
    entries=_entries,
    scoped=True,
)
