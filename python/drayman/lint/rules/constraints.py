"""What claims ask for, seen beside the devices that there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.lint.context import finding
from drayman.lint.looks import STANDARD, similar
from drayman.lint.rule import Severity, rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drayman.lint.context import Context
    from drayman.lint.rule import Findings
    from drayman.lint.views import ClaimView, RequestView

_STANDARD_NAMES = frozenset({"numaNode", "pciBusID", "pcieRoot"})
"""The attributes that Kubernetes itself defines."""
_CLASS = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: nic}
spec:
  selectors:
  - cel: {expression: "device.driver == 'nic.example.com'"}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: worker-1}
spec:
  driver: nic.example.com
  nodeName: worker-1
  pool: {name: worker-1, generation: 1, resourceSliceCount: 1}
  devices:
  - name: nic-0
    attributes: {numaNode: {int: 0}, port: {int: 0}}
  - name: nic-1
    attributes: {numaNode: {int: 0}, port: {int: 1}}
---
"""
_CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: links}
spec:
  devices:
    requests:
    - {name: first, exactly: {deviceClassName: nic}}
    - {name: second, exactly: {deviceClassName: nic}}
    constraints:
    - matchAttribute: nic.example.com/numaNode
"""


@rule(
    "constraint-attribute-not-published",
    Severity.ERROR,
    summary="a constraint is over an attribute that no device of a request has",
    why="""
A device without the attribute is never chosen for a request under the constraint, so the claim can be allocated
nowhere. Often drivers publish the same fact under different names: `pciRoot` of the driver's own domain is not
`resource.kubernetes.io/pcieRoot`. The rule looks at the ResourceSlices among the files and in `--with`; where there are
none, at what the public drivers publish whose classes are asked for, and only warns.
""",
    bad=_CLASS + _CLAIM.replace("numaNode", "numa"),
    good=_CLASS + _CLAIM,
)
def constraint_attribute_not_published(context: Context) -> Findings:
    """Look for the attribute of each constraint on the devices of each request that it is about."""
    for claim in context.claims():
        for index, constraint in enumerate(claim.devices.get("constraints") or ()):
            for field in ("matchAttribute", "distinctAttribute"):
                attribute = constraint.get(field)
                if "/" not in (attribute or ""):
                    continue  # what the API server says of
                for request in claim.requests_named(constraint.get("requests")):
                    found = _missing(context, request, attribute)
                    if found is not None:
                        path = f"{claim.path}.devices.constraints[{index}].{field}"
                        # Of alternatives another one may still fit.
                        certain = request.name == request.base and context.devices
                        severity = None if certain else Severity.WARNING
                        yield finding(claim, path, *found, severity=severity)
                        break


def meant(context: Context, claim: ClaimView, bare: str) -> str | None:
    """Return the attribute with its domain that is meant by a name alone, as far as that is known."""
    for request in claim.requests():
        public = _public(context, request)
        found = _similar(bare, sorted(context.candidate_attributes(request) or (public[1] if public else ())))
        if found is not None:
            return found
    return f"{STANDARD}/{bare}" if bare in _STANDARD_NAMES else None


def _missing(context: Context, request: RequestView, attribute: str) -> tuple[str, str | None] | None:
    """Return message and hint when no device of the request has the attribute."""
    derived = {one.get("name") for one in request.fields.get("derivedAttributes") or ()}
    if attribute in derived:
        return None
    devices, public = context.candidates(request), _public(context, request)
    published = context.candidate_attributes(request) if devices else public[1] if public else None
    if published is None or attribute in published:
        return None
    names = " and ".join(sorted({device.driver for device in devices})) if devices else public[0] if public else ""
    message = f"no device of driver {names} has {attribute}"
    near = _similar(attribute, sorted(published))
    if near:
        message += f" (did you mean {near}?)"
    return message, f"request `{request.name}` can be given only devices with the attribute"


def _public(context: Context, request: RequestView) -> tuple[str, frozenset[str]] | None:
    """Return the public driver whose class is asked for, and what it publishes, where no slices are given."""
    found = context.public(request)
    if found is None:
        return None
    driver, kind = found
    attributes = (one for one in kind.published if one.section == "attributes")
    return driver.name, frozenset(f"{one.domain}/{one.name}" for one in attributes)


def _similar(attribute: str, published: Sequence[str]) -> str | None:
    """Return the published attribute whose bare name is the same, goes on from there, or is nearly the same."""
    name, bare = attribute.rpartition("/")[2], {one.rpartition("/")[2]: one for one in published}
    if name in bare:
        return bare[name]
    longer = [one for one in bare if len(name) > 2 and one.lower().startswith(name.lower())]
    near = longer[0] if len(longer) == 1 else similar(name, bare)
    return bare[near] if near else None


@rule(
    "shared-device-may-repeat",
    Severity.WARNING,
    summary="two requests of a claim may be given the same shared device",
    why="""
A device with `allowMultipleAllocations` can be given several times, also to one claim: two network interfaces for
redundancy may come from one card. `distinctAttribute` over an attribute that differs from device to device keeps them
apart. The rule looks at requests that ask for the same, without alternatives, and at counts.
""",
    bad=(_CLASS + _CLAIM)
    .replace("  - name: nic-", "  - allowMultipleAllocations: true\n    name: nic-")
    .replace("    constraints:\n    - matchAttribute: nic.example.com/numaNode\n", ""),
    good=(_CLASS + _CLAIM)
    .replace("  - name: nic-", "  - allowMultipleAllocations: true\n    name: nic-")
    .replace("matchAttribute: nic.example.com/numaNode", "distinctAttribute: nic.example.com/port"),
)
def shared_device_may_repeat(context: Context) -> Findings:
    """Find claims for several devices that a common shared device could all be, and nothing keeps apart."""
    if "DRAConsumableCapacity" not in context.gates:
        return
    for claim in context.claims():
        shared: list[tuple[RequestView, set[str]]] = []
        for request in claim.requests():
            if request.name != request.base:
                continue
            devices = context.selected(request) or ()
            names = {one.name for one in devices if one.fields.get("allowMultipleAllocations")}
            if names and len(devices) > 1 and request.mode == "ExactCount" and not request.fields.get("adminAccess"):
                shared.append((request, names))
        pair = _pair(claim, shared)
        if pair is not None:
            what = (
                f"requests `{pair[0]}` and `{pair[1]}`" if pair[0] != pair[1] else f"the devices of request `{pair[0]}`"
            )
            message = f"{what} may be the same shared device"
            hint = "add a constraint with `distinctAttribute`, if they are to be different devices"
            yield finding(claim, f"{claim.path}.devices.requests", message, hint)


def _pair(claim: ClaimView, shared: Sequence[tuple[RequestView, set[str]]]) -> tuple[str, str] | None:
    for index, (request, names) in enumerate(shared):
        if request.count > 1 and not _kept_apart(claim, request, request):
            return request.name, request.name
        for other, others in shared[index + 1 :]:
            if request.fields == other.fields and names & others and not _kept_apart(claim, request, other):
                return request.name, other.name
    return None


def _kept_apart(claim: ClaimView, one: RequestView, other: RequestView) -> bool:
    return any(
        constraint.get("distinctAttribute")
        and {one.name, other.name} <= {named.name for named in claim.requests_named(constraint.get("requests"))}
        for constraint in claim.devices.get("constraints") or ()
    )
