"""list pods with claims: what they got, and why they wait

The reason is that of the condition PodScheduled; `drayman explain` says more.

examples:
  drayman pods -A
  drayman pods --snapshot DIR -n team-a
  kubectl dra pods -w
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from drayman.cli import view
from drayman.cli.claims import key_of
from drayman.cli.view import Entry, View
from drayman.testing import state

if TYPE_CHECKING:
    import argparse

    from drayman.cli.output import Printer
    from drayman.cli.view.fleet import Fleet


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    view.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Show the pods."""
    return view.run(VIEW, arguments)


def _entries(fleet: Fleet, _: argparse.Namespace) -> Iterator[Entry]:
    claims = {key_of(claim): claim for claim in fleet.kind("ResourceClaim")}
    for pod in sorted(fleet.kind("Pod"), key=key_of):
        metadata, shown = pod["metadata"], state.pod_view({"spec": {}, **pod}, claims)
        if not shown.get("claims"):
            continue
        yield Entry(
            metadata["name"],
            (
                key_of(pod),
                shown.get("node", "<none>"),
                shown.get("phase", ""),
                "\n".join(_claims(metadata["namespace"], shown["claims"], claims)),
            ),
            (shown.get("reason", ""), metadata.get("creationTimestamp") or ""),
            {"pod": key_of(pod), **shown},
            namespace=metadata["namespace"],
            labels=metadata.get("labels") or {},
            waits="node" not in shown and shown.get("phase", "Pending") == "Pending",
        )


def _claims(namespace: str, shown: Mapping[str, Any], claims: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for entry, view_ in shown.items():
        claim = claims.get(f"{namespace}/{view_.get('name')}")
        if claim is None:
            yield f"{entry}: {'no such claim' if view_.get('name') else 'not created yet'}"
            continue
        devices = [device["device"] for device in view_["devices"]]
        yield f"{entry}: {', '.join(devices) or state.claim_state(claim)}"


def _after(printer: Printer, _: Fleet, entries: Sequence[Entry], __: argparse.Namespace) -> None:
    for one in entries:
        if one.waits and one.json.get("message"):
            printer.line()
            printer.paragraph(f"{one.json['pod']} is not scheduled: {one.json['message']}")


VIEW = View(
    plural="pods",
    resource="pod",
    kinds=frozenset({"Pod", "ResourceClaim"}),
    columns=("POD", "NODE", "PHASE", "CLAIMS"),
    wide=("REASON", "CREATED"),
    entries=_entries,
    scoped=True,
    after=_after,
)
