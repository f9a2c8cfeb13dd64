"""Why a pod is not scheduled, in the order in which a scheduler looks: held back, node by node, device by device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from drayman.pods.objects import condition_of, is_terminal, key_of
from drayman.pods.unsupported import unsupported_fields
from drayman.reasons import claims, nodes
from drayman.reasons.answer import Answer, Group
from drayman.reasons.extended import Extended
from drayman.reasons.facts import Fact, counted
from drayman.reasons.trying import Tried, evaluate, failure, fitting_groups

if TYPE_CHECKING:
    from drayman.explain import Explanation
    from drayman.reasons.claims import Entry
    from drayman.reasons.state import Object, State

_OURS = " drayman: "
"""What stands before drayman's own line in a condition."""


def explain(state: State, pod: Object, *, node: str | None = None) -> Answer:
    """Explain `pod`, on one node or on all; the pod is looked at as if it had its turn now."""
    entries = claims.entries(state, pod)
    at = pod["spec"].get("nodeName")
    if is_terminal(pod) or at:
        return _settled(state, pod, entries)
    facts = [*_holding(pod), *(fact for entry in entries for fact in entry.facts)]
    missing = [fact for entry in entries if _waits(entry) for fact in claims.request_facts(state, entry.claim or {})]
    blocked = bool(missing) or any(fact.code != "claim-not-created" for entry in entries for fact in entry.facts)
    answer = _Draft(state, pod, Demand.of(state, pod, entries), (*facts, *missing))
    names = (node,) if node else state.nodes
    if not names and not blocked:
        answer.facts = (*answer.facts, Fact("no-nodes", "there is no node"))
    if any(fact.code == "binding-conditions" for fact in facts):
        return answer.finish("held", f"pod {key_of(pod)} waits until its devices are ready")
    if blocked or not names:
        return answer.finish("held" if answer.is_held else "unschedulable")
    return answer.look(names)


@dataclass(frozen=True, slots=True)
class Demand:
    """What a pod needs to have allocated: the claims of its entries, and one for extended resources."""

    state: State
    entries: Sequence[Entry]
    extended: Extended

    @classmethod
    def of(cls, state: State, pod: Object, entries: Sequence[Entry]) -> Demand:
        """Look at a pod."""
        return cls(state, entries, Extended.of(state, pod))

    def on(self, node: str) -> list[Entry]:
        """Return the entries whose claims are to be allocated on `node`."""
        return self._with(self._resources(node))

    def tried(self, names: Sequence[str]) -> Tried:
        """Allocate what is needed on each of the nodes."""
        alike: dict[frozenset[str], list[str]] = {}
        for name in names:
            alike.setdefault(self._resources(name), []).append(name)
        demands = [(self._objects(resources), those) for resources, those in alike.items()]
        return evaluate(self.state, demands)

    def _resources(self, node: str) -> frozenset[str]:
        return self.extended.on(self.state.node_infos[node])

    def _with(self, resources: frozenset[str]) -> list[Entry]:
        waiting = [entry for entry in self.entries if _waits(entry)]
        return [*waiting, self.extended.entry(resources)] if resources else waiting

    def _objects(self, resources: frozenset[str]) -> list[Object]:
        """Return the claims. Upstream 1.37.2 takes a claim that two entries name for two."""
        waiting = [entry.claim for entry in self._with(resources) if entry.claim]
        return list({key_of(claim): claim for claim in waiting}.values()) if self.state.fixed else waiting


@dataclass(slots=True)
class _Draft:
    """An answer in the making."""

    state: State
    pod: Object
    demand: Demand
    facts: tuple[Fact, ...]

    @property
    def is_held(self) -> bool:
        """Whether the scheduler does not try the pod."""
        return any(fact.code in _HELD for fact in self.facts)

    def look(self, names: Sequence[str]) -> Answer:
        """Answer from what the nodes have."""
        exclusions = nodes.exclusions(self.state, self.pod, self.demand.entries, self.demand.extended)
        tried = self.demand.tried([name for name in names if not exclusions[name]])
        if tried.error is not None:
            self.facts = (*self.facts, failure(tried.error))
        fitting = tried.fitting
        verdict = "held" if self.is_held else "failed" if tried.error else "fits" if fitting else "unschedulable"
        groups = (
            *fitting_groups(tried, [*self.demand.entries, self.demand.extended.entry(frozenset())]),
            *_excluded_groups(self.demand, {name: exclusions[name] for name in names if exclusions[name]}),
        )
        return self.finish(verdict, _title(self.pod, verdict, len(fitting), names), groups, tried.explanations)

    def finish(
        self,
        verdict: str,
        title: str | None = None,
        groups: tuple[Group, ...] = (),
        explanations: tuple[Explanation, ...] = (),
    ) -> Answer:
        return Answer(
            "pod",
            key_of(self.pod),
            verdict,
            title or _title(self.pod, verdict),
            self.state.kubernetes,
            self.state.compatibility,
            self.facts,
            (*self.demand.extended.notes(), *self._doubled(), *_notes(self.pod)),
            tuple(self.demand.entries),
            groups,
            explanations,
        )

    def _doubled(self) -> Iterator[Fact]:
        """Say which claims count twice, as in upstream 1.37.2."""
        named: dict[str, list[str]] = {}
        for entry in self.demand.entries if not self.state.fixed else ():
            if _waits(entry):
                named.setdefault(entry.key, []).append(entry.name)
        for key, names in named.items():
            if len(names) > 1:
                entries = " and ".join(f"`{name}`" for name in names)
                message = (
                    f"claim entries {entries} are one claim, `{key}`: its devices are asked for {len(names)} times"
                )
                hint = "name it in one entry; several containers can refer to that"
                yield Fact("claim-counted-twice", message, {"claim": key, "entries": names}, hint)


