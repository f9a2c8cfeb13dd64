"""What upstream's API server said to the objects of the cases beside the repository."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from drayman import features, manifest
from drayman.api import convert, defaults, disabled, schema, status, validation

CASES = Path(__file__).resolve().parents[4] / "shared/conformance/scenarios"
FOLDERS = sorted(path.parent for path in CASES.glob("*/upstream.json")) or [
    pytest.param(None, marks=pytest.mark.skip(reason=f"the cases of {CASES} are not here"))
]


def refusal(obj: dict[str, Any], context: validation.Context) -> str | None:
    """Return what is said against an object that is sent for creation, or None."""
    decoded = schema.decode(obj)
    if decoded.fatal:
        return str(decoded.fatal)
    if decoded.errors:
        return f"strict decoding error: {', '.join(str(error) for error in decoded.errors)}"
    made = disabled.drop(defaults.apply(convert.to_v1(decoded.object)), None, context.gates)
    errors = validation.create(made, context)
    if not errors:
        return None
    group = made["apiVersion"].rpartition("/")[0]
    return status.invalid(group, made["kind"], made["metadata"]["name"], errors)["message"]


def without_blanks(text: str) -> str:
    """Syntax errors of CEL are upstream's in their first line; the picture below it is not compared."""
    return " ".join(text.split()).partition(" Syntax error:")[0]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder and folder.name)
def test_objects_are_refused_as_by_upstream(folder: Path):
    expect = json.loads((folder / "expect.json").read_text())
    gates = features.resolve(
        feature_gates=expect.get("gates") or "", kubernetes_version=expect.get("kubernetes", features.LATEST)
    )
    loaded = manifest.load([folder / "input.yaml"])
    labels = {
        item.object["metadata"]["name"]: item.object["metadata"].get("labels") or {}
        for item in loaded
        if item.object["kind"] == "Namespace"
    }
    found = {}
    for item in loaded:
        namespace = item.object["metadata"].get("namespace", "")
        text = refusal(item.object, validation.Context(gates, labels.get(namespace, {})))
        if text is not None:
            found[item.name] = without_blanks(text)
    rejected = json.loads((folder / "upstream.json").read_text()).get("rejected", {})
    assert found == {name: without_blanks(text) for name, text in rejected.items()}
