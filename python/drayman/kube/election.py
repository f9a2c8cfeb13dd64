"""Leader election: one of several processes works, the others wait (client-go: `tools/leaderelection`).

Nobody compares clocks: a lease has run out when this process has seen no change of it for as long as it says. What is
stricter than upstream: the leader counts from before it asked to renew, so that a slow answer does not let it lead for
longer than others wait; it ends at once when it sees another holder; and it gives up only a lease that is its own.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drayman import durations
from drayman.api.validation import names
from drayman.errors import APIStatusError, DraymanError, InputError
from drayman.kube.events import Recorder
from drayman.kube.lease import LeaseLock, Record
from drayman.timestamps import rfc3339_micro

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from random import Random

    from drayman.clock import Clock
    from drayman.kube.client import Client

log = logging.getLogger(__name__)

JITTER = 1.2
"""Candidates wait up to this many periods longer than one, so that they do not all ask at once."""

TOLERANCE = 20.0
"""How many seconds after its lease has run out a leader is still healthy; it should have ended long before."""


class LeadershipLostError(DraymanError):
    """The lease was not renewed in time, or somebody else has it; what needs it has been cancelled."""


@dataclass(frozen=True, slots=True)
class LeaderElection:
    """The `leaderElection` of a component's configuration; durations in seconds."""

    leader_elect: bool = False
    lease_duration: float = 15.0
    renew_deadline: float = 10.0
    retry_period: float = 2.0
    resource_lock: str = "leases"
    resource_name: str = "drayman-scheduler"
    resource_namespace: str = "kube-system"

    def check(self) -> None:
        """Raise :class:`~drayman.errors.InputError`, with upstream's words, for what cannot be used; off, all can."""
        if not self.leader_elect:
            return
        for name in ("lease_duration", "renew_deadline", "retry_period"):
            if getattr(self, name) <= 0:
                raise _invalid(name, durations.show(getattr(self, name)), "must be greater than zero")
        if self.lease_duration <= self.renew_deadline:
            # Upstream shows the other value here, too.
            shown = durations.show(self.renew_deadline)
            raise _invalid("lease_duration", shown, "must be greater than `RenewDeadline`")
        for name in ("resource_lock", "resource_namespace", "resource_name"):
            if not getattr(self, name):
                raise InputError("Required value", field=_path(name))
        for name, problems in (
            ("resource_namespace", names.dns_label(self.resource_namespace)),
            ("resource_name", names.dns_subdomain(self.resource_name)),
        ):
            for problem in problems:  # upstream lets the server say so, at every try
                raise _invalid(name, getattr(self, name), problem)
        if self.resource_lock != "leases":
            raise _invalid("resource_lock", self.resource_lock, 'resourceLock value must be "leases"')
        if self.renew_deadline <= JITTER * self.retry_period:
            raise InputError("must be greater than retryPeriod*JitterFactor", field=_path("renew_deadline"))
        if self.lease_duration < 1:
            shown = durations.show(self.lease_duration)
            raise _invalid("lease_duration", shown, "must be at least 1s: leases count whole seconds")


def _invalid(name: str, value: str, detail: str) -> InputError:
    return InputError(f'Invalid value: "{value}": {detail}', field=_path(name))


def _path(name: str) -> str:
    first, *others = name.split("_")
    return f"leaderElection.{first}{''.join(word.title() for word in others)}"


