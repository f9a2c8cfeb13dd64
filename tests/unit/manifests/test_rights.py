"""The roles grant what scheduler and driver ask for, and nothing more."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from tests.unit.manifests import recording
from tests.unit.manifests.recording import Right

from drayman import manifests
from drayman.manifests import Scheduler
from drayman.scheduler import Configuration

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NOT_ASKED_FOR = {
    "scheduler": {
        Right("update", "resource.k8s.io", "resourceclaims/binding"): (
            "Kubernetes from 1.36 on asks for it by itself where an update of the status changes who has the claim"
        ),
        Right("patch", "resource.k8s.io", "resourceclaims/binding"): (
            "likewise where a patch of the status takes a reservation back"
        ),
    },
    "driver": {},
}
"""Rights that no request names, with the reason why they are granted."""


@pytest.fixture(scope="module")
def asked() -> Mapping[str, set[Right]]:
    with pytest.MonkeyPatch.context() as patch:
        return asyncio.run(recording.record(patch))


@pytest.mark.parametrize("part", ["scheduler", "driver"])
def test_role_is_what_the_part_asks_for(part: str, asked: Mapping[str, set[Right]]) -> None:
    granted = recording.rights(manifests.role(part)["rules"])

    assert asked[f"drayman-{part}"] | NOT_ASKED_FOR[part].keys() == granted
    assert not asked[f"drayman-{part}"] & NOT_ASKED_FOR[part].keys()


def test_claims_may_be_bound_by_the_verbs_by_which_their_status_is_written() -> None:
    granted = recording.rights(manifests.role("scheduler")["rules"])
    verbs = {
        name: {right.verb for right in granted if right.resource == f"resourceclaims/{name}"}
        for name in ("status", "binding")
    }

    assert verbs["binding"] == verbs["status"]


@pytest.mark.parametrize("part", ["scheduler", "driver"])
def test_role_grants_each_right_once(part: str) -> None:
    rules = manifests.role(part)["rules"]
    counted = sum(len(rule["apiGroups"]) * len(rule["resources"]) * len(rule["verbs"]) for rule in rules)

    assert counted == len(recording.rights(rules))


def test_leader_asks_for_its_lease_and_nothing_more(tmp_path: Path) -> None:
    objects = Scheduler(replicas=2, namespace="team-a").objects()
    (role,) = (one for one in objects if one["kind"] == "Role")
    (config_map,) = (one for one in objects if one["kind"] == "ConfigMap")
    path = tmp_path / "scheduler.yaml"
    path.write_text(config_map["data"]["scheduler.yaml"])
    election = Configuration.from_file(path).leader_election
    asked = recording.record_election(election)

    assert {right for right in asked if right.resource == "leases"} == recording.rights(role["rules"])
    assert asked <= recording.rights([*role["rules"], *manifests.role("scheduler")["rules"]])
    assert {name for rule in role["rules"] for name in rule.get("resourceNames", [])} == {election.resource_name}
    assert role["metadata"]["namespace"] == election.resource_namespace == "team-a"
