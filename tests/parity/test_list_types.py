"""The list and map types that patches go by are those of upstream's OpenAPI document."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

_MODULE = "k8s.io/kubernetes@v1.37.2"
_PREFIXES = ("io.k8s.api.", "io.k8s.apimachinery.pkg.apis.", "io.k8s.apimachinery.pkg.")
_DATA = resources.files("drayman.testing.apiserver.patches") / "list_types.json"


def test_list_types_are_upstreams() -> None:
    """Run this file as a program to write the data anew."""
    assert json.loads(_DATA.read_text()) == extract(_swagger())


def extract(swagger: dict[str, Any]) -> dict[str, Any]:
    """Return merge keys and list types by type and field, and the types that are replaced whole."""
    fields: dict[str, dict[str, Any]] = {}
    atomic = []
    for name, definition in sorted(swagger["definitions"].items()):
        if definition.get("x-kubernetes-map-type") == "atomic":
            atomic.append(_short(name))
        for field, schema in sorted(definition.get("properties", {}).items()):
            entry = _entry(schema)
            if entry:
                fields.setdefault(_short(name), {})[field] = entry
    return {"kubernetes": _MODULE.partition("@")[2], "atomic": atomic, "fields": fields}


def _entry(schema: dict[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {}
    list_type = schema.get("x-kubernetes-list-type", "atomic")
    if list_type != "atomic":
        entry["list"] = list_type
    if schema.get("x-kubernetes-list-map-keys"):
        entry["keys"] = schema["x-kubernetes-list-map-keys"]
    if schema.get("x-kubernetes-map-type") == "atomic":
        entry["map"] = "atomic"
    if schema.get("x-kubernetes-patch-strategy"):
        entry["patch"] = schema["x-kubernetes-patch-strategy"].split(",")
    if schema.get("x-kubernetes-patch-merge-key"):
        entry["mergeKey"] = schema["x-kubernetes-patch-merge-key"]
    return entry


def _short(name: str) -> str:
    prefix = next((prefix for prefix in _PREFIXES if name.startswith(prefix)), "")
    return name.removeprefix(prefix)


def _swagger() -> dict[str, Any]:
    go = shutil.which("go")
    if go is None:
        pytest.skip("needs Go's module cache: Go is not installed")
    cache = subprocess.run([go, "env", "GOMODCACHE"], capture_output=True, text=True, check=True).stdout.strip()
    document = Path(cache) / _MODULE / "api/openapi-spec/swagger.json"
    if not document.exists():
        pytest.skip(f"{_MODULE} is not in Go's module cache")
    loaded: dict[str, Any] = json.loads(document.read_text())
    return loaded


if __name__ == "__main__":
    Path(str(_DATA)).write_text(json.dumps(extract(_swagger()), indent=1, sort_keys=True) + "\n")
