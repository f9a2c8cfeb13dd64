"""Why a ResourceClaim is not allocated, by itself: what a pod needs besides is the pod's to explain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from drayman import node_selector, resourceclaim
from drayman.pods.objects import key_of
from drayman.reasons import claims
from drayman.reasons.answer import Answer
from drayman.reasons.claims import Entry
from drayman.reasons.facts import Fact, counted, named
from drayman.reasons.trying import evaluate, failure, fitting_groups

if TYPE_CHECKING:
    from drayman.reasons.state import Object, State


def explain(state: State, claim: Object, *, node: str | None = None) -> Answer:
    """Explain a claim, on one node or on all."""
    key, entry = key_of(claim), Entry("", claim)
    named_by = (state.kubernetes, state.compatibility)
    notes = tuple(_notes(state, claim))
    if entry.allocation:
        return Answer("claim", key, "allocated", _allocated(claim, entry), *named_by, notes=notes, claims=(entry,))
    facts = tuple(_facts(state, claim))
    names = (node,) if node else state.nodes
    if not facts and not names:
        facts = (Fact("no-nodes", "there is no node"),)
    if facts:
        title = f"claim {key} cannot be allocated"
        return Answer("claim", key, "unallocatable", title, *named_by, facts, notes)
    tried = evaluate(state, [([claim], names)])
    groups = tuple(fitting_groups(tried, [entry]))
    number, total = len(tried.fitting), counted(len(names), "node")
    if tried.error is not None:
        verdict, title = "failed", f"claim {key} cannot be allocated: the attempt ends with an error"
        facts = (failure(tried.error),)
    elif tried.fitting:
        verdict, title = "fits", f"claim {key} fits on {number} of {total}"
    else:
        where = f"node `{names[0]}`" if len(names) == 1 else f"any of {total}"
        verdict, title = "unallocatable", f"claim {key} cannot be allocated on {where}"
    return Answer("claim", key, verdict, title, *named_by, facts, notes, (), groups, tried.explanations)


def _facts(state: State, claim: Object) -> Iterator[Fact]:
    if claim["metadata"].get("deletionTimestamp") is not None:
        yield Fact("claim-deleting", f"claim `{key_of(claim)}` is being deleted", {"claim": key_of(claim)})
    yield from claims.request_facts(state, claim)
    if not claim["metadata"].get("uid"):
        yield from claims.admin_access_facts(state, claim)


def _notes(state: State, claim: Object) -> Iterator[Fact]:
    users = [
        key
        for key, pod in state.of_kind("Pod").items()
        if pod["metadata"]["namespace"] == claim["metadata"]["namespace"]
        and any(one.name == claim["metadata"]["name"] for _, one in resourceclaim.references(pod))
    ]
    if users:
        yield Fact("claim-used-by", f"used by pod {named(users)}", {"pods": users})
    elif not (claim.get("status") or {}).get("allocation"):
        yield Fact("claim-unused", "no pod uses the claim, and without one the scheduler does not allocate it")


def _allocated(claim: Object, entry: Entry) -> str:
    selector = (entry.allocation or {}).get("nodeSelector")
    where = f", for nodes where {node_selector.describe(selector)}" if selector else ", for all nodes"
    reserved = [str(one.get("name")) for one in (claim.get("status") or {}).get("reservedFor") or ()]
    holders = f", reserved for {named(reserved)}" if reserved else ", reserved for nobody"
    return f"claim {key_of(claim)} is allocated{where}{holders}"
