"""The allocator, as upstream's package `structured` has it, and the outcomes of allocations.

An :class:`Allocator` sees exactly what it is given: it applies no API defaults and validates nothing. For clusters as
they stand in files use :class:`drayman.Cluster`, for clusters that change :class:`drayman.Inventory`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Never, TypeAlias

from drayman import _native, features
from drayman.errors import AllocationError, BudgetExceededError, InputError, UnallocatableError
from drayman.explain import Explanation
from drayman.quantity import Quantity

if TYPE_CHECKING:
    from drayman.clock import Clock

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
class Unfinished:
    """A search that was given up on `node`; `taken` is what it had found there: claim, request, device."""

    node: str
    taken: tuple[tuple[str, str, str], ...]


class Evaluation(Mapping[str, Outcome]):
    """Outcomes by name of node, in the order asked for; each is built when it is looked at.

    Later changes of the inventory do not show in it.
    """

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
        return len(self._native)

    def __repr__(self) -> str:
        return f"<Evaluation: {len(self.fitting)} of {len(self)} nodes fit>"

    @property
    def fitting(self) -> Sequence[str]:
        """The nodes on which all claims fit."""
        return self._native.fitting

    @property
    def unfinished(self) -> Unfinished | None:
        """Where the search was given up, if it was; that node and those after it have no outcome."""
        if self._native.unfinished is None:
            return None
        node, taken = self._native.unfinished
        return Unfinished(node, tuple(taken))

    @property
    def steps(self) -> int:
        """Steps that the search took; a measure of work that does not depend on the machine.

        Nodes that offer the same as one before take none.
        """
        return self._native.steps

    @property
    def selector_evaluations(self) -> int:
        """How often a selector was evaluated on a device; equal devices are asked about once, and verdicts are kept."""
        return self._native.selector_evaluations

    def explanation(self) -> Explanation:
        """Return why the claims do not fit, over all nodes on which they do not."""
        fitting = frozenset(self.fitting)
        return Explanation(lambda depth: self._native.explain([node for node in self if node not in fitting], depth))


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much a search may do until it ends with :class:`drayman.BudgetExceededError`; without limits, all it likes.

    `steps` are places in the search and do not depend on the machine. `seconds` count from the start of the search, by
    `clock` (the machine's unless given). `cancelled` is asked now and then, by the thread that searches. Raises
    :class:`drayman.InputError` for steps that cannot be counted and seconds that never pass.
    """

    steps: int | None = None
    seconds: float | None = None
    cancelled: Callable[[], bool] | None = None
    clock: Clock | None = None

    def __post_init__(self) -> None:
        if self.steps is not None and not 0 <= self.steps < 2**64:
            raise InputError(
                f"budget: `{self.steps}` steps cannot be counted; needed is a number from 0 to {2**64 - 1}"
            )
        if self.seconds is not None and math.isnan(self.seconds):
            raise InputError("budget: `nan` seconds never pass; needed is a number")

    def poll(self) -> Callable[[], str | None] | None:
        """Return what the kernel asks whether to stop, for a search that starts now."""
        seconds, cancelled = self.seconds, self.cancelled
        if seconds is None:
            return cancelled and (lambda: "cancelled" if cancelled() else None)
        clock = self.clock or real_clock()
        end = clock.monotonic() + seconds

        def asked() -> str | None:
            if cancelled is not None and cancelled():
                return "cancelled"
            return "deadline" if clock.monotonic() >= end else None

        return asked


UNLIMITED = Budget()


def real_clock() -> Clock:
    """Return the machine's clock; few searches need its module."""
    from drayman.clock import RealClock

    return RealClock()


@dataclass(frozen=True, slots=True)
class AllocatedState:
    """What is in use: upstream's `AllocatedState`.

    `devices` are "driver/pool/device", `shared` are "driver/pool/device/shareID"; `consumed_capacity` maps a device
    to the capacity in use, by name, as quantities (texts, numbers, or :class:`drayman.Quantity`).
    """

    devices: Collection[str] = ()
    shared: Collection[str] = ()
    consumed_capacity: Mapping[str, Mapping[str, str | float | Quantity]] = field(default_factory=dict)


class Allocator:
    """Allocates claims on one node at a time, from fixed slices, classes and state.

    `features` is the exact set of gates that are on (upstream's names); `feature_gates` changes the defaults of
    `kubernetes_version`. The order of `slices` is that of upstream's informer, which counts only in corner cases.
    With `strict_errors` an error surfaces exactly where upstream's search would meet it. Without, a search that cannot
    succeed may end before: claims then do not fit where upstream fails. Raises :class:`drayman.InputError` for input
    that cannot be read.
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
        strict_errors: bool = True,
    ) -> None:
        check_choice("strategy", strategy, STRATEGIES)
        state = allocated or AllocatedState()
        self._native = _native.Allocator(
            list(slices),
            list(classes),
            features=resolve(features, feature_gates, kubernetes_version),
            devices=list(state.devices),
            shared=list(state.shared),
            consumed_capacity={device: _quantities(device, used) for device, used in state.consumed_capacity.items()},
            fixed=is_fixed(compatibility),
            strict_errors=strict_errors,
        )

    def allocate(
        self, node: Object, claims: Sequence[Object], *, budget: Budget = UNLIMITED
    ) -> Allocated | Unallocatable:
        """Allocate all `claims` on `node`, or none; the state is not changed.

        Raises :class:`drayman.AllocationError` where upstream's `Allocate` returns an error, with its text,
        :class:`drayman.InputError` for objects that cannot be read, and :class:`drayman.BudgetExceededError`, with an
        :class:`drayman.inventory.Evaluation` of what was found until then, when the search needs more than `budget`.
        """
        evaluation = self._native.allocate(node, list(claims), steps=budget.steps, poll=budget.poll())
        check_finished(evaluation)
        outcome = outcome_on(evaluation, evaluation.nodes[0])
        return outcome.unwrap() if isinstance(outcome, Failed) else outcome


def _quantities(device: str, used: Mapping[str, object]) -> dict[str, str]:
    """Return the capacity of a device that is in use as the kernel reads it. JSON may have quantities as numbers."""
    if not isinstance(used, Mapping):
        raise InputError(f"expected capacities by name, found `{type(used).__name__}`", object=f"device {device}")
    for name, quantity in used.items():
        try:
            Quantity(str(quantity))
        except InputError as error:
            raise InputError(error.message, object=f"device {device}", field=name) from None
    return {name: str(quantity) for name, quantity in used.items()}


def outcome_on(evaluation: _native.Evaluation, node: str) -> Outcome:
    """Return the outcome on one node. Raises KeyError for a node that was not evaluated."""
    claims = tuple(evaluation.claims)
    allocations = evaluation.allocations(node)
    if allocations is not None:
        return Allocated(allocations, claims, node)
    explanation = Explanation(lambda depth: evaluation.explain([node], depth))
    error = evaluation.error(node)
    if error is not None:
        error.explanation = explanation
        return Failed(error, claims, node)
    return Unallocatable(explanation, claims, node)


def check_finished(evaluation: _native.Evaluation) -> None:
    """Raise :class:`drayman.BudgetExceededError`, with what is known, when the search ended too early."""
    reasons = {
        "steps": f"no answer within {evaluation.steps} steps",
        "deadline": f"no answer in time, after {evaluation.steps} steps",
        "cancelled": f"cancelled after {evaluation.steps} steps",
    }
    if evaluation.interrupted is not None:
        raise BudgetExceededError(reasons[evaluation.interrupted], partial=Evaluation(evaluation))


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
