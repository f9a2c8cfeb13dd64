"""Answers the kubelet's calls: fetches claims, lets faults happen, prepares and unprepares."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drayman.driver.faults import Fault, Faults
from drayman.driver.opaque import ConfigError
from drayman.driver.preparation import Preparation, PreparationError
from drayman.errors import APIStatusError, DraymanError, InputError
from drayman.kube.resources import CLAIMS

if TYPE_CHECKING:
    from drayman.clock import Clock
    from drayman.driver.claims import ClaimReference, PreparedClaim
    from drayman.kube.client import Client, Object

log = logging.getLogger(__name__)


class RequestError(DraymanError):
    """A whole call fails, as upstream's helper library lets it when a claim cannot be fetched."""


@dataclass(frozen=True, slots=True)
class ReplyDevice:
    """A prepared device as the kubelet is told of it; `request` is without the name of the subrequest."""

    request: str
    pool: str
    device: str
    cdi_ids: tuple[str, ...]
    share_id: str | None


@dataclass(frozen=True, slots=True)
class Reply:
    """What is said about one claim: its devices, or an error."""

    devices: tuple[ReplyDevice, ...] = ()
    error: str = ""


class ClaimHandler:
    """Prepares and unprepares claims as the kubelet asks for it. Used on the driver's event loop only."""

    def __init__(self, client: Client, clock: Clock, preparation: Preparation, faults: Faults) -> None:
        self._client = client
        self._clock = clock
        self._preparation = preparation
        self._faults = faults

    async def prepare(self, references: Sequence[ClaimReference]) -> dict[str, Reply]:
        """Prepare claims; return the replies by UID.

        Raises :class:`RequestError` when one of them cannot be fetched, is not allocated, or is another claim now.
        """
        claims = [await self._fetch(reference) for reference in references]
        replies = {}
        for reference, claim in zip(references, claims, strict=True):
            fault = await self._fault(self._faults.take("prepare", str(reference)))
            if fault.omit:
                continue
            replies[reference.uid] = Reply(error=fault.error) if fault.error else self._prepare(reference, claim)
        return replies

    async def unprepare(self, references: Sequence[ClaimReference]) -> dict[str, str]:
        """Unprepare claims; return the errors by UID, empty where it went well."""
        errors = {}
        for reference in references:
            fault = await self._fault(self._faults.take("unprepare", str(reference)))
            if not fault.omit:
                errors[reference.uid] = fault.error or self._unprepare(reference)
        return errors

    async def _fetch(self, reference: ClaimReference) -> Object:
        try:
            claim = await self._client.get(CLAIMS, reference.name, reference.namespace)
        except (APIStatusError, ConnectionError) as error:
            raise RequestError(f"get resource claims: retrieve claim {reference}: {error}") from error
        if not (claim.get("status") or {}).get("allocation"):
            raise RequestError(f"get resource claims: claim {reference} not allocated")
        if claim["metadata"]["uid"] != reference.uid:
            raise RequestError(f"get resource claims: claim {reference} got replaced")
        return claim

    async def _fault(self, fault: Fault) -> Fault:
        if fault.delay:
            with self._clock.waiting():
                await self._clock.sleep(fault.delay)
        return fault

    def _prepare(self, reference: ClaimReference, claim: Object) -> Reply:
        try:
            prepared = self._preparation.prepare(reference, claim)
        except (PreparationError, ConfigError, InputError, OSError) as error:
            log.warning("claim not prepared: claim=%s uid=%s error=%s", reference, reference.uid, error)
            return Reply(error=f"error preparing devices for claim {reference.uid}: {error}")
        log.info("claim prepared: claim=%s uid=%s devices=%d", reference, reference.uid, len(prepared.devices))
        return self._reply(prepared)

    def _unprepare(self, reference: ClaimReference) -> str:
        try:
            self._preparation.unprepare(reference.uid)
        except (InputError, OSError) as error:
            log.warning("claim not unprepared: claim=%s uid=%s error=%s", reference, reference.uid, error)
            return f"error unpreparing devices for claim {reference.uid}: {error}"
        log.info("claim unprepared: claim=%s uid=%s", reference, reference.uid)
        return ""

    def _reply(self, claim: PreparedClaim) -> Reply:
        return Reply(
            tuple(
                ReplyDevice(
                    request=device.base_request,
                    pool=device.pool,
                    device=device.device,
                    cdi_ids=tuple(self._preparation.device_ids(claim, device)),
                    share_id=device.share_id,
                )
                for device in claim.devices
            )
        )
