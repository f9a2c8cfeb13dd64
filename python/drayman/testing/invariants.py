"""What holds of devices, claims and pods in every cluster, whoever schedules there and whatever is restarted.

Functions return what is wrong, a sentence each, and nothing when all is well. They read plain objects, from any
cluster. :func:`shared_devices` holds in every state of the claims, also of a running cluster, where :func:`watched`
checks it; the others are about pods and claims together, which two watches do not show at the same moment: ask them
when the cluster is at rest.

    async with invariants.watched(client, RealClock()) as claims:
        ...  # run a Job, restart the scheduler
    assert claims.violations == {}
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from drayman import resourceclaim
from drayman.kube.informer import Informer, key_of
from drayman.kube.resources import CLAIMS
from drayman.pods.objects import is_terminal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Mapping

    from drayman.clock import Clock
    from drayman.kube.client import Client

    Object = Mapping[str, Any]

_INTERVAL_SECONDS = 0.05
_CATCH_UP_SECONDS = 30.0


def shared_devices(claims: Iterable[Object]) -> list[str]:
    """Return the devices that are allocated more than once.

    Access for administration takes no device from others, and a device that may be allocated several times is in
    shares, of which each has one owner.
    """
    holders: dict[str, list[tuple[str | None, str]]] = defaultdict(list)
    for claim in claims:
        for result in _results(claim):
            if not result.get("adminAccess"):
                device = f"{result['driver']}/{result['pool']}/{result['device']}"
                holders[device].append((result.get("shareID"), key_of(claim)))
    return [
        f"device {device} is allocated to {' and '.join(sorted(name for _, name in held))}"
        for device, held in sorted(holders.items())
        if len(held) > 1 and not _are_shares([share for share, _ in held])
    ]


def stale_reservations(claims: Iterable[Object], pods: Iterable[Object]) -> list[str]:
    """Return the reservations for pods that are gone or have ended."""
    living = {pod["metadata"]["uid"] for pod in pods if not is_terminal(pod)}
    return [
        f"claim {key_of(claim)} is reserved for pod {consumer['name']}, which is gone or has ended"
        for claim in claims
        for consumer in (claim.get("status") or {}).get("reservedFor") or ()
        if resourceclaim.is_pod(consumer) and consumer["uid"] not in living
    ]


def unfounded_pods(pods: Iterable[Object], claims: Iterable[Object]) -> list[str]:
    """Return the pods that are bound and have not ended without having what their claims ask for."""
    known = {key_of(claim): claim for claim in claims}
    return [
        f"pod {key_of(pod)} is bound to {pod['spec']['nodeName']}, and {problem}"
        for pod in pods
        if pod["spec"].get("nodeName") and not is_terminal(pod)
        for problem in _missing(pod, known)
    ]


class Watched:
    """Claims that are watched. `states` counts the states that were checked, each one write after the one before;
    `violations` says what was wrong, and in how many of them.
    """

    def __init__(self, informer: Informer) -> None:
        self.states = 0
        self.violations: Counter[str] = Counter()
        self._claims = informer.store
        self._seen: dict[str, int] = {}
        informer.add_handler(self._check, lambda _, new: self._check(new), self._check)

    def missing(self, claims: Iterable[Object]) -> list[str]:
        """Return which of the listed `claims` the watch has not shown in that version yet."""
        return [key_of(claim) for claim in claims if self._seen.get(key_of(claim), 0) < _version(claim)]

    def _check(self, changed: Object) -> None:
        self.states += 1
        self._seen[key_of(changed)] = _version(changed)
        self.violations.update(shared_devices(self._claims.values()))


@contextlib.asynccontextmanager
async def watched(client: Client, clock: Clock) -> AsyncIterator[Watched]:
    """Check all claims of a cluster in every state that they go through while the block runs.

    The block ends when the watch has seen what was written in it. Raises `TimeoutError` when it does not get there.
    """
    informer = Informer(client, clock, CLAIMS)
    claims = Watched(informer)
    task = asyncio.create_task(informer.run(), name="watch of claims")
    try:
        await informer.synced.wait()
        yield claims
        listed, _ = await client.list(CLAIMS)
        limit = clock.monotonic() + _CATCH_UP_SECONDS
        while missing := claims.missing(listed):
            if clock.monotonic() > limit:
                raise TimeoutError(f"the watch shows no change of {', '.join(missing)}")
            await clock.sleep(_INTERVAL_SECONDS)
    finally:
        task.cancel()
        await asyncio.wait([task])


def _missing(pod: Object, claims: Mapping[str, Object]) -> Iterator[str]:
    """Yield what the pod does not have."""
    entries = {name: found.name for name, found in resourceclaim.references(pod)}
    for entry in pod["spec"].get("resourceClaims") or ():
        if entry["name"] not in entries and not _needs_no_claim(pod, entry):
            yield f"its claim {entry['name']} does not exist"
    for name in entries.values():
        claim = claims.get(f"{pod['metadata']['namespace']}/{name}")
        if claim is None:
            yield f"its claim {name} does not exist"
        elif not (claim.get("status") or {}).get("allocation"):
            yield f"its claim {name} is not allocated"
        elif not resourceclaim.is_reserved_for(pod, claim, pod_groups=True):
            yield f"its claim {name} is not reserved for it"


def _needs_no_claim(pod: Object, entry: Object) -> bool:
    """Tell whether the controller has found that an entry is without a claim."""
    with contextlib.suppress(resourceclaim.ClaimReferenceError):
        return resourceclaim.reference(pod, entry) is None
    return False


def _results(claim: Object) -> Iterable[Object]:
    allocation = (claim.get("status") or {}).get("allocation") or {}
    return (allocation.get("devices") or {}).get("results") or ()


def _are_shares(shares: list[str | None]) -> bool:
    return None not in shares and len(set(shares)) == len(shares)


def _version(claim: Object) -> int:
    return int(claim["metadata"]["resourceVersion"])
