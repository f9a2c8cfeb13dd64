"""What the plugin needs of the allocator, as protocols; :class:`drayman.inventory.Inventory` is the real one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from drayman.framework import Object

if TYPE_CHECKING:
    from drayman.allocator import Outcome


class Change(Protocol):
    """What a change of an object could help."""

    @property
    def devices_freed(self) -> bool:
        """Whether devices are held no longer."""

    @property
    def capacity_added(self) -> bool:
        """Whether there may be more, or other, devices than before."""


class Explanation(Protocol):
    """Why claims do not fit."""

    def line(self) -> str:
        """Return one line about the nodes that are nearest to fitting."""


class Evaluation(Protocol):
    """The outcome of allocating claims on each of several nodes."""

    @property
    def fitting(self) -> Sequence[str]:
        """The nodes on which all claims fit."""

    def __getitem__(self, node: str) -> Outcome:
        """Return the outcome on one node."""

    def explanation(self) -> Explanation:
        """Return why the claims do not fit where they do not."""


class Inventory(Protocol):
    """Slices, classes, nodes and claims, kept up to date by the objects of watches."""

    def apply(self, obj: bytes | Object) -> Change:
        """Take in an object, in place of the one of its kind and name."""

    def delete(self, kind: str, name: str, namespace: str = "") -> Change:
        """Remove an object."""

    def assume(self, namespace: str, name: str, allocation: Mapping[str, Any]) -> None:
        """Count `allocation` as held until the claim itself says what it holds, or :meth:`forget`."""

    def forget(self, namespace: str, name: str) -> None:
        """Undo :meth:`assume`."""

    def evaluate(self, claims: Sequence[Object], nodes: Sequence[str]) -> Evaluation:
        """Allocate all `claims` on each of `nodes`, or none there.

        Raises :class:`~drayman.errors.AllocationError` for what ends the whole attempt.
        """

    def holders(self, device: str) -> Sequence[str]:
        """Return the claims ("namespace/name") that hold "driver/pool/device"."""
