"""The claims of a pod: which ones they are, and what is wrong with them before any device is looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman import names, resourceclaim
from drayman.api import schema
from drayman.pods.objects import key_of
from drayman.reasons.facts import Fact, named
from drayman.reasons.state import Object, is_known_to_a_server

if TYPE_CHECKING:
    from drayman.reasons.state import State

RESERVED_FOR_LIMIT = 256
"""How many pods can share a claim."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of `spec.resourceClaims` and the claim behind it, which is made here when only its template is there.

    `facts` keep the pod from being scheduled, whatever devices there are. Without `claim` and `facts` the entry needs
    no claim.
    """

    name: str
    claim: Object | None = None
    template: str | None = None
    exists: bool = True
    facts: tuple[Fact, ...] = ()

    @property
    def key(self) -> str:
        """ "namespace/name" of the claim; empty when there is none."""
        return key_of(self.claim) if self.claim else ""

    @property
    def allocation(self) -> Object | None:
        """What the claim has."""
        return allocation_of(self.claim) if self.claim else None

    @property
    def devices(self) -> list[str]:
        """The devices that the claim has, "driver/pool/device"."""
        return devices_of(self.allocation)


def allocation_of(claim: Object) -> Object | None:
    """Return the allocation, if there is one."""
    return (claim.get("status") or {}).get("allocation") or None


def devices_of(allocation: Object | None) -> list[str]:
    """Return the allocated devices, "driver/pool/device"."""
    results = ((allocation or {}).get("devices") or {}).get("results") or ()
    return [f"{result['driver']}/{result['pool']}/{result['device']}" for result in results]


def entries(state: State, pod: Object) -> list[Entry]:
    """Return the entries of `pod`, in the order of its spec."""
    found: list[Entry] = []
    taken = set(state.of_kind("ResourceClaim"))
    for entry in pod["spec"].get("resourceClaims") or ():
        one = _entry(state, pod, entry, taken)
        taken.add(one.key)
        found.append(one)
    return found


def request_facts(state: State, claim: Object) -> Iterator[Fact]:
    """Yield what is wrong with the requests of a claim that is not allocated: classes that do not exist."""
    classes = state.of_kind("DeviceClass")
    for request, wanted in _wanted(claim):
        name = wanted.get("deviceClassName")
        if name and name not in classes:
            similar = schema.did_you_mean(name, list(classes))
            others = (
                f"there are: {', '.join(f'`{known}`' for known in classes)}" if classes else "there is no DeviceClass"
            )
            yield Fact(
                "class-missing",
                f"claim `{key_of(claim)}`, request `{request}`: DeviceClass `{name}` does not exist",
                {"claim": key_of(claim), "request": request, "class": name},
                f"did you mean `{similar}`?" if similar else others,
            )


def admin_access_facts(state: State, claim: Object, *, template: str | None = None) -> Iterator[Fact]:
    """Yield what keeps the API server from taking a claim that is not there yet."""
    requests = [request for request, wanted in _wanted(claim) if wanted.get("adminAccess")]
    name = claim["metadata"]["namespace"]
    namespace = state.get("Namespace", name)
    if not requests or namespace is None:
        return
    labels = namespace["metadata"].get("labels") or {}
    if labels.get(names.ADMIN_ACCESS) != "true":
        what = f"template `{template}`" if template else f"claim `{key_of(claim)}`"
        yield Fact(
            "admin-access-label-missing",
            f"request `{requests[0]}` of {what} asks for admin access, "
            f"which namespace `{name}` does not allow: the API server refuses the claim",
            {"claim": key_of(claim), "request": requests[0], "namespace": name, "label": names.ADMIN_ACCESS},
            f"label the namespace: kubectl label namespace {name} {names.ADMIN_ACCESS}=true",
        )


def _entry(state: State, pod: Object, entry: Object, taken: set[str]) -> Entry:
    name, namespace = entry.get("name", ""), pod["metadata"]["namespace"]
    template = entry.get("resourceClaimTemplateName")
    try:
        reference = resourceclaim.reference(pod, entry)
    except resourceclaim.ClaimNotCreatedError:
        return _from_template(state, pod, entry, taken)
    except resourceclaim.ClaimReferenceError as error:
        hint = "set `resourceClaimName` or `resourceClaimTemplateName`"
        return Entry(name, facts=(Fact("claim-source-missing", str(error), {"entry": name}, hint),))
    if reference is None:
        return Entry(name, template=template)
    key = f"{namespace}/{reference.name}"
    claim = state.get("ResourceClaim", key)
    if claim is None:
        return Entry(name, template=template, facts=(_missing_claim(state, name, key, template),))
    return Entry(name, claim, template, facts=tuple(_claim_facts(pod, name, claim, reference)))


def _claim_facts(pod: Object, entry: str, claim: Object, reference: resourceclaim.ClaimReference) -> Iterator[Fact]:
    details = {"entry": entry, "claim": key_of(claim)}
    where = f"claim entry `{entry}`: claim `{key_of(claim)}`"
    if claim["metadata"].get("deletionTimestamp") is not None:
        yield Fact("claim-deleting", f"{where} is being deleted", details)
    if reference.check_owner:
        try:
            resourceclaim.check_for_pod(pod, claim)
        except resourceclaim.ClaimReferenceError:
            owner = resourceclaim.controller_of(claim)
            whose = f"belongs to {owner['kind']} `{owner['name']}`" if owner else "belongs to no pod"
            hint = "delete the claim, or the pod: a new one gets a claim of its own"
            yield Fact("claim-not-owned", f"{where} was not made for this pod: it {whose}", details, hint)
    if resourceclaim.is_reserved_for(pod, claim):
        yield from binding_facts(claim)
    reserved = (claim.get("status") or {}).get("reservedFor") or ()
    if len(reserved) >= RESERVED_FOR_LIMIT and not resourceclaim.is_reserved_for(pod, claim):
        limit = f"{where} is in use by {len(reserved)} pods, and at most {RESERVED_FOR_LIMIT} can share a claim"
        yield Fact("claim-in-use", limit, details, "other pods need another claim")


def binding_facts(claim: Object) -> Iterator[Fact]:
    """Yield the allocated devices that are not ready yet: a scheduler waits for their binding conditions."""
    statuses = (claim.get("status") or {}).get("devices") or ()
    for result in ((allocation_of(claim) or {}).get("devices") or {}).get("results") or ():
        wanted = [*(result.get("bindingConditions") or ()), *(result.get("bindingFailureConditions") or ())]
        device = [result.get(name) for name in _IDENTITY]
        status: Object = next((one for one in statuses if [one.get(name) for name in _IDENTITY] == device), {})
        held = {one["type"]: one for one in status.get("conditions") or () if one.get("status") == "True"}
        failed = [name for name in result.get("bindingFailureConditions") or () if name in held]
        missing = [name for name in result.get("bindingConditions") or () if name not in held]
        if not wanted or not (failed or missing):
            continue
        name = f"{result['driver']}/{result['pool']}/{result['device']}"
        why = f"reports `{failed[0]}`" if failed else f"does not report {named(missing)} yet"
        message = f"claim `{key_of(claim)}`: device `{name}` is not ready: its driver {why}"
        details = {"claim": key_of(claim), "device": name, "missing": missing, "failed": failed}
        yield Fact("binding-conditions", message, details)


_IDENTITY = ("driver", "pool", "device", "shareID")


def _missing_claim(state: State, entry: str, key: str, template: str | None) -> Fact:
    details = {"entry": entry, "claim": key}
    if template:
        message = f"claim entry `{entry}`: claim `{key}`, made from template `{template}`, does not exist any more"
        return Fact("claim-missing", message, details, "delete the pod: a new one gets a claim of its own")
    hint = _hint(state, "ResourceClaim", key)
    if state.get("ResourceClaimTemplate", key) is not None:
        hint = "a ResourceClaimTemplate has that name: refer to it with `resourceClaimTemplateName`"
    return Fact("claim-missing", f"claim entry `{entry}`: ResourceClaim `{key}` does not exist", details, hint)


def _from_template(state: State, pod: Object, entry: Object, taken: set[str]) -> Entry:
    """Return the entry with the claim that its template is going to give."""
    name, metadata = entry["name"], pod["metadata"]
    key = f"{metadata['namespace']}/{entry['resourceClaimTemplateName']}"
    template = state.get("ResourceClaimTemplate", key)
    if template is None:
        return Entry(name, template=entry["resourceClaimTemplateName"], facts=(_missing_template(state, name, key),))
    claim = expand(template, f"{metadata['name']}-{name}", taken)
    facts = list(admin_access_facts(state, claim, template=key))
    if not facts and is_known_to_a_server(pod):
        message = f"claim entry `{name}`: the claim of template `{key}` is not created yet"
        hint = "the resourceclaim controller of kube-controller-manager makes it: see its events on the pod"
        facts.append(Fact("claim-not-created", message, {"entry": name, "template": key}, hint))
    return Entry(name, claim, entry["resourceClaimTemplateName"], exists=False, facts=tuple(facts))


def _missing_template(state: State, entry: str, key: str) -> Fact:
    hint = _hint(state, "ResourceClaimTemplate", key)
    if state.get("ResourceClaim", key) is not None:
        hint = "a ResourceClaim has that name: refer to it with `resourceClaimName`"
    message = f"claim entry `{entry}`: ResourceClaimTemplate `{key}` does not exist"
    return Fact("template-missing", message, {"entry": entry, "template": key}, hint)


def expand(template: Object, name: str, taken: set[str]) -> dict[str, Any]:
    """Return the claim that a template gives, called `name` where that is free; a server adds random letters."""
    namespace = template["metadata"]["namespace"]
    number, free = 1, name
    while f"{namespace}/{free}" in taken:
        number += 1
        free = f"{name}-{number}"
    inner = template.get("spec") or {}
    metadata = {key: value for key, value in (inner.get("metadata") or {}).items() if key in ("labels", "annotations")}
    return {
        "apiVersion": template["apiVersion"],
        "kind": "ResourceClaim",
        "metadata": {"name": free, "namespace": namespace, **metadata},
        "spec": inner.get("spec") or {},
    }


def _hint(state: State, kind: str, key: str) -> str:
    """Return the name that was meant, or those that there are."""
    keys = [known for known in state.of_kind(kind) if known.partition("/")[0] == key.partition("/")[0]]
    similar = similar_key(key, keys)
    if similar:
        return f"did you mean `{similar}`?"
    return f"there are: {named(keys)}" if keys else f"the namespace has no {kind}"


def similar_key(key: str, known: Iterable[str]) -> str | None:
    """Return the key that may have been meant: one of the same namespace with a similar name."""
    namespace, _, name = key.partition("/")
    siblings = [one.partition("/")[2] for one in known if one.partition("/")[0] == namespace]
    similar = schema.did_you_mean(name, siblings)
    return f"{namespace}/{similar}" if similar else None


def _wanted(claim: Object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield what asks for devices: requests, and the alternatives of requests that have some."""
    requests: Sequence[Object] = ((claim.get("spec") or {}).get("devices") or {}).get("requests") or ()
    for request in requests:
        if request.get("exactly"):
            yield request["name"], request["exactly"]
        for alternative in request.get("firstAvailable") or ():
            yield f"{request['name']}/{alternative['name']}", alternative