_HELD = frozenset(
    {
        "admin-access-label-missing",
        "binding-conditions",
        "claim-deleting",
        "claim-missing",
        "claim-not-created",
        "claim-not-owned",
        "claim-source-missing",
        "pod-deleting",
        "scheduling-gates",
        "template-missing",
    }
)
"""Facts that keep the scheduler from trying the pod at all."""


def _waits(entry: Entry) -> bool:
    return entry.claim is not None and entry.allocation is None


def _settled(state: State, pod: Object, entries: Sequence[Entry]) -> Answer:
    """Say what a pod has that is on a node, or has ended."""
    at = pod["spec"].get("nodeName")
    phase = (pod.get("status") or {}).get("phase")
    facts = []
    ended = is_terminal(pod)
    if at and not ended:
        if at not in state.nodes:
            facts.append(Fact("node-missing", f"the pod is bound to node `{at}`, which does not exist", {"node": at}))
        facts += [fact for entry in entries for fact in entry.facts]
        facts += [
            Fact(
                "claim-not-allocated",
                f"the pod is bound to node `{at}`, but claim `{entry.key}` is not allocated: the kubelet waits for it",
                {"claim": entry.key, "node": at},
                "do not set `spec.nodeName`: only the scheduler allocates claims; to ask for a node use a nodeSelector",
            )
            for entry in entries
            if _waits(entry)
        ]
    verdict = "finished" if ended else "held" if facts else "scheduled"
    title = f"pod {key_of(pod)} has ended ({phase})" if ended else f"pod {key_of(pod)} is on node `{at}`"
    named = (state.kubernetes, state.compatibility)
    return Answer("pod", key_of(pod), verdict, title, *named, tuple(facts), claims=tuple(entries), node=at)


def _holding(pod: Object) -> Iterator[Fact]:
    if pod["metadata"].get("deletionTimestamp") is not None:
        yield Fact("pod-deleting", "the pod is being deleted")
    gates = [gate["name"] for gate in pod["spec"].get("schedulingGates") or ()]
    if gates:
        named = ", ".join(f"`{gate}`" for gate in gates)
        hint = "whoever set it has to remove it from `spec.schedulingGates`"
        yield Fact("scheduling-gates", f"the pod waits for its scheduling gates: {named}", {"gates": gates}, hint)


def _notes(pod: Object) -> Iterator[Fact]:
    fields = list(unsupported_fields(pod))
    if fields:
        named = ", ".join(f"`{field}`" for field in fields)
        yield Fact("not-checked", f"not looked at: {named}", {"fields": fields})
    condition = condition_of(pod, "PodScheduled")
    message = str((condition or {}).get("message") or "").partition(_OURS)[0]
    if message:
        name = pod["spec"].get("schedulerName") or "default-scheduler"
        yield Fact("scheduler-said", f"scheduler `{name}` said: {message}", {"scheduler": name})


def _excluded_groups(demand: Demand, excluded: Mapping[str, list[Fact]]) -> Iterator[Group]:
    tried = demand.tried(list(excluded))
    fitting, told = frozenset(tried.fitting), bool(tried.evaluations)
    found: dict[tuple[Any, ...], list[str]] = {}
    for name, facts in excluded.items():
        same = tuple((fact.code, fact.general or fact.message) for fact in facts)
        found.setdefault((same, told and name in fitting), []).append(name)
    for (_, fit), names in found.items():
        joint = tuple(map(_joint, zip(*(excluded[name] for name in names), strict=True)))
        if len(joint) > 1 or (told and not fit):  # what is hinted at would not be enough
            joint = tuple(replace(fact, hint=None) for fact in joint)
        yield Group(tuple(names), "excluded", joint, fit if told else None)


def _joint(facts: Sequence[Fact]) -> Fact:
    """Return one fact for those of several nodes, with the details that they share."""
    first, *others = facts
    if all(other.message == first.message for other in others):
        return first
    shared = {
        name: value
        for name, value in first.details.items()
        if all(other.details.get(name) == value for other in others)
    }
    return Fact(first.code, first.general, shared, first.hint)


def _title(pod: Object, verdict: str, fitting: int = 0, names: Sequence[str] = ()) -> str:
    name, total = f"pod {key_of(pod)}", len(names)
    match verdict:
        case "fits":
            return f"{name} fits on {fitting} of {counted(total, 'node')}"
        case "held":
            after = f"; without that it would fit on {fitting} of {counted(total, 'node')}" if total else ""
            return f"{name} is held back: the scheduler does not try it{after}"
        case "failed":
            return f"{name} cannot be scheduled: the attempt ends with an error"
        case _ if total == 1:
            return f"{name} cannot be scheduled: it does not fit on node `{names[0]}`"
        case _ if total:
            return f"{name} cannot be scheduled: it fits on none of {counted(total, 'node')}"
        case _:
            return f"{name} cannot be scheduled"
