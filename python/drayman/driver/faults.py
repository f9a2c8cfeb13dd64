"""Faults on purpose: how a driver misbehaves in a test, while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

Method = Literal["prepare", "unprepare"]


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong when a claim is prepared or unprepared.

    `claim` is "namespace/name"; None means any. The call first takes `delay` seconds; then it fails for the claim with
    `error`, if that is set, or leaves the claim out of the reply with `omit`. `times` is how often this happens; None
    means always.
    """

    method: Method = "prepare"
    claim: str | None = None
    delay: float = 0.0
    error: str = ""
    omit: bool = False
    times: int | None = None


class Faults:
    """The faults of a driver. They may be changed at any time, on the driver's event loop."""

    def __init__(self, faults: Sequence[Fault] = ()) -> None:
        self._faults = list(faults)

    def add(self, fault: Fault) -> None:
        """Let `fault` happen from now on, after those that were added before."""
        self._faults.append(fault)

    def clear(self) -> None:
        """Let everything work again."""
        self._faults.clear()

    def take(self, method: Method, claim: str) -> Fault:
        """Return what happens to one call for `claim`: the first fault that matches, which is used up by one."""
        for index, fault in enumerate(self._faults):
            if fault.method == method and fault.claim in (None, claim) and fault.times != 0:
                if fault.times is not None:
                    self._faults[index] = replace(fault, times=fault.times - 1)
                return fault
        return Fault(method)
