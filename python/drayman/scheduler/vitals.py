"""What probes ask of a scheduler: does it still work, and does it know the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from drayman.serving import Check, Probes

if TYPE_CHECKING:
    from drayman.clock import Clock
    from drayman.kube.election import Elector
    from drayman.kube.informer import Informer
    from drayman.scheduler.configuration import Configuration
    from drayman.scheduler.cycle import SchedulingCycle

STUCK_SECONDS = 600.0
"""An attempt at one pod that lasts longer will not end: its writes give up after five minutes."""

SILENT_SECONDS = 900.0
"""A watch that has not even failed for so long is dead: servers send bookmarks every minute, and transports give up
waiting for them after five."""


class Vitals:
    """The state of one scheduler; :func:`drayman.scheduler.run` fills it in."""

    def __init__(self, clock: Clock, configuration: Configuration | None = None) -> None:
        self._clock = clock
        self._elects = configuration is not None and configuration.leader_election.leader_elect
        self._is_delayed = configuration is not None and self._elects and configuration.delay_cache_until_active
        self.elector: Elector | None = None
        self.informers: Mapping[str, Informer] = {}
        self.cycle: SchedulingCycle | None = None
        self.is_ending = False

    def probes(self) -> Probes:
        """Return the probes, whose checks are called as in kube-scheduler where that has them."""
        elected = [Check("leaderElection", self._election_reason)] if self._elects else []
        return Probes(
            live=[*elected, Check("scheduling-cycle", self._cycle_reason), Check("watches", self._watches_reason)],
            ready=[
                *elected,
                Check("shutdown", self._shutdown_reason),
                Check("sched-handler-sync", self._sync_reason),
            ],
        )

    def _election_reason(self) -> str:
        return self.elector.reason() if self.elector is not None else ""

    def _cycle_reason(self) -> str:
        since = self.cycle.attempt_since if self.cycle is not None else None
        if since is None or (seconds := self._clock.monotonic() - since) <= STUCK_SECONDS:
            return ""
        return f"one pod has been tried for {seconds:.0f} s"

    def _watches_reason(self) -> str:
        now = self._clock.monotonic()
        silent = [
            informer.resource.plural
            for informer in self.informers.values()
            if informer.last_sign is not None and now - informer.last_sign > SILENT_SECONDS
        ]
        return f"nothing was heard of {', '.join(silent)} for {SILENT_SECONDS:.0f} s" if silent else ""

    def _shutdown_reason(self) -> str:
        return "process is shutting down" if self.is_ending else ""

    def _sync_reason(self) -> str:
        if self._is_delayed and self.elector is not None and not self.elector.is_leader:
            return ""  # it watches nothing yet, as it was told, and can take over
        if not self.informers:
            return "handlers are not fully synchronized"
        missing = [each.resource.plural for each in self.informers.values() if not each.synced.is_set()]
        return f"handlers are not fully synchronized: {', '.join(missing)}" if missing else ""
