"""What a plugin answers: a code with upstream's meaning, and reasons for people."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace


class Code(enum.IntEnum):
    """The codes of `k8s.io/kube-scheduler/framework`.

    `UNSCHEDULABLE`: not now, but removing something might help. `UNSCHEDULABLE_AND_UNRESOLVABLE`: removing pods would
    not help. `ERROR`: the attempt failed for a reason that has nothing to do with room; it is repeated after a while.
    `WAIT`: only from Permit. `SKIP`: the plugin has nothing to do. `PENDING`: only from plugins that wait for something
    outside the cluster's capacity.
    """

    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2
    UNSCHEDULABLE_AND_UNRESOLVABLE = 3
    WAIT = 4
    SKIP = 5
    PENDING = 6


_REJECTIONS = frozenset({Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING})


@dataclass(frozen=True, slots=True)
class Notice:
    """What to tell about a pod that PreEnqueue holds back.

    Upstream holds such pods back without a word. After `delay` seconds the pod gets a condition with `reason` and an
    event; a later verdict replaces them.
    """

    reason: str
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class Status:
    """The answer of one plugin. `plugin` is filled in by the runtime; `notice` counts only in PreEnqueue."""

    code: Code = Code.SUCCESS
    reasons: tuple[str, ...] = ()
    plugin: str = ""
    notice: Notice | None = None

    @property
    def message(self) -> str:
        """The reasons as one text."""
        return ", ".join(self.reasons)

    @property
    def is_success(self) -> bool:
        """Whether the plugin has no objection."""
        return self.code is Code.SUCCESS

    @property
    def is_skip(self) -> bool:
        """Whether the plugin has nothing to do for this pod."""
        return self.code is Code.SKIP

    @property
    def is_rejected(self) -> bool:
        """Whether the plugin refuses the pod, as opposed to failing."""
        return self.code in _REJECTIONS

    def by(self, plugin: str) -> Status:
        """Return the same status, as given by `plugin`."""
        return replace(self, plugin=plugin)


SUCCESS = Status()
SKIP = Status(Code.SKIP)


def unschedulable(*reasons: str) -> Status:
    """Return a refusal that freeing something could lift."""
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons: str, notice: Notice | None = None) -> Status:
    """Return a refusal that removing pods cannot lift."""
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons, notice=notice)


def failed(reason: str) -> Status:
    """Return an error: the whole attempt ends and is repeated after a back-off."""
    return Status(Code.ERROR, (reason,))
