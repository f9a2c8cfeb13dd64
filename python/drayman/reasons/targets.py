"""What can be asked about, by the names that people use, and the answer for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from drayman.api import schema
from drayman.errors import InputError
from drayman.pods.objects import key_of
from drayman.reasons import claim, placing, pods, workloads
from drayman.reasons.claims import entries, similar_key

if TYPE_CHECKING:
    from drayman.reasons.answer import Answer
    from drayman.reasons.facts import Fact
    from drayman.reasons.state import Object, State

NAMES: Mapping[str, tuple[str, ...]] = {
    "Pod": ("pod", "pods", "po"),
    "ResourceClaim": ("claim", "claims", "resourceclaim", "resourceclaims"),
    "Job": ("job", "jobs"),
    "Deployment": ("deployment", "deployments", "deploy"),
    "ReplicaSet": ("replicaset", "replicasets", "rs"),
    "StatefulSet": ("statefulset", "statefulsets", "sts"),
    "DaemonSet": ("daemonset", "daemonsets", "ds"),
}
"""Kinds, and what they are called; the first name is the one that messages use."""


def kind_named(name: str) -> str:
    """Return the kind that is called `name`. Raises :class:`InputError`."""
    lowered = name.lower()
    for kind, names in NAMES.items():
        if lowered in names or name == kind:
            return kind
    known = [names[0] for names in NAMES.values()]
    similar = schema.did_you_mean(name, known)
    hint = f"did you mean `{similar}`?" if similar else None
    raise InputError(f"`{name}` cannot be explained, only {', '.join(f'`{one}`' for one in known)}", hint=hint)


def explain(state: State, kind: str, key: str, *, node: str | None = None, in_order: bool = False) -> Answer:
    """Explain one object, on one node or on all.

    With `in_order` the pods that are nothing but manifests and come before it are placed first. Raises
    :class:`InputError` for an object that does not exist.
    """
    found = state.of_kind(kind)
    if key not in found:
        raise _missing(kind, key, list(found))
    note = None
    if in_order:
        state, note = placing.place_all(state, _before(state, kind, found[key]))
    answer = _explain(state, kind, state.of_kind(kind)[key], node)
    return _with_note(answer, note)


def explain_all(state: State, *, node: str | None = None, in_order: bool = False) -> Iterator[Answer]:
    """Yield the answer for every pod that is pending, in their order.

    With `in_order`, each that fits and is nothing but a manifest is placed before the next one is looked at.
    """
    for pod in list(state.of_kind("Pod").values()):
        if placing.is_pending(pod):
            answer = pods.explain(state, pod, node=node)
            yield answer
            if in_order and answer.verdict == "fits" and any(one is pod for one in placing.waiting(state)):
                state, _ = placing.place(state, pod, answer)


def _explain(state: State, kind: str, obj: Object, node: str | None) -> Answer:
    if kind == "Pod":
        return pods.explain(state, obj, node=node)
    if kind == "ResourceClaim":
        return claim.explain(state, obj, node=node)
    return workloads.explain(state, obj, node=node)


def _before(state: State, kind: str, obj: Object) -> list[Object]:
    """Return the pods to place first: those before a pod, or before the first pod that uses a claim, else all."""
    waiting = placing.waiting(state)
    for index, pod in enumerate(waiting):
        is_meant = pod is obj if kind == "Pod" else kind == "ResourceClaim" and _uses(state, pod, key_of(obj))
        if is_meant:
            return waiting[:index]
    if kind == "Pod":
        order = list(state.of_kind("Pod"))
        at = order.index(key_of(obj))
        return [pod for pod in waiting if order.index(key_of(pod)) < at]
    return waiting


def _uses(state: State, pod: Object, key: str) -> bool:
    return any(entry.key == key for entry in entries(state, pod))


def _with_note(answer: Answer, note: Fact | None) -> Answer:
    return replace(answer, notes=(note, *answer.notes)) if note else answer


def _missing(kind: str, key: str, known: list[str]) -> InputError:
    similar = similar_key(key, known)
    listed = ", ".join(f"`{one}`" for one in known[:10]) or "none"
    return InputError(
        f"{NAMES[kind][0]} `{key}` does not exist; there are: {listed}{', …' if len(known) > 10 else ''}",
        hint=f"did you mean `{similar}`?" if similar else None,
    )
