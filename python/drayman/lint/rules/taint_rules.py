"""DeviceTaintRules that match more, or less, than was meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.lint import drivers
from drayman.lint.context import finding
from drayman.lint.rule import Severity, rule
from drayman.lint.similar import similar

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
    summary="a DeviceTaintRule taints no device",
    why="""
Without `deviceSelector` a rule matches nothing; the empty selector `{}` would match everything. Nor does one match
anything that names a DeviceClass or a vendor where the driver is meant, or a driver that nearly is one of the
ResourceSlices that are given.
""",
    bad=_RULE.replace("  deviceSelector: {driver: gpu.example.com, pool: worker-1}\n", ""),
    good=_RULE,
)
def taint_rule_matches_nothing(context: Context) -> Findings:
    """Find rules without selector, and such whose driver is none."""
    there = {device.driver for device in context.devices}
    for document in context.linted:
        spec = document.object.get("spec") or {}
        if (document.group, document.kind) != ("resource.k8s.io", "DeviceTaintRule"):
            continue
        if "deviceSelector" not in spec:
            message = "without `deviceSelector` the rule matches no device"
            yield finding(document, "spec", message, "select devices by `driver`, `pool` or `device`")
            continue
        name, known = (spec["deviceSelector"] or {}).get("driver"), there or set(drivers.known())
        meant = drivers.meant(name, known) or (similar(name, there) if there else None) if name else None
        if meant is not None and name not in known:
            message = f"no device is of a driver `{name}`"
            yield finding(document, "spec.deviceSelector.driver", message, f"did you mean `{meant}`?")
