"""Tolerations of device taints: where they stand, and whether they protect from eviction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drayman.lint import drivers
from drayman.lint.context import finding
from drayman.lint.examples import SLICE
from drayman.lint.rule import Severity, rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from drayman.lint.context import Context
    from drayman.lint.rule import Findings
    from drayman.lint.views import RequestView

_CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: burn-in}
spec:
  devices:
    requests:
    - name: gpu
      exactly:
        deviceClassName: gpu.example.com
        tolerations:
        - {key: gpu.example.com/unhealthy, operator: Exists, effect: NoExecute}
"""
_SLICE = (
    "\n"
    + SLICE
    + """\
  devices:
  - name: gpu-0
    taints: [{key: gpu.example.com/unhealthy, effect: NoSchedule}]
---
"""
)
_POD = """
apiVersion: v1
kind: Pod
metadata: {name: burn-in}
spec:
  containers:
  - name: main
    image: registry.example.com/burn-in:1
    resources: {claims: [{name: gpu}]}
  resourceClaims:
  - {name: gpu, resourceClaimTemplateName: any-gpu}
"""


@rule(
    "toleration-effect-missing",
    Severity.WARNING,
    summary="a toleration without effect does not protect from eviction",
    why="""
By the API's documentation an empty effect tolerates all effects, and the scheduler takes it so. The eviction controller
up to 1.37 looks for `NoExecute` itself: it evicts the pod as soon as it runs on a device with such a taint, and a
Deployment makes and loses pods in turn.
""",
    bad=_CLAIM.replace(", effect: NoExecute", ""),
    good=_CLAIM,
)
def toleration_effect_missing(context: Context) -> Findings:
    """Find tolerations without effect, unless the taints are known and none of those that match evicts."""
    if "DRADeviceTaints" not in context.gates:
        return
    for request in context.requests():
        for index, toleration in enumerate(request.fields.get("tolerations") or ()):
            if toleration.get("effect") or not _may_evict(context, request, toleration):
                continue
            version = context.kubernetes_version
            message = f"set effect: NoExecute, otherwise v{version} evicts the pod from a device with such a taint"
            hint = "write `effect: NoExecute`, and a second toleration for `NoSchedule` where that is needed too"
            yield finding(request, f"{request.path}.tolerations[{index}]", message, hint)


def _may_evict(context: Context, request: RequestView, toleration: Mapping[str, Any]) -> bool:
    candidates = context.candidates(request)
    taints = [taint for device in candidates or () for taint in device.fields.get("taints") or ()]
    taints += [(rule.object.get("spec") or {}).get("taint") or {} for rule in context.of_kind("DeviceTaintRule")]
    effects = {taint.get("effect") for taint in taints if _matches(toleration, taint)}
    return not effects or "NoExecute" in effects


def _matches(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    if toleration.get("key") and toleration["key"] != taint.get("key"):
        return False
    return toleration.get("operator") == "Exists" or toleration.get("value", "") == taint.get("value", "")


@rule(
    "device-toleration-on-pod",
    Severity.WARNING,
    summary="a pod tolerates what is the taint of a device",
    why="""
`spec.tolerations` of a pod are about the taints of nodes. A taint of a device is tolerated by the request for it:
`exactly.tolerations` in the claim, or `tolerations` in an alternative. Known are the taints of the given slices and
DeviceTaintRules, and those with the domain of a public driver.
""",
    bad=_SLICE + _POD + "  tolerations: [{key: gpu.example.com/unhealthy, operator: Exists}]\n",
    good=_SLICE + _POD,
)
def device_toleration_on_pod(context: Context) -> Findings:
    """Compare the keys of tolerations with the taints of devices that no node has."""
    of_nodes = set(_node_taint_keys(context))
    of_devices = set(_device_taint_keys(context)) - of_nodes
    for pod in context.pods():
        uses_devices = bool(pod.spec.get("resourceClaims"))
        for index, toleration in enumerate(pod.spec.get("tolerations") or ()):
            key = str(toleration.get("key") or "")
            of_driver = key.rpartition("/")[0] in drivers.known() and key not in of_nodes
            if uses_devices and (key in of_devices or of_driver):
                message = f"`{key}` is a taint of devices: a toleration in the pod has no effect on it"
                hint = "move it to the request in the claim, under `exactly.tolerations`"
                yield finding(pod, f"{pod.spec_path}.tolerations[{index}].key", message, hint)


def _device_taint_keys(context: Context) -> Iterator[str]:
    for device in context.devices:
        yield from (taint.get("key", "") for taint in device.fields.get("taints") or ())
    for one in context.of_kind("DeviceTaintRule"):
        yield ((one.object.get("spec") or {}).get("taint") or {}).get("key", "")


def _node_taint_keys(context: Context) -> Iterator[str]:
    for node in context.of_kind("Node", group=""):
        yield from (taint.get("key", "") for taint in (node.object.get("spec") or {}).get("taints") or ())
