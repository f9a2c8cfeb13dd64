"""CEL device selectors, as the API server and the scheduler compile and evaluate them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from drayman import _native, inspection
from drayman.inspection import Inspection

if TYPE_CHECKING:
    from drayman.errors import CELRuntimeError

Environment: TypeAlias = Literal["stored", "new"]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Result of one evaluation: `value` or `error`, and the run-time `cost`, which is counted in either case.

    Quantities and versions are :class:`drayman.Quantity` and :class:`drayman.Version`. What Python has no equal of,
    such as a duration or an address, is text.
    """

    value: Any
    error: CELRuntimeError | None
    cost: int


class Devices:
    """Devices that are read once, for selectors that are evaluated on many of them: pairs of a driver and a device.

    A device that cannot be read is selected by nothing.
    """

    def __init__(self, devices: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Read the devices."""
        self._native = _native.Devices(devices)


@dataclass(frozen=True, slots=True)
class Selector:
    """A compiled expression; use :func:`compile`."""

    expression: str
    _native: _native.Selector

    @property
    def max_cost(self) -> int:
        """The most that an evaluation can cost by static estimate; the API server refuses more than 1,000,000."""
        return self._native.max_cost

    @property
    def result_type(self) -> str:
        """The static type of the result: `bool`, or `dyn` or `any` where only the evaluation tells."""
        return self._native.result_type

    def matches(self, device: Mapping[str, Any], driver: str | None = None) -> bool:
        """Return whether the device is selected.

        `device` is a device of a ResourceSlice (`attributes`, `capacity`, `allowMultipleAllocations`); its driver is
        `driver`, or the member `driver` of the dict. Raises :class:`drayman.CELRuntimeError` when the evaluation
        fails or gives no bool.
        """
        return self._native.matches(device, driver)

    def evaluate(self, device: Mapping[str, Any], driver: str | None = None) -> Evaluation:
        """Evaluate on a device as :meth:`matches`, without raising what happens on the way."""
        value, error, cost = self._native.evaluate(device, driver)
        return Evaluation(value, error, cost)

    def answers(self, devices: Devices, places: Sequence[int]) -> list[bool | CELRuntimeError]:
        """Return for the devices at `places` what :meth:`matches` returns or raises."""
        return self._native.answers(devices._native, places)


def compile(  # noqa: A001 - as `re.compile`
    expression: str, environment: Environment = "stored", *, gates: Collection[str] | None = None
) -> Selector:
    """Compile a selector.

    `stored` is the environment for expressions that are in objects already, which the scheduler uses; `new` the one in
    which the API server checks expressions of new objects, with the `gates` that are on (None: the defaults of 1.37).
    Raises :class:`drayman.CELCompileError`.
    """
    return Selector(expression, _native.Selector(readable(expression), environment, gates=_known(gates)))


def compile_derived(
    expression: str, environment: Environment = "stored", *, gates: Collection[str] | None = None
) -> Selector:
    """Compile the expression of a derived attribute, as :func:`compile`: an attribute may have its value."""
    native = _native.Selector(readable(expression), environment, gates=_known(gates), derived=True)
    return Selector(expression, native)


def _known(gates: Collection[str] | None) -> list[str] | None:
    return None if gates is None else sorted(gates)


def inspect(expression: str) -> Inspection:
    """Return what an expression asks of a device, also when it does not compile: which attributes and capacities it
    looks up and whether it fails without them, what it compares them with, and what of it is constant.

    Never raises for any text.
    """
    return inspection.read(expression, _native.inspect(readable(expression)))


def readable(expression: str) -> str:
    """Return the expression with halves of surrogate pairs, which are no text, read as upstream reads such bytes."""
    return str.encode(expression, "utf-16", "surrogatepass").decode("utf-16", "replace")
