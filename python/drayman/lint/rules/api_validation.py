"""What the API server refuses."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

from drayman import cel
from drayman.api import defaults, disabled, validation
from drayman.api.validation.claim import ADMIN_LABEL
from drayman.errors import CELCompileError
from drayman.lint import drivers, views
from drayman.lint.context import finding
from drayman.lint.examples import CLAIM
from drayman.lint.looks import offset
from drayman.lint.rule import Severity, rule
from drayman.lint.rules import constraints
from drayman.lint.similar import did_you_mean, similar

if TYPE_CHECKING:
    from drayman.api.field import FieldError
    from drayman.lint.context import Context
    from drayman.lint.document import Document
    from drayman.lint.rule import Finding, Findings
    from drayman.manifest import Position

_POD_FIELDS = re.compile(r"(^|\.)(resourceClaims|claims)\b|^spec\.schedulingGroup\b")

BAD = (
    "\n"
    + CLAIM
    + """\
      exactly: {deviceClassName: gpu.example.com, count: -1}
"""
)
GOOD = BAD.replace("count: -1", "count: 1")


@rule(
    "api-validation",
    Severity.ERROR,
    summary="the API server refuses the object",
    why="""
The message is that of the API server of Kubernetes 1.37: limits, names, references between the parts of an object, and
selectors that do not compile or cost too much. Of pods and what makes pods the fields about claims are checked.
""",
    bad=BAD,
    good=GOOD,
)
def api_validation(context: Context) -> Findings:
    """Validate as for a creation. Whether a namespace permits admin access is told by a rule of its own."""
    allowed = validation.Context(context.gates, {ADMIN_LABEL: "true"})
    for document in context.linted:
        if document.type_error or document.decoded.errors:
            continue
        given = defaults.apply(_named(document.object))
        obj = disabled.drop(given, None, context.gates)
        anyway = None if obj == given else {str(error) for error in validation.create(given, allowed)}
        for error in validation.create(obj, allowed):
            if document.group == "resource.k8s.io" or _POD_FIELDS.search(error.field):
                found = _finding(context, document, error)
                if anyway is not None and str(error) not in anyway:
                    found = dataclasses.replace(found, hint="a field that it needs is dropped: its feature gate is off")
                yield found


def _named(obj: dict[str, Any]) -> dict[str, Any]:
    """Give the object the name that the server would make up, and no status, which is not its author's to write."""
    metadata = obj.get("metadata") or {}
    if metadata.get("generateName") and not metadata.get("name"):
        metadata = {**metadata, "name": f"{metadata['generateName']}00000"}
    namespace = {} if obj["kind"] in _CLUSTER_KINDS else {"namespace": metadata.get("namespace") or "default"}
    return {**{key: value for key, value in obj.items() if key != "status"}, "metadata": {**metadata, **namespace}}


_CLUSTER_KINDS = frozenset({"DeviceClass", "DeviceTaintRule", "ResourceSlice", "Node", "Namespace"})


def _finding(context: Context, document: Document, error: FieldError) -> Finding:
    hint, position = None, None
    if error.field.endswith(".cel.expression"):
        position, hint = _in_expression(context, document, error)
    elif error.type == "FieldValueNotSupported":
        hint = did_you_mean(str(error.value), re.findall(r'"([^"]*)"', error.detail))
    elif error.type == "FieldValueNotFound":
        hint = did_you_mean(str(error.value), error.detail.rpartition(": ")[2].split(", "))
    elif error.detail.startswith("must be the name of a request"):
        hint = did_you_mean(str(error.value), _request_names(document))
    elif error.field.endswith(".deviceClassName") and error.value:
        hint = _class_meant(context, str(error.value))
    elif error.detail.startswith("a fully qualified name") and error.value:
        hint = _attribute_meant(context, document, str(error.value))
    if position is None and isinstance(error.value, str):
        position = _of_key(document, error)
    return finding(document, error.field, str(error), hint, position=position)


def _attribute_meant(context: Context, document: Document, name: str) -> str | None:
    """Return a hint at the attribute that a constraint names without its domain."""
    found = (constraints.meant(context, claim, name) for claim in views.claims(document))
    meant = next((one for one in found if one), None)
    return f"did you mean `{meant}`?" if meant else f"write the domain before it, as in `gpu.example.com/{name}`"


def _class_meant(context: Context, name: str) -> str | None:
    """Return a hint at the DeviceClass that is meant by what is no name of one, such as an extended resource."""
    known = [*context.names("DeviceClass"), *(one for driver in drivers.known().values() for one in driver.classes)]
    extended = [
        one.short_name
        for one in context.of_kind("DeviceClass")
        if (one.object.get("spec") or {}).get("extendedResourceName") == name
    ]
    meant = next(iter(extended), None) or drivers.meant(name, known) or similar(name.lower(), known)
    if name.lower() in known:
        meant = name.lower()
    if meant is None and "/" in name:
        return "that looks like an extended resource; name a DeviceClass"
    return f"did you mean `{meant}`?" if meant else None


def _request_names(document: Document) -> list[str]:
    names = [request.name for claim in views.claims(document) for request in claim.requests()]
    return [*names, *dict.fromkeys(name.partition("/")[0] for name in names)]


def _of_key(document: Document, error: FieldError) -> Position | None:
    """Return where the name of a member stands, of whose names the error of an object speaks."""
    tree = document.tree(document.written_path(error.field))
    member = (tree.members or {}).get(str(error.value)) if tree else None
    return member.key if member else None


def _in_expression(context: Context, document: Document, error: FieldError) -> tuple[Position | None, str | None]:
    """Return where in the expression the first thing stands that does not compile."""
    try:
        cel.compile(str(error.value), environment="new", gates=context.gates)
    except CELCompileError as failed:
        if failed.issues:
            line, column, _ = failed.issues[0]
            span = word(str(error.value), offset(str(error.value), line, column))
            return document.position_within(document.written_path(error.field), *span), failed.hint
        return None, failed.hint
    return None, None


def word(expression: str, at: int) -> tuple[int, int]:
    """Return the span of what the compiler points at: of a call it names the parenthesis, of a field the dot."""
    if expression[at : at + 1] == "(":
        name = re.search(r"\w*$", expression[:at])
        return name.start() if name else at, at
    found = re.compile(r"\.?\??\w+|\S?").match(expression, at)
    return at, found.end() if found else at + 1
