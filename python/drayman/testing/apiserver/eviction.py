"""The `eviction` subresource of pods: a deletion that respects disruption budgets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drayman.api import status
from drayman.testing.apiserver import deletion, label_selectors
from drayman.testing.apiserver.kinds import BY_COLLECTION
from drayman.testing.apiserver.refusal import Refusal

if TYPE_CHECKING:
    from drayman.testing.apiserver.deletion import Deletion
    from drayman.testing.apiserver.kinds import Kind
    from drayman.testing.apiserver.store import Store, Stored
    from drayman.testing.apiserver.writes import Writes

Object = dict[str, Any]

_BUDGETS = "poddisruptionbudgets.policy"


def evict(
    store: Store,
    writes: Writes,
    deleting: Deletion,
    pods: Kind,
    namespace: str,
    name: str,
    eviction: Object,
    *,
    dry_run: bool,
) -> None:
    """Delete a pod if its disruption budgets allow it.

    Raises :class:`Refusal`: 404, 400, or 429 when a budget is used up.
    """
    if (eviction.get("metadata") or {}).get("name", name) != name:
        raise Refusal(status.bad_request("name in URL does not match name in Eviction object"))
    pod = writes.get(pods, namespace, name).obj
    if _counts(pod):
        _use_budgets(store, writes, pod, dry_run=dry_run)
    options = deletion.options(eviction.get("deleteOptions") or {}, {"dryRun": "All"} if dry_run else {})
    deleting.delete(pods, namespace, name, options)


def _counts(pod: Object) -> bool:
    """Return whether the pod is healthy enough to be missed; pending, finished and leaving ones are not."""
    phase = (pod.get("status") or {}).get("phase")
    return phase not in ("Pending", "Succeeded", "Failed") and "deletionTimestamp" not in pod["metadata"]


def _use_budgets(store: Store, writes: Writes, pod: Object, *, dry_run: bool) -> None:
    labels, namespace = pod["metadata"].get("labels") or {}, pod["metadata"]["namespace"]
    budgets = [
        budget
        for budget in store.collection(_BUDGETS).items()
        if budget.obj["metadata"]["namespace"] == namespace
        and label_selectors.matches(budget.obj["spec"].get("selector"), labels)
    ]
    if len(budgets) > 1:
        message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        raise Refusal(status.internal_error(message))
    for budget in budgets:
        _use_budget(writes, budget, dry_run=dry_run)


def _use_budget(writes: Writes, budget: Stored, *, dry_run: bool) -> None:
    state = budget.obj.get("status") or {}
    allowed = int(state.get("disruptionsAllowed", 0))
    if allowed <= 0:
        message = "Cannot evict pod as it would violate the pod's disruption budget."
        refusal = status.too_many_requests(message, 10)
        wanted, healthy = state.get("desiredHealthy", 0), state.get("currentHealthy", 0)
        name = budget.obj["metadata"]["name"]
        cause = {
            "reason": "DisruptionBudget",
            "message": f"The disruption budget {name} needs {wanted} healthy pods and has {healthy} currently",
        }
        raise Refusal({**refusal, "details": {"causes": [cause]}})
    used = {**budget.obj, "status": {**state, "disruptionsAllowed": allowed - 1}}
    writes.commit(BY_COLLECTION[_BUDGETS], used, budget, dry_run=dry_run)
