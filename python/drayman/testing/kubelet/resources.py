"""Claims on this node: checked, prepared, shared by pods, unprepared after the last (`pkg/kubelet/cm/dra`)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import defaultdict
from typing import TYPE_CHECKING

from drayman import node_selector, resourceclaim
from drayman.errors import APIStatusError, DraymanError
from drayman.kube.resources import CLAIMS, NODES
from drayman.testing.kubelet.checkpoint import Checkpoint, ClaimState
from drayman.testing.kubelet.plugins import ClaimId, PluginError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from typing import Any

    from drayman.kube.client import Client, Object
    from drayman.testing.kubelet.plugins import Answer, PluginRegistry

log = logging.getLogger(__name__)


class PrepareError(DraymanError):
    """The devices of a pod are not ready; `str()` is the kubelet's text where the real kubelet checks the same."""


class ResourceManager:
    """Prepares and unprepares the claims of pods through the drivers of this node."""

    def __init__(self, client: Client, node_name: str, plugins: PluginRegistry, directory: Path) -> None:
        self._client = client
        self._node_name = node_name
        self._plugins = plugins
        self._checkpoint = Checkpoint(directory)
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def claim(self, namespace: str, name: str) -> ClaimState | None:
        """Return what is known here of a claim."""
        return self._checkpoint.claims.get(f"{namespace}/{name}")

    def pod_uids(self) -> set[str]:
        """Return the pods that still use claims here."""
        return {uid for state in self._checkpoint.claims.values() for uid in state.pods}

    async def prepare(self, pod: Object) -> None:
        """Make all claims of `pod` ready; what is ready stays as it is. Raises :class:`PrepareError`.

        Nothing is undone on failure: a claim that one driver prepared and another refused waits for the next attempt,
        as with the real kubelet.
        """
        references = sorted(set(_claims(pod)))
        async with contextlib.AsyncExitStack() as stack:
            # Pods that share a claim take turns, so that it is prepared once; sorted, so that none waits for another.
            for name, _ in references:
                await stack.enter_async_context(self._locks[f"{pod['metadata']['namespace']}/{name}"])
            # All checks come before the first change, so that a pod that fails them can be deleted without a driver.
            claims = [await self._check(pod, name, check_owner) for name, check_owner in references]
            await self._prepare(pod, claims)

    async def _prepare(self, pod: Object, claims: list[Object]) -> None:
        batches: dict[str, list[ClaimState]] = {}
        for claim in claims:
            state = self._attach(pod, claim)
            if state.prepared:
                continue
            for driver in state.drivers:
                batches.setdefault(driver, []).append(state)
        self._checkpoint.save()
        for driver, states in batches.items():
            await self._prepare_by(driver, states)
        for states in batches.values():
            for state in states:
                state.prepared = True
        self._checkpoint.save()

    async def unprepare(self, pod_uid: str) -> None:
        """End the use of all claims by a pod; a claim without users is unprepared. Raises :class:`PluginError`."""
        used = self._checkpoint.for_pod(pod_uid)
        if not used:
            return
        batches: dict[str, list[ClaimState]] = {}
        for state in used:
            if len(state.pods) > 1:
                state.pods.discard(pod_uid)
                continue
            state.unpreparing = True
            for driver in state.drivers:
                batches.setdefault(driver, []).append(state)
        for driver, states in batches.items():
            plugin = self._plugins.get(driver)
            answers = await plugin.unprepare([state.claim for state in states])
            _check_answers("NodeUnprepareResources", states, answers, PluginError)
        for state in self._checkpoint.for_pod(pod_uid):
            del self._checkpoint.claims[state.key]
            self._locks.pop(state.key, None)
        self._checkpoint.save()

    async def _check(self, pod: Object, name: str, check_owner: bool) -> Object:
        """Return the claim `name` of `pod` if the pod may use it here."""
        metadata = pod["metadata"]
        try:
            claim = await self._client.get(CLAIMS, name, metadata["namespace"])
        except (APIStatusError, ConnectionError) as error:
            raise PrepareError(f"fetch ResourceClaim {name}: {error}") from error
        if check_owner:
            try:
                resourceclaim.check_for_pod(pod, claim)
            except resourceclaim.ClaimReferenceError as error:
                raise PrepareError(str(error)) from error
        if not resourceclaim.is_reserved_for(pod, claim):
            raise PrepareError(
                f"pod {metadata['name']} ({metadata['uid']}) is not allowed to use "
                f"ResourceClaim {name} ({claim['metadata']['uid']})"
            )
        allocation = claim["status"].get("allocation")
        if not allocation:
            raise PrepareError(f"ResourceClaim {name}: not allocated")
        for driver in _drivers(allocation):
            try:
                self._plugins.get(driver)
            except PluginError as error:
                raise PrepareError(str(error)) from error
        await self._check_node(claim, allocation)
        return claim

    async def _check_node(self, claim: Object, allocation: Mapping[str, Any]) -> None:
        """Refuse an allocation that is not for this node, which the real kubelet takes on trust."""
        if "nodeSelector" not in allocation:
            return
        try:
            node = await self._client.get(NODES, self._node_name)
        except (APIStatusError, ConnectionError) as error:
            raise PrepareError(f"fetch Node {self._node_name}: {error}") from error
        if not node_selector.matches(allocation["nodeSelector"], node):
            name = claim["metadata"]["name"]
            log.error("allocation is not for this node: claim=%s node=%s", name, self._node_name)
            raise PrepareError(f"ResourceClaim {name}: its allocation is not for node `{self._node_name}`")

    def _attach(self, pod: Object, claim: Object) -> ClaimState:
        """Return the state of `claim` with `pod` as user."""
        metadata = claim["metadata"]
        key = f"{metadata['namespace']}/{metadata['name']}"
        state = self._checkpoint.claims.get(key)
        if state is None:
            allocation = claim["status"]["allocation"]
            exclusive = _exclusive(allocation)
            self._check_unused(key, exclusive)
            identity = ClaimId(metadata["namespace"], metadata["uid"], metadata["name"])
            drivers: dict[str, list[Any]] = {driver: [] for driver in _drivers(allocation)}
            state = self._checkpoint.claims[key] = ClaimState(identity, set(), drivers, exclusive=exclusive)
        elif state.claim.uid != metadata["uid"]:
            raise PrepareError(
                f"old ResourceClaim with same name {metadata['name']} and different UID {state.claim.uid} "
                "still exists (previous pod force-deleted?!)"
            )
        elif state.unpreparing:
            raise PrepareError(f"ResourceClaim {metadata['name']} is being unprepared")
        state.pods.add(pod["metadata"]["uid"])
        return state

    def _check_unused(self, key: str, exclusive: frozenset[str]) -> None:
        """Refuse devices that another claim has prepared: somebody allocated them twice, or freed them too early."""
        for other_key, other in sorted(self._checkpoint.claims.items()):
            for device in sorted(exclusive & other.exclusive):
                log.error("device is prepared already: device=%s claim=%s other=%s", device, key, other_key)
                raise PrepareError(f"ResourceClaim {key}: device `{device}` is prepared for ResourceClaim {other_key}")

    async def _prepare_by(self, driver: str, states: list[ClaimState]) -> None:
        try:
            answers = await self._plugins.get(driver).prepare([state.claim for state in states])
        except PluginError as error:
            raise PrepareError(str(error)) from error
        by_uid = {state.claim.uid: state for state in states}
        for uid, answer in sorted(answers.items()):
            if uid in by_uid and not answer.error:
                by_uid[uid].drivers[driver] = list(answer.devices)
        _check_answers("NodePrepareResources", states, answers, PrepareError)


