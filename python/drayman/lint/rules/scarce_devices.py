"""Templates that tie pods to a device of which every node has one."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from drayman.lint.context import finding
from drayman.lint.rule import Severity, rule

if TYPE_CHECKING:
    from drayman.lint.context import Context
    from drayman.lint.rule import Findings
    from drayman.lint.views import ClaimView, PodView

_OBJECTS = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: "device.driver == 'gpu.example.com'"}}]}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: channel}
spec: {selectors: [{cel: {expression: "device.driver == 'fabric.example.com'"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: worker-1-gpu}
spec:
  driver: gpu.example.com
  nodeName: worker-1
  pool: {name: worker-1, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0}, {name: gpu-1}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: worker-1-fabric}
spec:
  driver: fabric.example.com
  nodeName: worker-1
  pool: {name: worker-1, generation: 1, resourceSliceCount: 1}
  devices: [{name: channel-0}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: channel}
spec: {spec: {devices: {requests: [{name: channel, exactly: {deviceClassName: channel}}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  parallelism: 2
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example.com/train:1
        resources: {claims: [{name: gpu}, {name: channel}]}
      resourceClaims:
      - {name: gpu, resourceClaimTemplateName: gpu}
      - {name: channel, resourceClaimTemplateName: channel}
"""


@rule(
    "one-device-per-node-claimed-by-template",
    Severity.WARNING,
    summary="every pod claims for itself a device of which each node has only one",
    why="""
A template makes a claim for each pod, and an exclusive device can be in one claim only. When the pods also ask for
devices of which a node has several, such as GPUs, no second pod fits on the node while the others lie idle. Pods that
are to use the one device together share one ResourceClaim, by `resourceClaimName`.
""",
    bad=_OBJECTS,
    good=_OBJECTS.replace("parallelism: 2", "parallelism: 1"),
)
def one_device_per_node_claimed_by_template(context: Context) -> Findings:
    """Compare, per template that several pods use, the devices of each node with those of their other claims."""
    users: dict[str, list[tuple[PodView, ClaimView, int]]] = {}
    for pod in context.all_pods():
        # The pods of a group may share the claim that is made for the group.
        for _, entry in pod.claims() if not pod.spec.get("schedulingGroup") else ():
            claim = context.claim_of(pod, entry)
            if claim is not None and claim.is_template:
                users.setdefault(claim.document.name, []).append((pod, claim, pod.replicas or 1))
    for uses in users.values():
        claim = uses[0][1]
        if sum(count for *_, count in uses) < 2:
            continue
        here = _pods_per_node(context, claim)
        if not here or max(here.values()) > 1:
            continue
        other = next((name for pod, *_ in uses if (name := _plentiful(context, pod, claim, here))), None)
        if other is not None:
            message = (
                f"each node has one device for this template: a second pod never fits, "
                f"though there are more for `{other}`"
            )
            hint = "let the pods share one ResourceClaim, named by `resourceClaimName`"
            yield finding(claim, f"{claim.path}.devices.requests", message, hint)


def _plentiful(context: Context, pod: PodView, scarce: ClaimView, here: Counter[str]) -> str | None:
    """Return the name of another claim of the pod that fits several times on one of the nodes."""
    for _, entry in pod.claims():
        claim = context.claim_of(pod, entry)
        if claim is None or claim.document is scarce.document or not claim.is_template:
            continue
        there = _pods_per_node(context, claim)
        if any(there[node] > 1 for node in here):
            return str(entry.get("name"))
    return None


def _pods_per_node(context: Context, claim: ClaimView) -> Counter[str]:
    """Return for how many pods at a time each node has devices; empty when that is not known or has no bound."""
    least: Counter[str] | None = None
    for request in claim.requests():
        devices = context.selected(request)
        if devices is None or request.mode != "ExactCount" or "firstAvailable" in request.path:
            return Counter()
        if any(device.fields.get("allowMultipleAllocations") for device in devices):
            continue
        nodes = Counter(str((device.document.object.get("spec") or {}).get("nodeName") or "") for device in devices)
        if request.fields.get("adminAccess") or "" in nodes:
            continue
        fits = Counter({node: count // request.count for node, count in nodes.items()})
        least = fits if least is None else Counter({node: min(least[node], fits[node]) for node in least})
    return least or Counter()
