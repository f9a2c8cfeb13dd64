"""Why the pods of a workload are not scheduled: those that exist, or those that its template is going to give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from drayman.pods import affinity, tolerations
from drayman.pods.node_info import NodeInfo
from drayman.pods.objects import key_of
from drayman.reasons import placing, pods
from drayman.reasons.answer import Answer
from drayman.reasons.complete import complete
from drayman.reasons.facts import Fact, counted

if TYPE_CHECKING:
    from drayman.reasons.state import Object, State

MOST_PODS = 100
"""How many pods of a template are tried."""


def explain(state: State, workload: Object, *, node: str | None = None) -> Answer:
    """Explain the pods of `workload`; while it has none, those of its template are placed one after the other."""
    owned = pods_of(state, workload)
    if owned:
        return _answer(state, workload, [pods.explain(state, pod, node=node) for pod in owned], len(owned))
    planned = planned_pods(state, workload)
    return _answer(state, workload, _placed(state, planned, node, each=workload["kind"] == "DaemonSet"), len(planned))


def pods_of(state: State, workload: Object) -> list[Object]:
    """Return the pods that a workload owns, directly or through ReplicaSets."""
    owners = [workload]
    if workload["kind"] == "Deployment":
        owners += [one for one in state.of_kind("ReplicaSet").values() if _is_owned(one, workload)]
    return [pod for pod in state.of_kind("Pod").values() if any(_is_owned(pod, owner) for owner in owners)]


def planned_pods(state: State, workload: Object) -> list[Object]:
    """Return the pods that the controller of `workload` is going to make, as far as its spec tells."""
    spec, name = workload["spec"], workload["metadata"]["name"]
    if workload["kind"] == "DaemonSet":
        return [_pod(workload, f"{name}-{node}", node) for node in _daemon_nodes(state, workload)]
    wanted = spec.get("replicas", 1)
    if workload["kind"] == "Job":
        parallelism = spec.get("parallelism", 1)
        wanted = min(parallelism, spec.get("completions") or parallelism)
    return [_pod(workload, f"{name}-{index}") for index in range(min(wanted, MOST_PODS))]


def _placed(state: State, planned: Sequence[Object], node: str | None, *, each: bool) -> list[Answer]:
    """Place the pods. After one that does not fit, those after it are tried only where `each` has its own node."""
    answers = []
    for pod in planned:
        answer = pods.explain(state, pod, node=node)
        answers.append(answer)
        if answer.verdict == "fits":
            state, _ = placing.place(state, pod, answer)
        elif not each:
            break
    return answers


def _answer(state: State, workload: Object, answers: Sequence[Answer], total: int) -> Answer:
    fitting = sum(1 for answer in answers if answer.fits)
    refused = [answer for answer in answers if not answer.fits]
    kind, key = workload["kind"].lower(), key_of(workload)
    facts = []
    if len(answers) < total:
        left = total - len(answers)
        message = f"{counted(left, 'pod')} after the first that does not fit {'is' if left == 1 else 'are'} not tried"
        facts.append(Fact("not-tried", message, {"count": left}))
    title = f"{kind} {key} needs no pod"
    if total:
        one, are = ("pod", "is") if total == 1 else ("pods", "are")
        title = f"{kind} {key}: {fitting} of {total} {one} {are} on a node or would fit"
    return Answer(
        kind,
        key,
        refused[0].verdict if refused else "fits",
        title,
        state.kubernetes,
        state.compatibility,
        notes=tuple(facts),
        pods=(*refused, *(answer for answer in answers if answer.fits)),
    )


def _daemon_nodes(state: State, workload: Object) -> Iterator[str]:
    """Yield the nodes for which the controller makes a pod: they match, and their taints are tolerated."""
    nodes = state.of_kind("Node")
    pod = _pod(workload, "any")
    for name in state.nodes:
        node = NodeInfo(nodes.get(name) or {"metadata": {"name": name}})
        taints = [taint for taint in node.taints if taint["key"] not in _TOLERATED_BY_DAEMONS]
        kept_off = tolerations.first_untolerated(taints, tolerations.tolerations_of(pod), tolerations.HARD)
        if not kept_off and affinity.matches(pod, node.node):
            yield name


_TOLERATED_BY_DAEMONS = frozenset(
    f"node.kubernetes.io/{name}"
    for name in ("not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")
)
"""Taints that the DaemonSet controller lets its pods tolerate."""


def _pod(workload: Object, name: str, node: str | None = None) -> Object:
    """Return a pod of the workload's template; one of a DaemonSet is for `node` and tolerates what daemons do."""
    template = workload["spec"].get("template") or {}
    metadata = {key: value for key, value in (template.get("metadata") or {}).items() if key in _KEPT}
    spec: dict[str, Any] = dict(template.get("spec") or {})
    if node is not None:
        tolerated = [{"key": key, "operator": "Exists"} for key in sorted(_TOLERATED_BY_DAEMONS)]
        spec["tolerations"] = [*(spec.get("tolerations") or ()), *tolerated]
        field = {"key": "metadata.name", "operator": "In", "values": [node]}
        required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
        rules = spec.get("affinity") or {}
        own = {**(rules.get("nodeAffinity") or {}), "requiredDuringSchedulingIgnoredDuringExecution": required}
        spec["affinity"] = {**rules, "nodeAffinity": own}
    namespace = workload["metadata"]["namespace"]
    placed = {**metadata, "name": name, "namespace": namespace}
    return complete({"apiVersion": "v1", "kind": "Pod", "metadata": placed, "spec": spec})


_KEPT = frozenset({"labels", "annotations"})


def _is_owned(obj: Object, owner: Object) -> bool:
    """Tell whether `owner` is among the owners of `obj`, in its namespace; without UIDs kind and name tell."""
    theirs = owner["metadata"]
    return obj["metadata"]["namespace"] == theirs["namespace"] and any(
        one.get("kind") == owner["kind"]
        and one.get("name") == theirs["name"]
        and one.get("uid") == theirs.get("uid", one.get("uid"))
        for one in obj["metadata"].get("ownerReferences") or ()
    )
