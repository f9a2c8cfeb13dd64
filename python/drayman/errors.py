"""Exceptions of the public contract. All derive from :class:`DraymanError`; `str()` is the message to show.

"No" is not an error: a claim that cannot be allocated is an :class:`drayman.Unallocatable` outcome, and only
`outcome.unwrap()` raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


class DraymanError(Exception):
    """Base of everything that drayman raises on purpose."""

    hint: str | None = None
    """What to do about it, when that is known; shown apart from the message."""


class InputError(DraymanError):
    """Input that cannot be used: not YAML or JSON, an unknown kind, a wrong field, a value out of bounds.

    `file`, `object` ("Kind namespace/name"), `field` (path) and `line` (1-based) say where, as far as that is known.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        object: str | None = None,  # noqa: A002 - the field's name in the JSON output
        field: str | None = None,
        line: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.object = object
        self.field = field
        self.line = line
        self.hint = hint

    def __str__(self) -> str:
        place = self.file or ""
        if self.file and self.line is not None:
            place += f":{self.line}"
        return ": ".join(part for part in (place, self.object, self.field, self.message) if part)


class AllocationError(DraymanError):
    """The allocator stopped with an error; `str()` is upstream's text.

    `node_local` is true where only this node fails (upstream's `ErrFailedAllocationOnNode`); otherwise the whole
    attempt does. `explanation` is a :class:`drayman.Explanation` where claims were to be allocated, else None.
    """

    def __init__(self, message: str, *, node_local: bool = False) -> None:
        super().__init__(message)
        self.node_local = node_local
        self.explanation: Any = None


class CELCompileError(AllocationError):
    """A CEL expression does not compile; `issues` are `(line, column, message)` with 1-based positions."""

    def __init__(
        self, message: str, *, node_local: bool = False, issues: tuple[tuple[int, int, str], ...] = ()
    ) -> None:
        super().__init__(message, node_local=node_local)
        self.issues = issues


class CELRuntimeError(AllocationError):
    """A CEL expression failed on a device."""


class DeviceClassNotFoundError(AllocationError):
    """A request names a DeviceClass that does not exist."""


class FeatureDisabledError(AllocationError):
    """A claim uses a feature whose gate is off; `gate` is its upstream name."""

    def __init__(self, message: str, *, node_local: bool = False, gate: str = "") -> None:
        super().__init__(message, node_local=node_local)
        self.gate = gate


class UnsupportedRequestError(AllocationError):
    """A request, selector or constraint of a kind that this version does not know."""


class LimitExceededError(AllocationError):
    """A claim asks for more than the API's limits allow."""


class PoolError(AllocationError):
    """A resource pool is incomplete, being updated or invalid where that stops the allocation."""


class CapacityError(AllocationError):
    """A capacity request cannot be computed for a device."""


class ConstraintError(AllocationError):
    """A forced device (`allocationMode: All`) breaks a constraint of its claim."""


class UnallocatableError(DraymanError):
    """Raised by `Unallocatable.unwrap()`; `explanation` says why nothing fits."""

    def __init__(self, message: str, *, explanation: Any = None) -> None:
        super().__init__(message)
        self.explanation = explanation


class BudgetExceededError(DraymanError):
    """The search stopped at its `Budget`; `partial` is what was known by then."""

    def __init__(self, message: str, *, partial: Any = None) -> None:
        super().__init__(message)
        self.partial = partial


class APIStatusError(DraymanError):
    """The API server refused.

    `status` is its `metav1.Status` as a dict, `code`, `reason` and `message` are read from it.
    """

    def __init__(self, status: Mapping[str, Any]) -> None:
        super().__init__(str(status.get("message", "")))
        self.status = status

    @property
    def code(self) -> int:
        """The HTTP status code."""
        return int(self.status.get("code", 0))

    @property
    def reason(self) -> str:
        """The machine-readable reason, such as `NotFound`, `Conflict`, `AlreadyExists`, `Invalid` or `Expired`."""
        return str(self.status.get("reason", ""))


class UnreachableError(DraymanError, ConnectionError):
    """No API server answers where the kubeconfig says, or its certificate is not trusted."""


class MissingExtraError(DraymanError):
    """A command or class needs an optional dependency of an extra that is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra `{extra}`")
        self.extra = extra
        self.hint = f"pip install 'drayman[{extra}]'"
