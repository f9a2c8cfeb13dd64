"""The answer to "why": a verdict, facts, and what holds on which nodes; as one line, as a tree and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from drayman.reasons import layout
from drayman.reasons.facts import Fact, counted, named
from drayman.reasons.layout import Branch

if TYPE_CHECKING:
    from drayman.explain import Explanation
    from drayman.reasons.claims import Entry

LINE_LIMIT = 300
"""Bytes of a line."""

FAILED = "allocation-failed"
"""The code of an error that ends the whole attempt."""

GOOD = frozenset({"fits", "scheduled", "allocated", "finished"})
"""Verdicts that are not a no."""

_MOST_GROUPS = 8
"""How many groups of nodes of one kind a tree has; the JSON has all."""


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes for which the same holds.

    `verdict` is `excluded` (the scheduler does not look at their devices, for `facts`) or `fits`; `devices`
    are those that each claim entry would get, `claims_fit` tells whether the claims would fit on nodes that are
    excluded.
    """

    nodes: tuple[str, ...]
    verdict: str
    facts: tuple[Fact, ...] = ()
    claims_fit: bool | None = None
    devices: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def json(self) -> dict[str, Any]:
        """Return the group as JSON."""
        return {
            "nodes": list(self.nodes),
            "verdict": self.verdict,
            **({"facts": [fact.json() for fact in self.facts]} if self.facts else {}),
            **({"claimsFit": self.claims_fit} if self.claims_fit is not None else {}),
            **({"devices": {name: list(devices) for name, devices in self.devices.items()}} if self.devices else {}),
        }


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """Why `name` ("namespace/name", of the given kind) is where it is, or nowhere.

    `verdict`: `scheduled` (on `node`), `finished`, `allocated` (a claim) or `fits`; `held` (the scheduler does not try
    the pod), `unschedulable`, `unallocatable` (a claim) or `failed` (the attempt ends with an error). `title` says it.
    `facts` stand against it on every node, `groups` and `explanations` tell of nodes, `notes` do not decide anything;
    `pods` are the answers for the pods of a workload.
    """

    kind: str
    name: str
    verdict: str
    title: str
    kubernetes: str
    compatibility: str
    facts: tuple[Fact, ...] = ()
    notes: tuple[Fact, ...] = ()
    claims: tuple[Entry, ...] = ()
    groups: tuple[Group, ...] = ()
    explanations: tuple[Explanation, ...] = ()
    node: str | None = None
    pods: tuple[Answer, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether all is well: it fits, or has what it needs."""
        return self.verdict in GOOD

    def __bool__(self) -> bool:
        """Whether all is well, as `fits`."""
        return self.fits

    def __repr__(self) -> str:
        return f"<Answer: {self.kind} {self.name} {self.verdict}: {self.line()}>"

    def line(self) -> str:
        """Return one line of at most 300 bytes, about the nodes that are nearest to fitting."""
        return _cut("; ".join([*self._reasons()][:3]) or self.title)

    def tree(self, width: int = layout.WIDTH) -> str:
        """Return a text of lines of at most `width` columns."""
        return layout.render(self.title, self._branches(), width)

    def json(self) -> dict[str, Any]:
        """Return the answer as JSON, as `docs/explain.md` describes it."""
        return {
            "version": 1,
            "kubernetes": self.kubernetes,
            "compatibility": self.compatibility,
            **self.content(),
        }

    def content(self) -> dict[str, Any]:
        """Return what :meth:`json` says of this object, without what holds for the whole output."""
        explained = [group for each in self.explanations for group in each.json()["groups"]]
        members: dict[str, Any] = {
            self.kind: self.name,
            "verdict": self.verdict,
            "message": self.line(),
            "node": self.node,
            "claims": [_claim_json(entry) for entry in self.claims],
            "facts": [fact.json() for fact in self.facts],
            "notes": [note.json() for note in self.notes],
            "groups": [
                *(group.json() for group in self.groups),
                *(_explained(group) for group in explained),
            ],
            "pods": [pod.content() for pod in self.pods],
        }
        always = {self.kind, "verdict", "message", "facts"}
        return {name: value for name, value in members.items() if value or name in always}

    def _reasons(self) -> Sequence[str]:
        if self.verdict in GOOD:
            return ()
        if self.pods:
            return [pod.line() for pod in self.pods if not pod.fits][:1]
        if self.facts:
            return [self._brief(fact) for fact in self.facts]
        excluded = sorted((one for one in self.groups if one.verdict == "excluded"), key=_distance)
        texts = [f"{_on(one.nodes)}: {', '.join(fact.message for fact in one.facts)}" for one in excluded]
        explained = [each.line() for each in self.explanations]
        if excluded and explained and not excluded[0].claims_fit:
            # Nodes that lack devices are nearer to fitting than those that lack them and are ruled out besides.
            count = sum(len(group.nodes) for group in excluded)
            return [*explained[:1], f"{counted(count, 'other node')} {'is' if count == 1 else 'are'} ruled out"]
        return [*texts[:1], f"others: {explained[0]}", *texts[1:]] if excluded and explained else explained or texts

    def _brief(self, fact: Fact) -> str:
        """Return what a fact says; upstream's advice on a selector that fails gives way to what it comes to."""
        groups = [group for each in self.explanations if fact.code == FAILED for group in each.json()["groups"]]
        guarded = next((group["error"]["guarded"] for group in groups if group.get("error", {}).get("guarded")), None)
        return f"{fact.message.split('. consider using')[0]}; write it as `{guarded}`" if guarded else fact.message

    def _branches(self) -> list[Branch]:
        found = [Branch(text) for text in _claim_texts(self.claims)]
        # What ends the attempt is told once, at the nodes where it arises.
        found += [_fact_branch(fact) for fact in self.facts if fact.code != FAILED or not self.explanations]
        found += [_fact_branch(note) for note in self.notes if note.code != "scheduler-said" or self.fits]
        for verdict in _ORDER:
            found += _few([_group_branch(group, self.fits) for group in self.groups if group.verdict == verdict])
        for explanation in self.explanations:
            found += _few(layout.parse(explanation.tree()))
        return [*found, *_pod_branches(self.pods)]


_ORDER = ("fits", "excluded")


def _few(groups: list[Branch]) -> list[Branch]:
    """Return the first groups of nodes, and how many more there are."""
    more = len(groups) - _MOST_GROUPS
    return [*groups[:_MOST_GROUPS], *([Branch(f"{counted(more, 'more group')} of nodes")] if more > 0 else [])]


def _distance(group: Group) -> tuple[bool, int]:
    return (group.claims_fit is False, len(group.facts))


def _on(nodes: tuple[str, ...]) -> str:
    return f"{'node' if len(nodes) == 1 else counted(len(nodes), 'node') + ':'} {named(nodes)}"


def _fact_branch(fact: Fact) -> Branch:
    return Branch(fact.message, [Branch(f"hint: {fact.hint}")] if fact.hint else [])


def _group_branch(group: Group, fits: bool) -> Branch:
    where = _on(group.nodes)
    if group.verdict == "fits":
        gets = ((f"`{name}` gets " if name else "", devices) for name, devices in group.devices.items())
        what = "; ".join(f"{who}{', '.join(devices)}" for who, devices in gets)
        return Branch(f"{'fits' if fits else 'would fit'} on {where}" + (f": {what}" if what else ""))
    fitting = {True: ", where its claims would fit", False: ", where its claims would not fit either"}
    more = fitting.get(group.claims_fit, "") if group.claims_fit is not None else ""
    return Branch(f"ruled out: {where}{more}", list(map(_fact_branch, group.facts)))


def _pod_branches(pods: Sequence[Answer]) -> list[Branch]:
    """Return the answers for pods; those for which the same holds are told once."""
    found: list[tuple[str, Answer, list[str]]] = []
    for pod in pods:
        told = next((one for one in found if not pod.fits and one[0] == pod.line()), None)
        if told:
            told[2].append(pod.name)
        else:
            found.append((pod.line(), pod, []))
    branches = []
    for _, pod, likewise in found:
        same = (
            [Branch(f"the same holds for {counted(len(likewise), 'more pod')}: {named(likewise)}")] if likewise else []
        )
        branches.append(Branch(pod.title, [*pod._branches(), *same]))
    return branches


def _claim_texts(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield a text for each claim; those of one template that wait are told together."""
    together: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.claim is None and entry.facts:
            continue  # the facts say what is wrong
        is_alike = entry.claim and entry.template and not entry.allocation
        together.setdefault(f"template {entry.template}" if is_alike else f"entry {entry.name}", []).append(entry)
    for alike in together.values():
        if len(alike) == 1:
            yield _claim_text(alike[0])
        else:
            those = f"{named([entry.name for entry in alike])}: {len(alike)} claims"
            template = f"from template `{alike[0].template}`"
            yield f"{those}, {'' if alike[0].exists else 'to be made '}{template}, not allocated yet"


def _claim_text(entry: Entry) -> str:
    if not entry.claim:
        return f"`{entry.name}`: needs no claim"
    if not entry.exists:
        return f"`{entry.name}`: claim `{entry.key}`, to be made from template `{entry.template}`"
    origin = f", from template `{entry.template}`" if entry.template else ""
    state = f"allocated: {', '.join(entry.devices)}" if entry.allocation else "not allocated yet"
    name = f"`{entry.name}`: " if entry.name else ""
    return f"{name}claim `{entry.key}`{origin}, {state}"


def _claim_json(entry: Entry) -> dict[str, Any]:
    members = {
        "name": entry.name,
        "claim": entry.key,
        "template": entry.template,
        "devices": entry.devices,
    }
    return {**{name: value for name, value in members.items() if value}, "exists": entry.exists and bool(entry.claim)}


def _explained(group: Mapping[str, Any]) -> dict[str, Any]:
    """Return a group of the kernel's explanation with its verdict."""
    return {"nodes": group["nodes"], "verdict": "failed" if "error" in group else "unallocatable", **group}


def _cut(text: str) -> str:
    """Return `text` in one line of at most 300 bytes."""
    text = " ".join(text.split())
    data = text.encode()
    if len(data) <= LINE_LIMIT:
        return text
    return data[: LINE_LIMIT - 4].decode(errors="ignore") + " ..."
