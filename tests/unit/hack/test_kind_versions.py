"""The table of Kubernetes versions that the backend `kind` boots fits what drayman knows of them."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from drayman import features

ROOT = Path(__file__).parents[3]
TABLE: list[dict[str, Any]] = json.loads((ROOT / "python/drayman/testing/clusters/kind/versions.json").read_text())
ENTRIES = {str(entry["kubernetes"]): entry for entry in TABLE}


def test_each_known_version_is_there_once() -> None:
    assert [entry["kubernetes"] for entry in TABLE] == list(features.KUBERNETES_VERSIONS)


@pytest.mark.parametrize("version", ENTRIES)
def test_images_are_of_the_version_and_cannot_change(version: str) -> None:
    pattern = rf"kindest/node:v{re.escape(version)}\.\d+@sha256:[0-9a-f]{{64}}"
    assert re.fullmatch(pattern, ENTRIES[version]["image"])


@pytest.mark.parametrize("version", ENTRIES)
def test_gates_are_those_of_the_latest_version_that_the_version_has(version: str) -> None:
    later = features.defaults() - features.defaults(version)
    known = {name for name in later if features.GATES[name].at(version) is not None}
    # The rules' version that drayman reads is served from 1.37 on; the other gates change nothing about devices.
    wanted = {name for name in known if name.startswith("DRA")} - {"DRADeviceTaintRules"}

    assert ENTRIES[version]["featureGates"] == dict.fromkeys(sorted(wanted), True)
    features.resolve(feature_gates=ENTRIES[version]["featureGates"], kubernetes_version=version)


@pytest.mark.parametrize("version", ENTRIES)
def test_taint_rules_are_served_where_kube_scheduler_reads_them(version: str) -> None:
    # Before rules had a gate of their own, that of taints stood for both; kube-scheduler waits until it has read rules.
    one_gate = features.GATES["DRADeviceTaintRules"].at(version) is None
    wanted = {"resource.k8s.io/v1alpha3": "true"} if one_gate else {}
    assert ENTRIES[version]["runtimeConfig"] == wanted


@pytest.mark.parametrize("version", ENTRIES)
def test_values_have_the_types_that_kind_wants(version: str) -> None:
    entry = ENTRIES[version]
    assert sorted(entry) == ["containerdConfigPatches", "featureGates", "image", "kubernetes", "runtimeConfig"]
    assert all(isinstance(value, str) for value in entry["runtimeConfig"].values())
    assert all(isinstance(patch, str) for patch in entry["containerdConfigPatches"])


def test_script_prints_the_versions_on_one_line() -> None:
    printed = subprocess.run([ROOT / "hack/kind/versions"], capture_output=True, text=True, check=True).stdout
    assert printed.count("\n") == 1
    assert json.loads(printed) == list(features.KUBERNETES_VERSIONS)
