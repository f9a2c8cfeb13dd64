"""The inventory: devices, classes, claims and nodes of a cluster that changes, fed with the objects of watches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from drayman import _native, features
from drayman._native import Change
from drayman.allocator import Object, Outcome, check_finished, is_fixed, outcome_on, resolve
from drayman.explain import Explanation

__all__ = ["Change", "Evaluation", "Inventory"]


class Evaluation(Mapping[str, Outcome]):
    """Outcomes by name of node, in the order asked for; each is built when it is looked at."""

    __slots__ = ("_built", "_native")

    def __init__(self, native: _native.Evaluation) -> None:
        self._native = native
        self._built: dict[str, Outcome] = {}

    def __getitem__(self, node: str) -> Outcome:
        if node not in self._built:
            self._built[node] = outcome_on(self._native, node)
        return self._built[node]

    def __iter__(self) -> Iterator[str]:
        return iter(self._native.nodes)

    def __len__(self) -> int:
        return len(self._native.nodes)

    def __repr__(self) -> str:
        return f"<Evaluation: {len(self.fitting)} of {len(self)} nodes fit>"

    @property
    def fitting(self) -> Sequence[str]:
        """The nodes on which all claims fit."""
        return self._native.fitting

    @property
    def steps(self) -> int:
        """Steps that the search took; a measure of work that does not depend on the machine."""
        return self._native.steps

    @property
    def selector_evaluations(self) -> int:
        """How often a selector was evaluated on a device; equal devices are asked about once, and verdicts are kept."""
        return self._native.selector_evaluations

    def explanation(self) -> Explanation:
        """Return why the claims do not fit, over all nodes on which they do not."""
        fitting = frozenset(self.fitting)
        return Explanation(lambda: self._native.explain([node for node in self if node not in fitting]))


class Inventory:
    """What a scheduler must know to allocate: ResourceSlices, DeviceClasses, DeviceTaintRules, Nodes, and claims.

    Objects replace older ones of the same kind and name, in any version that the API serves; API defaults are
    applied. Claims that are allocated hold their devices. Not safe for use by several threads at once.
    """

    def __init__(
        self,
        *,
        features: Iterable[str] | None = None,
        feature_gates: Mapping[str, bool] | str | None = None,
        kubernetes_version: str = features.LATEST,
        compatibility: str = "1.37",
    ) -> None:
        self._fixed = is_fixed(compatibility)
        self._native = _native.Inventory(
            features=resolve(features, feature_gates, kubernetes_version), fixed=self._fixed
        )

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
        max_steps: int | None = None,
        raises: bool = True,
    ) -> Evaluation:
        """Allocate all `claims` on each of `nodes` (None: all that are known), or none there; nothing is changed.

        `claims` are ResourceClaims without allocation. Under compatibility `1.37` an error that ends upstream's
        scheduling attempt is raised, unless `raises` is false; otherwise the outcome of its node is
        :class:`drayman.Failed`. Raises
        :class:`drayman.BudgetExceededError`, with the outcomes so far, when more than `max_steps` are needed.
        """
        native = self._native.evaluate(list(claims), None if nodes is None else list(nodes), max_steps=max_steps)
        evaluation = Evaluation(native)
        if raises and not self._fixed and (fatal := native.fatal) is not None:
            fatal.explanation = evaluation.explanation()
            raise fatal
        check_finished(native, evaluation)
        return evaluation

    def holders(self, device: str) -> Sequence[str]:
        """Return the claims ("namespace/name") that hold the device ("driver/pool/device"), in byte order."""
        return self._native.holders(device)