def _check_answers(
    method: str, states: list[ClaimState], answers: Mapping[str, Answer], failure: type[DraymanError]
) -> None:
    """Raise `failure` unless the driver answered for exactly the claims of `states`, without an error."""
    names = {state.claim.uid: state.claim.name for state in states}
    for uid, answer in sorted(answers.items()):
        if uid not in names:
            raise failure(f"{method} returned result for unknown claim UID {uid}")
        if answer.error:
            raise failure(f"{method} failed for ResourceClaim {names[uid]}: {answer.error}")
    if len(answers) < len(states):
        raise failure(f"{method} skipped {len(states) - len(answers)} ResourceClaims")


def _claims(pod: Object) -> Iterable[tuple[str, bool]]:
    """Yield name and "has an owner to check" of each claim. Raises :class:`PrepareError` when one is not known."""
    for entry in pod["spec"].get("resourceClaims", ()):
        try:
            found = resourceclaim.reference(pod, entry)
        except resourceclaim.ClaimReferenceError as error:
            raise PrepareError(str(error)) from error
        if found is not None:
            yield found.name, found.check_owner
    extended = pod.get("status", {}).get("extendedResourceClaimStatus")
    if extended:
        yield extended["resourceClaimName"], False


def _drivers(allocation: Mapping[str, Any]) -> list[str]:
    return sorted({result["driver"] for result in allocation.get("devices", {}).get("results", ())})


def _exclusive(allocation: Mapping[str, Any]) -> frozenset[str]:
    """Return the devices of an allocation that no other claim may hold at the same time."""
    return frozenset(
        f"{result['driver']}/{result['pool']}/{result['device']}"
        for result in allocation.get("devices", {}).get("results", ())
        if not result.get("adminAccess") and not result.get("shareID")
    )
