"""The inventory: devices, classes, claims and nodes of a cluster that changes, fed with the objects of watches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drayman import _native, features
from drayman._native import Change
from drayman.allocator import UNLIMITED, Budget, Evaluation, Object, check_finished, is_fixed, resolve

__all__ = ["Change", "Evaluation", "Inventory", "Remark"]


@dataclass(frozen=True, slots=True)
class Remark:
    """Something in a slice that no allocation uses: `message` says what, and why.

    A feature that it needs is off, a value is of a kind that is not known, or a node selector cannot be parsed.
    `pool` is "driver/pool".
    """

    pool: str
    slice: str
    message: str


class Inventory:
    """What a scheduler must know to allocate: ResourceSlices, DeviceClasses, DeviceTaintRules, Nodes, and claims.

    Objects replace older ones of the same kind and name, in any version that the API serves; API defaults are
    applied. Claims that are allocated hold their devices. `strict_errors` is that of :class:`drayman.Allocator`. Not
    safe for use by several threads at once.
    """

    def __init__(
        self,
        *,
        features: Iterable[str] | None = None,
        feature_gates: Mapping[str, bool] | str | None = None,
        kubernetes_version: str = features.LATEST,
        compatibility: str = "1.37",
        strict_errors: bool = True,
    ) -> None:
        self._fixed = is_fixed(compatibility)
        gates = resolve(features, feature_gates, kubernetes_version)
        self._native = _native.Inventory(features=gates, fixed=self._fixed, strict_errors=strict_errors)

    def copy(self) -> Inventory:
        """Return an inventory of the same content that changes on its own."""
        twin = object.__new__(Inventory)
        twin._fixed = self._fixed
        twin._native = self._native.copy()
        return twin

    def apply(self, obj: Object) -> Change:
        """Add an object, or replace the one of its kind and name; return what that could help.

        Raises :class:`drayman.InputError` for an object that cannot be read; the inventory is then unchanged.
        """
        return self._native.apply(obj)

    def delete(self, kind: str, name: str, namespace: str = "") -> Change:
        """Remove an object; one that is not there is no error."""
        return self._native.delete(kind, name, namespace)

    def assume(self, namespace: str, name: str, allocation: Mapping[str, Any]) -> None:
        """Count `allocation` as held by the claim until the claim itself says what it holds, or :meth:`forget`."""
        self._native.assume(namespace, name, allocation)

    def forget(self, namespace: str, name: str) -> None:
        """Undo :meth:`assume`."""
        self._native.forget(namespace, name)

    def nodes(self) -> Sequence[str]:
        """Return the nodes: those that are there as objects, and those that slices name; in byte order."""
        return self._native.nodes()

    def evaluate(
        self,
        claims: Sequence[Object],
        nodes: Sequence[str] | None = None,
        *,
        budget: Budget = UNLIMITED,
        raises: bool = True,
    ) -> Evaluation:
        """Allocate all `claims` on each of `nodes` (None: all that are known), or none there; nothing is changed.

        `claims` are ResourceClaims without allocation. Under compatibility `1.37` an error that ends upstream's
        scheduling attempt is raised, unless `raises` is false; otherwise the outcome of its node is
        :class:`drayman.Failed`. Raises :class:`drayman.BudgetExceededError`, with the outcomes so far, when the search
        needs more than `budget`.
        """
        asked = None if nodes is None else list(nodes)
        native = self._native.evaluate(list(claims), asked, steps=budget.steps, poll=budget.poll())
        evaluation = Evaluation(native)
        if raises and not self._fixed and (fatal := native.fatal) is not None:
            fatal.explanation = evaluation.explanation()
            raise fatal
        check_finished(native)
        return evaluation

    def remarks(self) -> Sequence[Remark]:
        """Return what the slices say that is not used, sorted by pool and slice."""
        return [Remark(*remark) for remark in self._native.remarks()]

    def holders(self, device: str) -> Sequence[str]:
        """Return the claims ("namespace/name") that hold the device ("driver/pool/device"), in byte order."""
        return self._native.holders(device)
