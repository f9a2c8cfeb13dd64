"""Any expression can be linted, beside devices and alone, and what lint finds lies in the file."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.property.expressions import devices, expressions, mangled

from drayman import cel
from drayman.errors import CELCompileError
from drayman.lint import Diagnostic, lint


def objects(expression: str, device: dict[str, Any] | None) -> str:
    """Return a claim that selects by the expression, and the device with its class where there is one."""
    request = {"deviceClassName": "any", "selectors": [{"cel": {"expression": expression}}]}
    spec = {"devices": {"requests": [{"name": "one", "exactly": request}]}}
    found: list[dict[str, Any]] = [{"kind": "ResourceClaim", "metadata": {"name": "claim"}, "spec": spec}]
    if device is not None:
        published = {name: value for name, value in device.items() if name != "driver" and value is not None}
        pool = {"name": "node", "generation": 1, "resourceSliceCount": 1}
        content = [{"name": "device", **published}]
        slice_spec = {"driver": device.get("driver") or "d", "nodeName": "node", "pool": pool, "devices": content}
        found.append({"kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}})
        found.append({"kind": "ResourceSlice", "metadata": {"name": "slice"}, "spec": slice_spec})
    return "\n---\n".join(json.dumps({"apiVersion": "resource.k8s.io/v1", **one}) for one in found)


def about_selectors(text: str) -> list[Diagnostic]:
    """Return what the rules about CEL find."""
    found = [one for one in lint([("objects.yaml", text)]) if one.rule.startswith("cel-")]
    lines = text.split("\n")
    for one in found:
        at = one.position
        assert 1 <= at.line <= at.end_line <= len(lines)
        assert 1 <= at.column <= len(lines[at.line - 1]) + 1
    return found


@given(expression=st.one_of(expressions(), mangled(), st.text()))
def test_any_expression_is_linted(expression: str) -> None:
    about_selectors(objects(expression, None))


@given(expression=expressions(), device=devices())
def test_a_selector_that_fails_on_the_device_is_found(expression: str, device: dict[str, Any]) -> None:
    found = about_selectors(objects(expression, device))
    try:
        error = cel.compile(expression).evaluate(device, device.get("driver") or "d").error
    except CELCompileError:
        return
    # A device that cannot be read is a fault of its slice.
    assert found or error is None or str(error).startswith("attribute ")
