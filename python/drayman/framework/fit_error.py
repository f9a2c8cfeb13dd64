"""Why no node fits, in upstream's words (`FitError` of `pkg/scheduler/framework`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from drayman.framework.status import Code, Status

NO_NODES = "no nodes available to schedule pods"
"""The whole message when the cluster has no node."""


@dataclass(slots=True)
class Diagnosis:
    """What an attempt found.

    `statuses` has the refusals by node. `pre_filter` is set when PreFilter refused the pod for all of `nodes`, or when
    it left nodes out (`narrowed`), which then have no status of their own.
    """

    nodes: Sequence[str]
    statuses: dict[str, Status] = field(default_factory=dict)
    pre_filter: Status | None = None
    narrowed: Status | None = None
    post_filter: str = ""

    def all_statuses(self) -> Mapping[str, Status]:
        """Return the refusal of every node."""
        absent = self.pre_filter or self.narrowed
        if absent is None:
            return self.statuses
        return {name: self.statuses.get(name, absent) for name in self.nodes}

    def rejectors(self) -> frozenset[str]:
        """Return the plugins that refused the pod somewhere."""
        return frozenset(status.plugin for status in self._rejections() if status.plugin)

    def pending(self) -> frozenset[str]:
        """Return the plugins among them that wait for something else than room."""
        return frozenset(status.plugin for status in self._rejections() if status.code is Code.PENDING)

    def message(self) -> str:
        """Return the text of the pod's condition and event."""
        text = f"0/{len(self.nodes)} nodes are available:"
        if self.pre_filter is not None:
            text += f" {self.pre_filter.message}."
        elif reasons := count_reasons(self.all_statuses().values()):
            text += f" {reasons}."
        return f"{text} {self.post_filter}" if self.post_filter else text

    def _rejections(self) -> Iterable[Status]:
        yield from self.statuses.values()
        if self.pre_filter is not None:
            yield self.pre_filter
        if self.narrowed is not None:
            yield self.narrowed


def count_reasons(statuses: Iterable[Status]) -> str:
    """Return "2 reason, 1 other reason", sorted as strings, which puts `12 …` before `2 …`."""
    counts = Counter(reason for status in statuses for reason in status.reasons)
    return ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