class Elector:
    """One candidate, called `identity`; no two may be called alike. `component` writes the events about the lease."""

    def __init__(
        self,
        client: Client,
        clock: Clock,
        settings: LeaderElection,
        *,
        identity: str,
        random: Random,
        component: str,
    ) -> None:
        settings.check()
        self._clock = clock
        self._settings = settings
        self._identity = identity
        self._random = random
        self._lock = LeaseLock(client, settings.resource_namespace, settings.resource_name)
        self._recorder = Recorder(client, clock, component)
        self._seconds = int(settings.lease_duration)
        self._observed = Record("", 0, None, None, 0)
        self._observed_at = 0.0
        self._renewed_at = 0.0

    @property
    def is_leader(self) -> bool:
        """Whether the lease was ours when it was seen last."""
        return self._observed.holder == self._identity

    def reason(self) -> str:
        """Return why a leader is not well; nothing for one that is, and for a candidate that waits."""
        silent = self._clock.monotonic() - self._renewed_at
        if self.is_leader and silent > self._settings.lease_duration + TOLERANCE:
            return f"failed election to renew leadership on lease {self._settings.resource_name}"
        return ""

    async def lead(self, work: Callable[[], Awaitable[None]]) -> None:
        """Wait for the lease, then run `work` while it is ours, and give it up.

        `work` is cancelled when the lease is lost: before anybody else can have it, as long as what `work` does then
        is quick. Raises an exception group with :class:`LeadershipLostError` in that case.
        """
        await self._acquire()
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._tell("became leader"), name="event of the lease")
                renewing = group.create_task(self._keep(), name="renewal of the lease")
                await work()
                renewing.cancel()
        finally:
            await self._give_up()

    async def _acquire(self) -> None:
        log.info("attempting to acquire leader lease %s", self._lock)
        while not await self._try():
            await self._clock.sleep(self._settings.retry_period * (1 + JITTER * self._random.random()))
        log.info("successfully acquired lease %s as %s", self._lock, self._identity)

    async def _keep(self) -> None:
        """Renew the lease until cancelled. Raises :class:`LeadershipLostError`."""
        while True:
            await self._clock.sleep(self._settings.retry_period)
            left = self._renewed_at + self._term - self._clock.monotonic()
            if left <= 0:  # the process was held up: somebody else may have led meanwhile
                raise self._late()
            try:
                async with self._clock.timeout(min(left, self._settings.renew_deadline)):
                    while not await self._try(renewing=True):
                        self._check_holder()
                        await self._clock.sleep(self._settings.retry_period)
            except TimeoutError:
                raise self._late() from None

    def _late(self) -> LeadershipLostError:
        silent = durations.show(round(self._clock.monotonic() - self._renewed_at, 1))
        return LeadershipLostError(f"leaderelection lost: lease {self._lock} was not renewed for {silent}")

    @property
    def _term(self) -> float:
        """How long after it was last renewed the lease may be counted on: others wait for `lease_duration`."""
        settings = self._settings
        return min(settings.retry_period + settings.renew_deadline, (self._seconds + settings.renew_deadline) / 2)

    def _check_holder(self) -> None:
        if not self.is_leader:
            holder = f"`{self._observed.holder}`" if self._observed.holder else "nobody"
            raise LeadershipLostError(f"leaderelection lost: lease {self._lock} is held by {holder} now")

    async def _try(self, *, renewing: bool = False) -> bool:
        """Acquire the lease or, `renewing`, nothing but renew it; False when that is not possible now."""
        began = self._clock.monotonic()
        try:
            async with self._clock.timeout(self._request_seconds):
                succeeded = await self._acquire_or_renew(renewing)
        except (APIStatusError, ConnectionError, TimeoutError) as error:
            log.warning("lease %s is not acquired: %s", self._lock, str(error) or "no answer in time")
            return False
        if succeeded:
            self._renewed_at = began
        return succeeded

    @property
    def _request_seconds(self) -> float:
        return max(self._settings.renew_deadline / 2, 1.0)

    async def _acquire_or_renew(self, renewing: bool) -> bool:
        now = rfc3339_micro(self._clock.now())
        record = Record(self._identity, self._seconds, now, now, 0)
        if self.is_leader and self._is_valid():
            try:
                return await self._write(self._renewal(record, self._observed))
            except (APIStatusError, ConnectionError) as error:
                log.debug("lease %s is not renewed as it was seen last: %s", self._lock, error)
        found = await self._lock.get()
        if found is None:
            await self._lock.create(record)
            self._observe(record)
            return True
        if found != self._observed:
            self._observe(found)
        if self.is_leader:
            return await self._write(self._renewal(record, found))
        if renewing:
            return False
        if found.holder and self._is_valid():
            log.debug("lease %s is held by %s and has not yet expired", self._lock, found.holder)
            return False
        return await self._write(dataclasses.replace(record, transitions=found.transitions + 1))

    @staticmethod
    def _renewal(record: Record, old: Record) -> Record:
        return dataclasses.replace(record, acquired=old.acquired, transitions=old.transitions)

    async def _write(self, record: Record) -> bool:
        await self._lock.update(record)
        self._observe(record)
        return True

    def _observe(self, record: Record) -> None:
        if record.holder and record.holder != self._observed.holder:
            log.info("lease %s is held by %s", self._lock, record.holder)
        self._observed = record
        self._observed_at = self._clock.monotonic()

    def _is_valid(self) -> bool:
        return self._observed_at + self._observed.seconds > self._clock.monotonic()

    async def _give_up(self) -> None:
        """Let the next candidate have the lease at once, if it is still ours and the server can be reached."""
        try:
            async with self._clock.timeout(self._request_seconds):
                await self._release()
                await self._tell("stopped leading")
        except (APIStatusError, ConnectionError, TimeoutError) as error:
            log.warning("lease %s is not released: %s", self._lock, str(error) or "no answer in time")

    async def _release(self) -> None:
        while (found := await self._lock.get()) is not None and found.holder == self._identity:
            now = rfc3339_micro(self._clock.now())
            try:
                await self._write(Record("", 1, now, now, found.transitions))
            except APIStatusError as error:
                if error.reason != "Conflict":
                    raise
            else:
                log.info("released lease %s", self._lock)
                return

    async def _tell(self, what: str) -> None:
        await self._recorder.event(self._lock.lease, "Normal", "LeaderElection", f"{self._identity} {what}")
