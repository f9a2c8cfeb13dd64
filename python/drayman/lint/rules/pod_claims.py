"""How pods use their claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.lint.context import finding
from drayman.lint.examples import POD
from drayman.lint.rule import Severity, rule
from drayman.lint.similar import similar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drayman.lint.context import Context
    from drayman.lint.rule import Findings
    from drayman.lint.views import PodView

_MAX_CONSUMERS = 256
"""How many consumers a ResourceClaim can be reserved for (upstream: `ResourceClaimReservedForMaxSize`)."""

_POD = "\n" + POD
_CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: shared}
spec:
  devices:
    requests:
    - name: gpu
      exactly: {deviceClassName: gpu.example.com}
---
"""
_DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: inference}
spec:
  replicas: 3
  selector: {matchLabels: {app: inference}}
  template:
    metadata: {labels: {app: inference}}
    spec:
      containers:
      - name: main
        image: registry.example.com/inference:1
        resources: {claims: [{name: gpu}]}
      resourceClaims:
      - name: gpu
        resourceClaimName: shared
"""


@rule(
    "pod-claim-not-consumed",
    Severity.WARNING,
    summary="a claim of the pod is used by no container",
    why="""
The scheduler allocates every entry of `spec.resourceClaims`, but a container sees the devices only when its
`resources.claims` names the entry. So the pod holds devices that nothing in it can use. Drivers that work on the whole
pod, such as those of network interfaces, are the exception.
""",
    bad=_POD.replace("    resources: {claims: [{name: gpu}]}\n", ""),
    good=_POD,
)
def pod_claim_not_consumed(context: Context) -> Findings:
    """Compare the claims of the pod with those of its containers."""
    for pod in context.pods():
        used = {
            claim.get("name")
            for _, container in pod.containers()
            for claim in (container.get("resources") or {}).get("claims") or ()
        }
        names = [container.get("name", "") for _, container in pod.containers()]
        declared = [str(entry.get("name") or "") for _, entry in pod.claims()]
        # Of a name that is nearly that of a claim the API server speaks: the claim is used once that is put right.
        meant = {similar(str(name), declared) for name in used if name not in declared}
        for path, entry in pod.claims():
            if entry.get("name") and entry["name"] not in used | meant:
                where = f"container `{names[0]}`" if len(names) == 1 else "the container that needs it"
                message = f"no container uses claim `{entry['name']}`: the pod holds its devices in vain"
                hint = f"add `resources: {{claims: [{{name: {entry['name']}}}]}}` to {where}"
                yield finding(pod, path, message, hint)


@rule(
    "pod-nodename-with-claims",
    Severity.WARNING,
    summary="the pod names its node, so that its claims are never allocated",
    why="""
With `spec.nodeName` the pod passes by the scheduler, which alone allocates claims. The kubelet then waits for ever for
a claim that is not allocated. A node selector or node affinity for `kubernetes.io/hostname` names the node to the
scheduler.
""",
    bad=_POD.replace("spec:\n", "spec:\n  nodeName: worker-1\n"),
    good=_POD.replace("spec:\n", "spec:\n  nodeSelector: {kubernetes.io/hostname: worker-1}\n"),
)
def pod_nodename_with_claims(context: Context) -> Findings:
    """Find pods with a node of which a claim is not allocated."""
    for pod in context.pods():
        node = pod.spec.get("nodeName")
        waiting = [entry for _, entry in pod.claims() if not _allocated(context, pod, entry)]
        if node and waiting:
            name = waiting[0].get("name")
            message = f"`nodeName` passes by the scheduler, and nothing else allocates claim `{name}`"
            hint = f"write `nodeSelector: {{kubernetes.io/hostname: {node}}}` instead"
            yield finding(pod, f"{pod.spec_path}.nodeName", message, hint)


def _allocated(context: Context, pod: PodView, entry: Mapping[str, str]) -> bool:
    """Whether the claim of an entry has devices: by its own status, or that of its pod."""
    name = entry.get("resourceClaimName")
    if name is None:
        statuses = (pod.document.object.get("status") or {}).get("resourceClaimStatuses") or ()
        name = next((one.get("resourceClaimName") for one in statuses if one.get("name") == entry.get("name")), None)
    if name is None:
        return False
    claim = context.find("ResourceClaim", name, pod.document.namespace)
    if claim is None:
        # It may well be allocated; nothing is known of it.
        return True
    return bool((claim.object.get("status") or {}).get("allocation"))


@rule(
    "shared-claim-many-replicas",
    Severity.INFO,
    summary="all replicas share one ResourceClaim",
    why="""
