"""Watches what can taint a device in use, evicts pods when their time has come, and reports on rules."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING, Any

from drayman import resourceclaim
from drayman.errors import APIStatusError
from drayman.kube.informer import key_of
from drayman.kube.resources import CLAIMS, PODS, SLICES, TAINT_RULES
from drayman.testing.controllers.context import Index
from drayman.testing.controllers.queue import WorkQueue
from drayman.testing.controllers.taint_eviction import timing
from drayman.testing.controllers.taint_eviction.rule_status import CONDITION, Counts, condition
from drayman.timestamps import parse_rfc3339, rfc3339

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Iterator, Mapping

    from drayman.kube.client import Object
    from drayman.testing.controllers.context import Context
    from drayman.testing.controllers.taint_eviction.timing import Eviction, Taint

NAME = "device-taint-eviction"

RULE_STATUS_PERIOD = 10.0
"""Seconds between two updates of a rule's status."""


class TaintEvictionController:
    """Evicts pods that use devices with NoExecute taints which their claims do not tolerate, or no longer."""

    def __init__(self, context: Context) -> None:
        self._client = context.client
        self._clock = context.clock
        self._any_effect = context.compatibility != "1.37"
        self._recorder = context.recorder(NAME)
        self._queue = WorkQueue(context.clock, NAME)
        self._planned: dict[str, dt.datetime] = {}
        self._evicted: set[str] = set()
        self._evicted_by_rule: Counter[str] = Counter()
        pods, claims = context.informer(PODS), context.informer(CLAIMS)
        slices = context.informer(SLICES)
        self._pods, self._claims, self._slices = pods.store, claims.store, slices.store
        self._rules: Mapping[str, Object] = {}
        self._slices_by_pool = Index(slices, lambda one: [f"{one['spec']['driver']}/{one['spec']['pool']['name']}"])
        self._claims_by_pool = Index(claims, _pools)
        claims.add_handler(self._claim_changed, self._claim_updated, self._claim_changed)
        pods.add_handler(self._pod_changed, self._pod_updated, self._pod_deleted)
        slices.add_handler(self._slice_changed, lambda _, new: self._slice_changed(new), self._slice_changed)
        if "DRADeviceTaintRules" in context.gates:
            rules = context.informer(TAINT_RULES)
            self._rules = rules.store
            rules.add_handler(self._rule_changed, self._rule_updated, self._rule_deleted)

    async def run(self) -> None:
        """Work until cancelled. One worker: the first status of a rule is written before any pod goes."""
        await self._queue.run(self._sync, workers=1)

    async def _sync(self, item: str) -> None:
        kind, _, key = item.partition(":")
        await (self._sync_pod(key) if kind == "pod" else self._sync_rule(key))

    async def _sync_pod(self, key: str) -> None:
        pod = self._pods.get(key)
        if pod is None or pod["metadata"]["uid"] in self._evicted or "deletionTimestamp" in pod["metadata"]:
            return
        uid = pod["metadata"]["uid"]
        eviction = self._pod_eviction(pod, self._rules.values())
        if eviction is None:
            if self._planned.pop(uid, None) is not None:
                await self._recorder.event(pod, "Normal", "DeviceTaintManagerEviction", "Cancelling deletion")
            return
        self._planned[uid] = eviction.when
        for rule in self._rules_of(eviction):
            self._queue.add_after(f"rule:{key_of(rule)}", RULE_STATUS_PERIOD)
        delay = (eviction.when - self._clock.now()).total_seconds()
        if delay > 0:
            self._queue.add_after(f"pod:{key}", delay)
            return
        await self._evict(pod)
        self._planned.pop(uid, None)
        self._evicted.add(uid)
        for rule in self._rules_of(eviction):
            self._evicted_by_rule[rule["metadata"]["uid"]] += 1

    async def _evict(self, pod: Object) -> None:
        metadata = pod["metadata"]
        await self._recorder.event(pod, "Normal", "DeviceTaintManagerEviction", "Marking for deletion")
        disruption = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "DeletionByDeviceTaintManager",
            "message": "Device Taint manager: deleting due to NoExecute taint",
            "lastTransitionTime": rfc3339(self._clock.now()),
        }
        patch = {"metadata": {"uid": metadata["uid"]}, "status": {"conditions": [disruption]}}
        place = (PODS, metadata["name"], metadata["namespace"])
        try:
            await self._client.patch(*place, patch, kind="strategic", subresource="status")
            await self._client.delete(*place, uid=metadata["uid"])
        except APIStatusError as error:
            if error.reason != "NotFound":
                raise

    def _pod_eviction(self, pod: Object, rules: Iterable[Object]) -> Eviction | None:
        if not pod["spec"].get("nodeName"):
            return None
        evictions = []
        for _, found in resourceclaim.references(pod):
            claim = self._claims.get(f"{pod['metadata']['namespace']}/{found.name}")
            if claim is None or not resourceclaim.is_reserved_for(pod, claim):
                continue
            if found.check_owner:
                try:
                    resourceclaim.check_for_pod(pod, claim)
                except resourceclaim.ClaimReferenceError:
                    continue
            eviction = timing.claim_eviction(
                _results(claim), lambda result: self._taints(result, rules), any_effect=self._any_effect
            )
            if eviction is not None:
                evictions.append(eviction)
        return timing.join(evictions)

    def _taints(self, result: Mapping[str, Any], rules: Iterable[Object]) -> Iterator[Taint]:
        """Yield the evicting taints of an allocated device."""
        driver, pool, name = result["driver"], result["pool"], result["device"]
        for one in self._current_slices(f"{driver}/{pool}"):
            for device in one["spec"].get("devices", ()):
                if device["name"] == name:
                    yield from timing.slice_taints(device, one["metadata"]["creationTimestamp"])
        for rule in rules:
            if rule["spec"]["taint"]["effect"] == timing.NO_EXECUTE and timing.selects(rule, driver, pool, name):
                yield timing.rule_taint(rule)

    def _current_slices(self, pool: str) -> list[Object]:
        """Return the slices of the pool's newest generation."""
        slices = self._slices_by_pool[pool]
        newest = max((one["spec"]["pool"]["generation"] for one in slices), default=0)
        return [one for one in slices if one["spec"]["pool"]["generation"] == newest]

    def _rules_of(self, eviction: Eviction) -> list[Object]:
        return [rule for _, rule in sorted(self._rules.items()) if rule["metadata"]["uid"] in eviction.rules]

    async def _sync_rule(self, name: str) -> None:
        rule = self._rules.get(name)
        if rule is None:
            return
        metadata = rule["metadata"]
        known = next((one for one in rule.get("status", {}).get("conditions", ()) if one["type"] == CONDITION), None)
        now = self._clock.now()
        if known is not None and known.get("observedGeneration") == metadata["generation"]:
            age = (now - parse_rfc3339(known["lastTransitionTime"])).total_seconds()
            if age < RULE_STATUS_PERIOD:
                self._queue.add_after(f"rule:{name}", RULE_STATUS_PERIOD - age)
                return
        wanted = {
            **condition(rule["spec"]["taint"]["effect"], self._counts(rule)),
            "observedGeneration": metadata["generation"],
        }
        if known is not None and all(known.get(member, "") == value for member, value in wanted.items()):
            return
        configuration = {
            "apiVersion": rule["apiVersion"],
            "kind": rule["kind"],
            "metadata": {"name": name, "uid": metadata["uid"]},
            "status": {"conditions": [{**wanted, "lastTransitionTime": rfc3339(now)}]},
        }
        await self._client.patch(
            TAINT_RULES, name, None, configuration, kind="apply", subresource="status", field_manager=NAME, force=True
        )

    def _counts(self, rule: Object) -> Counts:
        uid, effect = rule["metadata"]["uid"], rule["spec"]["taint"]["effect"]
        evicted = self._evicted_by_rule[uid]
        if effect not in ("None", timing.NO_EXECUTE):
            return Counts(evicted=evicted)
        # A rule without effect is counted as if it had one: a dry run.
        evicting = {**rule, "spec": {**rule["spec"], "taint": {**rule["spec"]["taint"], "effect": timing.NO_EXECUTE}}}
        pending = [
            pod
            for pod in self._pods.values()
            if "deletionTimestamp" not in pod["metadata"]
            and (eviction := self._pod_eviction(pod, [evicting])) is not None
            and uid in eviction.rules
        ]
        namespaces = {pod["metadata"]["namespace"] for pod in pending}
        if effect != "None":
            return Counts(len(pending), len(namespaces), evicted)
        return Counts(len(pending), len(namespaces), evicted, self._published(rule), self._allocated(rule))

    def _published(self, rule: Object) -> int:
        pools = {(one["spec"]["driver"], one["spec"]["pool"]["name"]) for one in self._slices.values()}
        return sum(
            timing.selects(rule, driver, pool, device["name"])
            for driver, pool in pools
            for one in self._current_slices(f"{driver}/{pool}")
            for device in one["spec"].get("devices", ())
        )

    def _allocated(self, rule: Object) -> int:
        results = itertools.chain.from_iterable(_results(claim) for claim in self._claims.values())
        return sum(timing.selects(rule, result["driver"], result["pool"], result["device"]) for result in results)

    def _pod_changed(self, pod: Object) -> None:
        if pod["spec"].get("nodeName") and (
            pod["spec"].get("resourceClaims") or pod.get("status", {}).get("extendedResourceClaimStatus")
        ):
            self._queue.add(f"pod:{key_of(pod)}")

    def _pod_updated(self, old: Object, new: Object) -> None:
        if _claim_facts(old) != _claim_facts(new):
            self._pod_changed(new)

    def _pod_deleted(self, pod: Object) -> None:
        self._planned.pop(pod["metadata"]["uid"], None)
        self._evicted.discard(pod["metadata"]["uid"])

    def _claim_changed(self, claim: Object) -> None:
        for user in claim.get("status", {}).get("reservedFor", ()):
            if resourceclaim.is_pod(user):
                self._queue.add(f"pod:{claim['metadata']['namespace']}/{user['name']}")

    def _claim_updated(self, old: Object, new: Object) -> None:
        self._claim_changed(old)
        self._claim_changed(new)

    def _slice_changed(self, one: Object) -> None:
        for claim in self._claims_by_pool[f"{one['spec']['driver']}/{one['spec']['pool']['name']}"]:
            self._claim_changed(claim)

    def _rule_changed(self, rule: Object) -> None:
        self._queue.add(f"rule:{key_of(rule)}")
        self._recheck_all()

    def _rule_updated(self, old: Object, new: Object) -> None:
        if old["spec"] != new["spec"] or old["metadata"]["uid"] != new["metadata"]["uid"]:
            self._rule_changed(new)

    def _rule_deleted(self, rule: Object) -> None:
        self._evicted_by_rule.pop(rule["metadata"]["uid"], None)
        self._recheck_all()

    def _recheck_all(self) -> None:
        for _, claim in sorted(self._claims.items()):
            if _results(claim):
                self._claim_changed(claim)


def _results(claim: Object) -> list[Any]:
    allocation = claim.get("status", {}).get("allocation") or {}
    return list(allocation.get("devices", {}).get("results", ()))


def _pools(claim: Object) -> set[str]:
    return {f"{result['driver']}/{result['pool']}" for result in _results(claim)}


def _claim_facts(pod: Object) -> tuple[Any, ...]:
    """Return what can change which claims the pod uses on which node."""
    status = pod.get("status", {})
    return (
        pod["metadata"]["uid"],
        pod["spec"].get("nodeName"),
        status.get("resourceClaimStatuses"),
        status.get("extendedResourceClaimStatus"),
    )
