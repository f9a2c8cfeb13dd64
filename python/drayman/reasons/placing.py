"""Placing pods one after the other, each where it fits first, so that the next one finds what the ones before left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from drayman.allocator import Allocated
from drayman.pods.objects import is_terminal, key_of
from drayman.reasons import pods
from drayman.reasons.facts import Fact, counted
from drayman.reasons.state import is_known_to_a_server

if TYPE_CHECKING:
    from drayman.reasons.answer import Answer
    from drayman.reasons.claims import Entry
    from drayman.reasons.state import Object, State


_NAMED = 5
"""How many of the pods that are placed first are named."""


def waiting(state: State) -> list[Object]:
    """Return the pods that no scheduler has looked at: they are manifests, not objects of a cluster."""
    return [pod for pod in state.of_kind("Pod").values() if is_pending(pod) and not is_known_to_a_server(pod)]


def is_pending(pod: Object) -> bool:
    """Tell whether the pod is on no node, and has not ended."""
    return not pod["spec"].get("nodeName") and not is_terminal(pod)


def place_all(state: State, those: Sequence[Object]) -> tuple[State, Fact | None]:
    """Return the state in which the pods that fit are placed, and a remark that says where."""
    places = {}
    for pod in those:
        answer = pods.explain(state, pod)
        if answer.verdict == "fits":
            state, places[key_of(pod)] = place(state, pod, answer)
    if not places:
        return state, None
    texts = [f"`{key}` on `{node}`" for key, node in places.items()]
    more = len(texts) - _NAMED
    listed = ", ".join(texts[:_NAMED]) + (f" and {counted(more, 'more pod')}" if more > 0 else "")
    message = f"pods that come before are placed first: {listed}"
    return state, Fact("placed-before", message, {"placed": places})


def place(state: State, pod: Object, answer: Answer) -> tuple[State, str]:
    """Return the state in which `pod`, which fits, is on the first such node, and that node."""
    node = next(group.nodes[0] for group in answer.groups if group.verdict == "fits")
    demand = pods.Demand.of(state, pod, answer.claims)
    outcome = demand.tried([node]).on(node)
    allocations = outcome.allocations if isinstance(outcome, Allocated) else ()
    waiting = {entry.key: entry.claim for entry in demand.on(node) if entry.claim}
    pairs = zip(outcome.claims if outcome else (), allocations, strict=True)
    held = {key: _held(waiting[key], allocation, pod) for key, allocation in pairs}
    return state.with_placed(_with_claims(pod, answer.claims), node, held.values()), node


def _held(claim: Object, allocation: Object, pod: Object) -> dict[str, Any]:
    metadata = pod["metadata"]
    consumer = {"resource": "pods", "name": metadata["name"], "uid": metadata.get("uid", "")}
    status = claim.get("status") or {}
    reserved = [*(status.get("reservedFor") or ()), consumer]
    return {**claim, "status": {**status, "allocation": allocation, "reservedFor": reserved}}


def _with_claims(pod: Object, entries: Sequence[Entry]) -> Object:
    """Return the pod with the names of the claims that its templates gave."""
    statuses = [
        {"name": entry.name, "resourceClaimName": entry.claim["metadata"]["name"]}
        for entry in entries
        if entry.claim and entry.template
    ]
    return {**pod, "status": {**(pod.get("status") or {}), "resourceClaimStatuses": statuses}}
