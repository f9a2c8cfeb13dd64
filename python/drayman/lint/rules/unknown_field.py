"""Fields that a kind does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.api import schema
from drayman.lint.context import finding
from drayman.lint.examples import CLAIM
from drayman.lint.rule import Severity, rule

if TYPE_CHECKING:
    from drayman.lint.context import Context
    from drayman.lint.document import Document
    from drayman.lint.rule import Findings

BAD = (
    "\n"
    + CLAIM
    + """\
      exactly: {deviceClass: gpu.example.com}
"""
)
GOOD = BAD.replace("deviceClass:", "deviceClassName:")


@rule(
    "unknown-field",
    Severity.ERROR,
    summary="the kind has no such field",
    why="""
The API server refuses unknown fields when it is asked to be strict, as `kubectl apply` does. A client that does not
ask, such as many controllers and Helm, loses the field without a word.
""",
    bad=BAD,
    good=GOOD,
)
def unknown_field(context: Context) -> Findings:
    """Report every unknown field with the one that may be meant."""
    for document in context.linted:
        for error in document.decoded.errors:
            hint = _elsewhere(document, error.field) or schema.field_hint(document.given, error.field)
            position = document.position(error.field, key=True)
            message = f"strict decoding error: {error}"
            yield finding(document, error.field, message, hint, position=position)


_GONE = {
    "resourceClassName": "classic DRA is gone: name a DeviceClass, in `deviceClassName` of a request",
    "parametersRef": "classic DRA is gone: write configuration into `devices.config`",
    "source": "write `resourceClaimName` or `resourceClaimTemplateName` into the entry itself",
}
"""Fields of versions that are not served any more, and what came in their place."""


def _elsewhere(document: Document, path: str) -> str | None:
    """Return a hint for a field that was renamed, or that stands elsewhere in an object of this kind."""
    name = path.rpartition(".")[2]
    if name == "exactly" and str(document.given.get("apiVersion")).endswith("/v1beta1"):
        return "that is the layout of newer versions: write `apiVersion: resource.k8s.io/v1`"
    if document.group == "resource.k8s.io" or "resourceClaims[" in path:
        if name in _GONE:
            return _GONE[name]
        places = schema.places(document.given, name)
        if places and schema.field_hint(document.given, path) is None:
            return f"`{name}` belongs to {' or '.join(f'`{one}`' for one in places[:2])}"
    return None
