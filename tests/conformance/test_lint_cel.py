"""The rules about CEL find nothing in selectors that are right: of the cases, the scenarios, and two guides."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from drayman import manifest
from drayman.driver import catalogue
from drayman.lint import Options, lint

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
TABLES = sorted((ROOT / "tests" / "conformance" / "cel").glob("*.jsonl"))
TABLES += sorted((SHARED / "conformance").glob("cel*.jsonl"))
SCENARIOS = sorted((ROOT / "e2e" / "scenarios").glob("*/*.yaml"))
GUIDES = sorted((SHARED / "guides").glob("*.txt"))


def claim(expression: str) -> str:
    """Return a claim with one selector."""
    request = {"deviceClassName": "any", "selectors": [{"cel": {"expression": expression}}]}
    spec = {"devices": {"requests": [{"name": "one", "exactly": request}]}}
    content = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "claim"}, "spec": spec}
    return json.dumps(content)


def beside(device: dict[str, Any]) -> str:
    """Return a class of all devices, and a slice with the one."""
    published = {name: value for name, value in device.items() if name != "driver" and value is not None}
    pool = {"name": "node", "generation": 1, "resourceSliceCount": 1}
    content = [{"name": "device", **published}]
    spec = {"driver": device["driver"], "nodeName": "node", "pool": pool, "devices": content}
    objects: list[dict[str, Any]] = [
        {"kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}},
        {"kind": "ResourceSlice", "metadata": {"name": "slice"}, "spec": spec},
    ]
    return "\n---\n".join(json.dumps({"apiVersion": "resource.k8s.io/v1", **one}) for one in objects)


def rules(text: str, options: Options | None = None) -> set[str]:
    """Return the rules about CEL that find something."""
    return {one.rule for one in lint([("objects.yaml", text)], options) if one.rule.startswith("cel-")}


@pytest.mark.parametrize("table", TABLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_selector_that_selects_its_device_is_clean(table: Path) -> None:
    wrong = []
    for line in table.read_text("utf-8").splitlines():
        case = json.loads(line)
        expression, device = case["expression"], case["device"] or {}
        # Some cases are no selectors but probes: of the empty name of a driver, and of what an error is absorbed by.
        probe = not device.get("driver") or expression.endswith("|| true") or "|| true)" in expression
        if case["expect"].get("match") is True and not probe:
            for text in (claim(expression), claim(expression) + "\n---\n" + beside(device)):
                wrong += [(expression, rule) for rule in rules(text)]
    assert wrong == []


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_scenarios_are_clean_with_and_without_devices(path: Path) -> None:
    hardware = catalogue.profile("gpu.example.com")
    objects = [hardware.device_class(), *hardware.slices("worker-1")]
    context = manifest.parse("\n---\n".join(yaml.safe_dump(one) for one in objects))
    text = path.read_text("utf-8")
    assert rules(text) == set()
    assert rules(text, Options(context=context)) <= {"cel-matches-no-device"}


def selectors(text: str) -> Iterator[str]:
    """Yield the expressions in the manifests of a text."""
    for found in re.finditer(r"^( *)expression: \|-?\n((?:\1 +.*\n|\s*\n)+)", text, re.MULTILINE):
        yield textwrap.dedent(found[2]).strip()


@pytest.mark.skipif(not GUIDES, reason="the guides are not beside the repository")
def test_of_the_guides_only_what_is_wrong_is_found() -> None:
    found = {one: rules(claim(one)) for guide in GUIDES for one in selectors(guide.read_text("utf-8"))}
    assert len(found) >= 9
    assert {expression: names for expression, names in found.items() if names} == {
        'device.attributes["productName"].string == "NVIDIA A100" &&\n'
        'device.capacity["memory"].quantity >= quantity("40Gi")': {"cel-compared-by-operator", "cel-missing-domain"}
    }