A ResourceClaim that is named by `resourceClaimName` is allocated once: all pods get the same devices, and where the
devices are those of one node all pods run there. That may be meant. When every replica is to have devices of its own,
a ResourceClaimTemplate is needed. Pods that use claims of both kinds are left alone: their author knows the difference.
""",
    bad=_CLAIM + _DEPLOYMENT,
    good=_DEPLOYMENT.replace("resourceClaimName: shared", "resourceClaimTemplateName: one-gpu"),
)
def shared_claim_many_replicas(context: Context) -> Findings:
    """Find claims by name in templates of several pods."""
    for pod in context.pods():
        replicas, namespace = pod.replicas, pod.document.namespace
        pods = f"all {replicas} pods"
        if (pod.document.group, pod.document.kind) == ("apps", "DaemonSet"):
            pods, replicas = "the pods of all nodes", 2
        if not replicas or replicas < 2 or any(entry.get("resourceClaimTemplateName") for _, entry in pod.claims()):
            continue
        for path, entry in pod.claims():
            name = entry.get("resourceClaimName")
            # A template that is named so is a mistake of its own.
            if name and not context.find("ResourceClaimTemplate", name, namespace):
                message = f"{pods} use the one ResourceClaim `{name}`, and so the same devices"
                hint = "for devices of their own name a ResourceClaimTemplate with `resourceClaimTemplateName`"
                yield finding(pod, f"{path}.resourceClaimName", message, hint)


@rule(
    "claim-consumers-over-limit",
    Severity.ERROR,
    summary="more pods use a ResourceClaim than it can be reserved for",
    why="""
A claim is reserved for at most 256 pods at a time. The scheduler does not know the limit: it goes on trying to place
the next pod, and the API server refuses the reservation every time.
""",
    bad=_CLAIM + _DEPLOYMENT.replace("replicas: 3", "replicas: 300"),
    good=_DEPLOYMENT.replace("resourceClaimName: shared", "resourceClaimTemplateName: one-gpu").replace(" 3", " 300"),
)
def claim_consumers_over_limit(context: Context) -> Findings:
    """Count the pods of every claim that is used by name; speak of the claim, or else of pods that use it."""
    users: dict[tuple[str, str], list[tuple[PodView, str]]] = {}
    for pod in _counted(context):
        for path, entry in pod.claims():
            if entry.get("resourceClaimName"):
                users.setdefault((pod.document.namespace, entry["resourceClaimName"]), []).append((pod, path))
    for (namespace, name), uses in users.items():
        count = sum(1 if pod.replicas is None else pod.replicas for pod, _ in uses)
        if count <= _MAX_CONSUMERS:
            continue
        claim = context.find("ResourceClaim", name, namespace)
        hint = "spread them over several claims, or give each pod its own with a ResourceClaimTemplate"
        if claim is not None and claim.linted:
            message = f"{count} pods use this claim, which can be reserved for at most {_MAX_CONSUMERS}"
            yield finding(claim, "metadata.name", message, hint)
            continue
        message = f"{count} pods use ResourceClaim `{name}`, which can be reserved for at most {_MAX_CONSUMERS}"
        yield from (finding(pod, f"{path}.resourceClaimName", message, hint) for pod, path in uses)


def _counted(context: Context) -> list[PodView]:
    """Return pods and templates, without those that belong to another one: a Deployment counts for its ReplicaSets."""
    pods = list(context.all_pods())
    owners = {pod.document.kind for pod in pods if pod.is_template}
    kinds = [{owner.get("kind") for owner in pod.document.metadata.get("ownerReferences") or ()} for pod in pods]
    return [pod for pod, its in zip(pods, kinds, strict=True) if not its & owners]
