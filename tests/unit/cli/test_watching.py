"""A view that is watched: what it prints while a live cluster changes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.cli.manifests import claim, files, slice_
from tests.unit.cli.test_sources import kubeconfig_for
from tests.unit.cli.test_views import allocated
from tests.unit.servers import LiveServer, canned_server, live_server

from drayman import manifest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.cli.conftest import CommandLine


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LiveServer]:
    with live_server(tmp_path) as running:
        apply(running, files(slice_("node-1"), claim("one")))
        yield running


def apply(server: LiveServer, text: str) -> None:
    server.apply(*(one.object for one in manifest.parse(text)))


@contextlib.contextmanager
def watch(server: LiveServer, verb: str, *options: str) -> Iterator[Iterator[str]]:
    """Yield the lines that the command prints; it has to end as interrupted when it is."""
    command = [sys.executable, "-m", "drayman", verb, "--watch", "--kubeconfig", str(server.kubeconfig), *options]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        try:
            yield (line.rstrip("\n") for line in process.stdout)
        finally:
            process.send_signal(signal.SIGINT)
            rest = process.stdout.read()
        assert process.wait() == 130
        assert [line for line in rest.splitlines() if not line.startswith("note: [")] == []


def test_changed_claims_are_printed_with_how_many_wait(server: LiveServer) -> None:
    with watch(server, "claims") as lines:
        assert [next(lines).split() for _ in range(2)] == [["CLAIM", "STATE"], ["team-a/one", "pending"]]
        assert next(lines) == "note: [....................] 0 of 1 claims are allocated, 1 pending"
        apply(server, allocated("one", "gpu-0", pods="p"))
        assert next(lines).split() == [
            "team-a/one",
            "allocated,reserved",
            "node-1",
            "gpu:",
            "gpu.example.com/node-1/gpu-0",
            "p",
        ]
        assert next(lines) == "note: [####################] 1 of 1 claims are allocated, 0 pending"
        server.delete("resourceclaims", "team-a/one")
        assert next(lines) == "team-a/one is gone"
        assert next(lines) == "note: [####################] 0 of 0 claims are allocated, 0 pending"


def test_device_changes_with_the_claim_that_takes_it(server: LiveServer) -> None:
    with watch(server, "devices", "-o", "wide") as lines:
        assert [next(lines).split()[-1] for _ in range(3)] == ["STATE", "free", "free"]
        assert next(lines) == "note: [....................] 0 of 1 claims are allocated, 1 pending"
        apply(server, allocated("one", "gpu-1"))
        assert next(lines).split() == ["gpu.example.com/node-1/gpu-1", "node-1", "used", "team-a/one"]
        assert next(lines) == "note: [####################] 1 of 1 claims are allocated, 0 pending"


def test_claims_that_begin_to_wait_are_told_though_no_device_changes(server: LiveServer) -> None:
    with watch(server, "devices") as lines:
        [next(lines) for _ in range(3)]
        assert next(lines) == "note: [....................] 0 of 1 claims are allocated, 1 pending"
        apply(server, claim("two"))
        assert next(lines) == "note: [....................] 0 of 2 claims are allocated, 2 pending"


def test_names_are_printed_when_they_change(server: LiveServer) -> None:
    with watch(server, "claims", "-o", "name") as lines:
        assert next(lines) == "resourceclaim.resource.k8s.io/one"
        next(lines)
        apply(server, claim("two"))
        assert next(lines) == "resourceclaim.resource.k8s.io/two"


def test_claims_of_other_namespaces_are_not_shown(server: LiveServer) -> None:
    with watch(server, "claims", "-n", "other") as lines:
        assert next(lines) == "note: [####################] 0 of 0 claims are allocated, 0 pending"
        apply(server, claim("two"))
        apply(server, claim("mine", namespace="other"))
        assert next(lines).split() == ["other/mine", "pending"]


def test_watch_that_was_forgotten_lists_anew_and_a_refusal_ends_it(drayman: CommandLine) -> None:
    group = "/apis/resource.k8s.io"
    claims = [one.object for one in manifest.parse(files(claim("one"), claim("two")))]
    entry = {"kind": "ResourceClaim", "name": "resourceclaims", "namespaced": True}
    forgotten = {"type": "ERROR", "object": {"kind": "Status", "code": 410, "message": "too old resource version"}}
    answers: dict[str, tuple[int, Any] | list[tuple[int, Any]]] = {
        "/apis": (200, {"groups": [{"name": "resource.k8s.io", "versions": [{"version": "v1"}]}]}),
        f"{group}/v1": (200, {"resources": [entry]}),
        f"{group}/v1/resourceclaims": [
            (200, {"items": claims, "metadata": {"resourceVersion": "5"}}),
            (200, json.dumps(forgotten)),
            (200, {"items": claims[:1], "metadata": {"resourceVersion": "9"}}),
            (403, {"kind": "Status", "code": 403, "message": "no longer"}),
        ],
    }
    with canned_server(answers) as canned:
        kubeconfig_for(drayman, canned.url)
        result = drayman.run("claims", "-A", "--watch", "--kubeconfig", "config")
        watches = [path for path in canned.asked if "watch=true" in path]
    assert result.code == 1
    assert result.out.splitlines()[-1] == "team-a/two is gone"
    name = "resourceclaims.resource.k8s.io"
    assert result.err.splitlines()[-2:] == [
        f"error: {canned.url} refuses: no longer",
        f"hint: the right to `watch` {name} is missing: kubectl auth can-i watch {name} --all-namespaces",
    ]
    assert [path.partition("resourceVersion=")[2][0] for path in watches] == ["5", "9"]
