"""Objects without a kind, or of one that does not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.lint.context import finding
from drayman.lint.rule import Severity, rule

if TYPE_CHECKING:
    from drayman.lint.context import Context
    from drayman.lint.rule import Findings

BAD = """
apiVersion: resource.k8s.io/v1
kind: ResourceClass
metadata: {name: gpu.example.com}
"""
GOOD = BAD.replace("ResourceClass", "DeviceClass")


@rule(
    "unknown-kind",
    Severity.ERROR,
    summary="no API has such a kind",
    why="""
A built-in group has no such kind, or not in this version, or `apiVersion` or `kind` is missing. `resource.k8s.io` has
changed its kinds since the classic design: ResourceClass became DeviceClass, and PodSchedulingContext is gone.
""",
    bad=BAD,
    good=GOOD,
)
def unknown_kind(context: Context) -> Findings:
    """Report types that no server has."""
    for document in context.documents:
        if document.linted and document.type_error:
            error = document.type_error
            message = f"`{error.field}` is {error.message}" if error.message.startswith("not ") else error.message
            yield finding(document, error.field or "", message, error.hint)
