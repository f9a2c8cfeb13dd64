"""Fields at the wrong level: the layout of v1beta1 in newer versions, and one `spec` too many or too few."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from drayman.lint import edits
from drayman.lint.context import finding
from drayman.lint.examples import CLAIM
from drayman.lint.rule import Severity, rule

if TYPE_CHECKING:
    from drayman.lint.context import Context
    from drayman.lint.diagnostic import Fix
    from drayman.lint.document import Document
    from drayman.lint.rule import Finding, Findings

_REQUEST_FIELD = re.compile(r"(spec(?:\.spec)?\.devices\.requests\[\d+\])\.(\w+)")
_DEVICE_FIELD = re.compile(r"(spec\.devices\[\d+\])\.basic")
_EXACTLY = ("deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity")

_CLAIM = (
    "\n"
    + CLAIM
    + """\
      exactly:
        deviceClassName: gpu.example.com
        count: 2
"""
)
_TEMPLATE = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: train}
spec:
  spec:
    devices:
      requests:
      - name: gpu
        exactly: {deviceClassName: gpu.example.com}
"""


@rule(
    "v1beta1-layout",
    Severity.ERROR,
    summary="a request or device has the layout of v1beta1 in a newer version",
    why="""
Since v1beta2 a request has its fields under `exactly` (or, for alternatives, under `firstAvailable`), and a device of a
ResourceSlice has no `basic` any more. The old layout under the new version is refused; with `apiVersion:
resource.k8s.io/v1beta1`, where the cluster still serves it, it is right.
""",
    bad=_CLAIM.replace("      exactly:\n", "").replace("        ", "      "),
    good=_CLAIM,
    refines=True,
)
def v1beta1_layout(context: Context) -> Findings:
    """Find unknown fields that v1beta1 has in that place; one fix is for all of a request."""
    for document in context.linted:
        if document.group != "resource.k8s.io" or str(document.given["apiVersion"]).endswith("/v1beta1"):
            continue
        for error in document.decoded.errors:
            yield from _old_request_field(document, error.field)
            yield from _old_device(document, error.field)


def _old_request_field(document: Document, path: str) -> Findings:
    found = _REQUEST_FIELD.fullmatch(path)
    if found is None or found[2] not in _EXACTLY:
        return
    request, field = found[1], found[2]
    tree = document.tree(request)
    given = list(tree.members or {}) if tree else []
    fix = None
    if "exactly" not in given and "firstAvailable" not in given:
        fix = edits.nest(document, request, [name for name in given if name in _EXACTLY], "exactly")
    target = "exactly" if "firstAvailable" not in given else "an item of firstAvailable"
    message = f'strict decoding error: unknown field "{path}": so v1beta1 has it; move under {target}'
    hint = f"move `{field}` under `{target}`, or write `apiVersion: resource.k8s.io/v1beta1`"
    yield finding(document, path, message, hint, position=document.position(path, key=True), fix=fix)


def _old_device(document: Document, path: str) -> Findings:
    found = _DEVICE_FIELD.fullmatch(path)
    if found is None:
        return
    message = f'strict decoding error: unknown field "{path}": `basic` is the layout of v1beta1'
    hint = "move the fields of `basic` into the device"
    yield finding(document, path, message, hint, position=document.position(path, key=True))


@rule(
    "template-spec-nesting",
    Severity.ERROR,
    summary="one `spec` too few in a ResourceClaimTemplate, or one too many in a ResourceClaim",
    why="""
A ResourceClaimTemplate describes a claim, which has metadata and a spec of its own: its requests are under
`spec.spec.devices`. A ResourceClaim is the claim: its requests are under `spec.devices`.
""",
    bad=_TEMPLATE.replace("  spec:\n    devices", "  devices").replace("      ", "    "),
    good=_TEMPLATE,
    refines=True,
)
def template_spec_nesting(context: Context) -> Findings:
    """Find `devices` and `spec` one level off."""
    for document in context.linted:
        unknown = {error.field for error in document.decoded.errors}
        if document.kind == "ResourceClaimTemplate" and "spec.devices" in unknown:
            message = 'strict decoding error: unknown field "spec.devices": a template has the spec of the claim below'
            fix = edits.nest(document, "spec", ["devices"], "spec")
            hint = "write `spec: {spec: {devices: …}}`"
            yield _misplaced(document, "spec.devices", message, hint, fix)
        if document.kind == "ResourceClaimTemplate" and "spec.template" in unknown:
            message = 'strict decoding error: unknown field "spec.template": `spec` itself is what claims are made of'
            yield _misplaced(document, "spec.template", message, "write `spec: {spec: {devices: …}}`", None)
        if document.kind == "ResourceClaim" and "spec.spec" in unknown:
            message = 'strict decoding error: unknown field "spec.spec": a claim has its requests under `spec.devices`'
            fix = edits.unnest(document, "spec.spec")
            yield _misplaced(document, "spec.spec", message, "leave out the second `spec`", fix)


def _misplaced(document: Document, path: str, message: str, hint: str, fix: Fix | None) -> Finding:
    return finding(document, path, message, hint, position=document.position(path, key=True), fix=fix)
