"""DeviceTaintRules that match more, or less, than was meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.lint.context import finding
from drayman.lint.rule import Severity, rule

if TYPE_CHECKING:
    from drayman.lint.context import Context
    from drayman.lint.rule import Findings

_RULE = """
apiVersion: resource.k8s.io/v1
kind: DeviceTaintRule
metadata: {name: maintenance}
spec:
  deviceSelector: {driver: gpu.example.com, pool: worker-1}
  taint: {key: example.com/maintenance, effect: NoExecute}
"""


@rule(
    "taint-rule-matches-everything",
    Severity.WARNING,
    summary="a DeviceTaintRule taints every device of the cluster",
    why="""
An empty `deviceSelector` matches all devices of all drivers, and with `NoExecute` their pods are evicted. With effect
`None` the status of the rule tells what would happen.
""",
    bad=_RULE.replace("{driver: gpu.example.com, pool: worker-1}", "{}"),
    good=_RULE,
)
def taint_rule_matches_everything(context: Context) -> Findings:
    """Find empty selectors."""
    for document in context.linted:
        spec = document.object.get("spec") or {}
        if document.kind != "DeviceTaintRule" or document.group != "resource.k8s.io":
            continue
        selector = spec.get("deviceSelector")
        effect = (spec.get("taint") or {}).get("effect")
        if selector is not None and not any(selector.values()) and effect != "None":
            evicts = ", and evicts their pods" if effect == "NoExecute" else ""
            message = f"the empty selector matches every device of every driver{evicts}"
            hint = "name `driver`, `pool` or `device`, or try it with `effect: None`"
            yield finding(document, "spec.deviceSelector", message, hint)


@rule(
    "taint-rule-matches-nothing",
    Severity.WARNING,
    summary="a DeviceTaintRule without selector taints no device",
    why="""
Without `deviceSelector` a rule matches nothing. The empty selector `{}` would match everything.
""",
    bad=_RULE.replace("  deviceSelector: {driver: gpu.example.com, pool: worker-1}\n", ""),
    good=_RULE,
)
def taint_rule_matches_nothing(context: Context) -> Findings:
    """Find rules without selector."""
    for document in context.linted:
        spec = document.object.get("spec") or {}
        if (document.group, document.kind) == ("resource.k8s.io", "DeviceTaintRule") and "deviceSelector" not in spec:
            message = "without `deviceSelector` the rule matches no device"
            yield finding(document, "spec", message, "select devices by `driver`, `pool` or `device`")
