"""The allocator, as upstream's package `structured` has it, and the outcomes of allocations.

An :class:`Allocator` sees exactly what it is given: it applies no API defaults and validates nothing. For clusters as
they stand in files use :class:`drayman.Cluster`, for clusters that change :class:`drayman.Inventory`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Never, TypeAlias

from drayman import _native, features
from drayman.errors import AllocationError, BudgetExceededError, InputError, UnallocatableError
from drayman.explain import Explanation

Object: TypeAlias = Mapping[str, Any] | bytes
"""A Kubernetes object: a dict, or its JSON."""

COMPATIBILITY = ("1.37", "fixed")
"""`1.37` answers as Kubernetes 1.37.2 does, `fixed` differs where that is known to be wrong (docs/compatibility.md)."""

STRATEGIES = ("first-fit",)
"""`first-fit` takes the devices that upstream takes."""


@dataclass(frozen=True, slots=True)
class Allocated:
    """Every claim gets devices: `allocations` holds one AllocationResult for each of `claims`, in their order.

    `claims` are "namespace/name" (or "name" where there is no namespace), `node` is the node that was asked for or
    found.
    """

    allocations: list[dict[str, Any]]
    claims: tuple[str, ...] = ()
    node: str | None = None

    def unwrap(self) -> list[dict[str, Any]]:
        """Return the allocations."""
        return self.allocations


@dataclass(frozen=True, slots=True)
class Unallocatable:
    """The claims do not fit; `explanation` says why. `node` is None when no node fits."""

    explanation: Explanation
    claims: tuple[str, ...] = ()
    node: str | None = None

    def __bool__(self) -> bool:
        """No: nothing was allocated."""
        return False

    def unwrap(self) -> Never:
        """Raise :class:`drayman.UnallocatableError`."""
        raise UnallocatableError(self.explanation.line(), explanation=self.explanation)


@dataclass(frozen=True, slots=True)
class Failed:
    """The allocation on `node` ended with an error, which other nodes need not share; `explanation` says more."""

    error: AllocationError
    claims: tuple[str, ...] = ()
    node: str | None = None

    @property
    def explanation(self) -> Explanation:
        """What the error is about; that of the error itself."""
        explanation: Explanation = self.error.explanation
        return explanation

    def __bool__(self) -> bool:
        """No: nothing was allocated."""
        return False

    def unwrap(self) -> Never:
        """Raise the error."""
        raise self.error


Outcome: TypeAlias = Allocated | Unallocatable | Failed


@dataclass(frozen=True, slots=True)
class AllocatedState:
    """What is in use: upstream's `AllocatedState`.

    `devices` are "driver/pool/device", `shared` are "driver/pool/device/shareID"; `consumed_capacity` maps a device
    to the capacity in use, by name, as quantities.
    """

    devices: Collection[str] = ()
    shared: Collection[str] = ()
    consumed_capacity: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


class Allocator:
    """Allocates claims on one node at a time, from fixed slices, classes and state.

    `features` is the exact set of gates that are on (upstream's names); `feature_gates` changes the defaults of
    `kubernetes_version`. The order of `slices` is that of upstream's informer, which counts only in corner cases.
    Raises :class:`drayman.InputError` for input that cannot be read.
    """

    def __init__(
        self,
        slices: Iterable[Object],
        classes: Iterable[Object],
        *,
        features: Iterable[str] | None = None,
        feature_gates: Mapping[str, bool] | str | None = None,
        kubernetes_version: str = features.LATEST,
        allocated: AllocatedState | None = None,
        strategy: str = "first-fit",
        compatibility: str = "1.37",
    ) -> None:
        check_choice("strategy", strategy, STRATEGIES)
        state = allocated or AllocatedState()
        self._native = _native.Allocator(
            list(slices),
            list(classes),
            features=resolve(features, feature_gates, kubernetes_version),
            devices=list(state.devices),
            shared=list(state.shared),
            consumed_capacity={device: dict(capacity) for device, capacity in state.consumed_capacity.items()},
            fixed=is_fixed(compatibility),
        )

    def allocate(
        self, node: Object, claims: Sequence[Object], *, max_steps: int | None = None
    ) -> Allocated | Unallocatable:
        """Allocate all `claims` on `node`, or none; the state is not changed.

        Raises :class:`drayman.AllocationError` where upstream's `Allocate` returns an error, with its text,
        :class:`drayman.InputError` for objects that cannot be read, and :class:`drayman.BudgetExceededError` when the
        search needs more than `max_steps`.
        """
        evaluation = self._native.allocate(node, list(claims), max_steps=max_steps)
        check_finished(evaluation, None)
        outcome = outcome_on(evaluation, evaluation.nodes[0])
        return outcome.unwrap() if isinstance(outcome, Failed) else outcome


def outcome_on(evaluation: _native.Evaluation, node: str) -> Outcome:
    """Return the outcome on one node. Raises KeyError for a node that was not evaluated."""
    claims = tuple(evaluation.claims)
    allocations = evaluation.allocations(node)
    if allocations is not None:
        return Allocated(allocations, claims, node)
    explanation = Explanation(lambda: evaluation.explain([node]))
    error = evaluation.error(node)
    if error is not None:
        error.explanation = explanation
        return Failed(error, claims, node)
    return Unallocatable(explanation, claims, node)


def check_finished(evaluation: _native.Evaluation, partial: object) -> None:
    """Raise :class:`drayman.BudgetExceededError` with `partial` when the search ended before it had all answers."""
    if evaluation.interrupted:
        raise BudgetExceededError(f"no answer within {evaluation.steps} steps", partial=partial)


def resolve(
    features_on: Iterable[str] | None, feature_gates: Mapping[str, bool] | str | None, kubernetes_version: str
) -> list[str]:
    """Return the gates that are on, for the kernel."""
    enabled = features.resolve(features_on, feature_gates=feature_gates, kubernetes_version=kubernetes_version)
    return sorted(enabled)


def is_fixed(compatibility: str) -> bool:
    """Return whether known mistakes of upstream are to be avoided. Raises :class:`drayman.InputError`."""
    check_choice("compatibility", compatibility, COMPATIBILITY)
    return compatibility == "fixed"


def check_choice(name: str, value: str, known: Sequence[str]) -> None:
    """Raise :class:`drayman.InputError` unless `value` is one of `known`."""
    if value not in known:
        raise InputError(f"{name} `{value}` is not known; known are {', '.join(f'`{choice}`' for choice in known)}")
