"""Admin access outside of namespaces that permit it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.api.validation.claim import ADMIN_LABEL
from drayman.lint.context import finding
from drayman.lint.rule import Severity, rule

if TYPE_CHECKING:
    from drayman.lint.context import Context
    from drayman.lint.rule import Findings

_NAMESPACE = """
apiVersion: v1
kind: Namespace
metadata:
  name: monitoring
  labels: {resource.kubernetes.io/admin-access: "true"}
---
"""
_CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: watch, namespace: monitoring}
spec:
  devices:
    requests:
    - name: all
      exactly: {deviceClassName: gpu.example.com, allocationMode: All, adminAccess: true}
"""


@rule(
    "admin-access-namespace-label",
    Severity.ERROR,
    summary="admin access is asked for in a namespace that does not permit it",
    why="""
Claims with `adminAccess` see devices that are in use, so only namespaces with the label
`resource.kubernetes.io/admin-access: "true"` may have them. The key is as written here (not `resource.k8s.io/…`), and
the value is the text `true` in lower case. The rule speaks up when the Namespace is among the files or in `--with`.
""",
    bad=_NAMESPACE.replace("resource.kubernetes.io/", "resource.k8s.io/") + _CLAIM,
    good=_NAMESPACE + _CLAIM,
    refines=True,
)
def admin_access_namespace_label(context: Context) -> Findings:
    """Look at the labels of the namespace of every claim with admin access."""
    if "DRAAdminAccess" not in context.gates:
        return
    for request in context.requests():
        document = request.claim.document
        namespace = context.find("Namespace", document.namespace, group="")
        if not request.fields.get("adminAccess") or namespace is None or not namespace.readable:
            continue
        labels = (namespace.object.get("metadata") or {}).get("labels") or {}
        if labels.get(ADMIN_LABEL) == "true":
            continue
        message = (
            f"admin access to devices requires the `{ADMIN_LABEL}: true` label on the containing namespace: "
            f'namespace needs {ADMIN_LABEL}: "true"'
        )
        hint = f'label Namespace `{document.namespace}` with `{ADMIN_LABEL}: "true"`'
        near = next((key for key in labels if key.endswith("/admin-access")), None)
        if near is not None:
            hint += f"; it has `{near}: {labels[near]}`"
        yield finding(request, f"{request.path}.adminAccess", message, hint)
