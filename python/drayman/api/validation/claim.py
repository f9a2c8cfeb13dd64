"""Rules about ResourceClaim and ResourceClaimTemplate: what is asked for.

Source: `pkg/apis/resource/validation`, and `pkg/registry/resource` for admin access. What happens to a claim later is
in :mod:`drayman.api.validation.claim_status`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from drayman.api import schema
from drayman.api.field import Path, forbidden, invalid, not_supported, required, too_many
from drayman.api.validation import names
from drayman.api.validation.configuration import device_configuration
from drayman.api.validation.context import Context
from drayman.api.validation.device_names import declared_qualified_name
from drayman.api.validation.metadata import descriptive_metadata, metadata, metadata_update, owner_references
from drayman.api.validation.rules import (
    Errors,
    declared,
    declared_list,
    declared_set,
    each,
    matching,
    repeated,
    required_matching,
)
from drayman.api.validation.selectors import MAX_COST, checked_expression, selectors
from drayman.api.validation.tolerations import device_toleration
from drayman.names import ADMIN_ACCESS

ADMIN_LABEL = ADMIN_ACCESS
SPEC = Path("spec")
_MAX = 32
_MAX_ALTERNATIVES = 8
_UNKNOWN_REQUEST = (
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
)


def claim(obj: Mapping[str, Any], context: Context) -> Errors:
    """A new ResourceClaim."""
    spec = obj.get("spec") or {}
    yield from _admin_access(spec, context)
    yield from metadata(obj.get("metadata") or {}, namespaced=True)
    yield from claim_spec(SPEC, spec, context)


def claim_update(new: Mapping[str, Any], old: Mapping[str, Any], context: Context) -> Errors:
    """The spec of a claim never changes."""
    yield from metadata(new.get("metadata") or {}, namespaced=True)
    yield from metadata_update(new.get("metadata") or {}, old.get("metadata") or {})
    if new.get("spec") != old.get("spec"):
        yield from declared([invalid(SPEC, None, "field is immutable")])


def claim_template(obj: Mapping[str, Any], context: Context) -> Errors:
    """A new ResourceClaimTemplate."""
    template = obj.get("spec") or {}
    yield from _admin_access(template.get("spec") or {}, context)
    yield from metadata(obj.get("metadata") or {}, namespaced=True)
    described = template.get("metadata") or {}
    yield from descriptive_metadata(SPEC.child("metadata"), described)
    yield from owner_references(SPEC.child("metadata", "ownerReferences"), described.get("ownerReferences") or ())
    for name in ("name", "generateName", "namespace", "finalizers"):
        if described.get(name):
            yield forbidden(SPEC.child("metadata", name), "cannot be set")
    yield from claim_spec(SPEC.child("spec"), template.get("spec") or {}, context)


def claim_template_update(new: Mapping[str, Any], old: Mapping[str, Any], context: Context) -> Errors:
    """The spec of a template never changes."""
    yield from metadata_update(new.get("metadata") or {}, old.get("metadata") or {})
    if new.get("spec") != old.get("spec"):
        shown = schema.ordered("resource.v1.ResourceClaimTemplateSpec", new.get("spec"))
        yield invalid(SPEC, shown, "field is immutable")


def _admin_access(spec: Mapping[str, Any], context: Context) -> Errors:
    """Admin access is for namespaces with the label. The path of a template is that of a claim, as upstream has it."""
    for index, request in enumerate((spec.get("devices") or {}).get("requests") or ()):
        if (request.get("exactly") or {}).get("adminAccess"):
            yield from admin_access(Path("spec.devices.requests").index(index).child("adminAccess"), context)
            return


def admin_access(path: Path, context: Context) -> Errors:
    """The namespace permits admin access."""
    if context.namespace_labels.get(ADMIN_LABEL) != "true":
        text = f"admin access to devices requires the `{ADMIN_LABEL}: true` label on the containing namespace"
        yield forbidden(path, text)


@dataclass(frozen=True, slots=True)
class RequestNames:
    """The names by which parts of a claim refer to its requests: `request` or `request/alternative`."""

    names: frozenset[str]

    @classmethod
    def of(cls, devices: Mapping[str, Any]) -> RequestNames:
        """Collect the names of the requests in `spec.devices`."""
        found = set()
        for request in devices.get("requests") or ():
            name = request.get("name", "")
            found.add(name)
            found.update(f"{name}/{part.get('name', '')}" for part in request.get("firstAvailable") or ())
        return cls(frozenset(found))

    def reference(self, path: Path, name: str) -> Errors:
        """The value names a request or an alternative of the claim."""
        parts = name.split("/")
        if len(parts) > 2:
            yield invalid(path, name, _UNKNOWN_REQUEST)
            return
        for part in parts:
            yield from matching(path, part, names.dns_label)
        if name not in self.names:
            yield invalid(path, name, _UNKNOWN_REQUEST)

    def references(self, path: Path, value: Sequence[str] | None) -> Errors:
        """The values name requests, none of them twice."""
        yield from declared_set(path, value, _MAX, self.reference)


def claim_spec(path: Path, spec: Mapping[str, Any], context: Context) -> Errors:
    """The requests of a claim, the constraints between them, and configuration."""
    devices = spec.get("devices") or {}
    path = path.child("devices")
    known = RequestNames.of(devices)
    request = _RequestRules(_constrained_attributes(devices), context)
    yield from declared_set(
        path.child("requests"),
        devices.get("requests"),
        _MAX,
        request.request,
        key=lambda item: item.get("name", ""),
        shown=lambda item: schema.ordered("resource.v1.DeviceRequest", item),
    )

    def constraint(path: Path, value: Mapping[str, Any]) -> Errors:
        yield from _constraint(path, value, known, context)

    def configuration(path: Path, value: Mapping[str, Any]) -> Errors:
        yield from known.references(path.child("requests"), value.get("requests"))
        yield from device_configuration(path, value)

    yield from declared_list(path.child("constraints"), devices.get("constraints"), _MAX, constraint)
    yield from declared_list(path.child("config"), devices.get("config"), _MAX, configuration)
    if sum(request.costs) > MAX_COST:
        text = "too complex, total cost of derived attribute CEL expressions in the claim exceeds cost limit"
        yield forbidden(path, text)


def _constraint(path: Path, constraint: Mapping[str, Any], known: RequestNames, context: Context) -> Errors:
    yield from known.references(path.child("requests"), constraint.get("requests"))
    if constraint.get("matchAttribute") is not None:
        yield from declared_qualified_name(path.child("matchAttribute"), constraint["matchAttribute"])
    elif constraint.get("distinctAttribute") is not None:
        yield from declared_qualified_name(path.child("distinctAttribute"), constraint["distinctAttribute"])
    elif "DRAConsumableCapacity" in context.gates:
        # Upstream says "multiple" where none is set.
        text = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
        yield required(path, text)
    else:
        yield required(path.child("matchAttribute"))


def _constrained_attributes(devices: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
    """Return pairs of request (empty: all) and attribute for which the claim has a constraint."""
    pairs: set[tuple[str, str]] = set()
    for constraint in devices.get("constraints") or ():
        attribute = constraint.get("matchAttribute") or constraint.get("distinctAttribute")
        if attribute:
            pairs.update((name, attribute) for name in constraint.get("requests") or [""])
    return frozenset(pairs)


@dataclass(frozen=True, slots=True)
class _RequestRules:
    """Rules about requests, which depend on the constraints of their claim."""

    constrained: frozenset[tuple[str, str]]
    context: Context
    costs: list[int] = field(default_factory=list)
    """Of the expressions of derived attributes, as far as they were checked."""

    def request(self, path: Path, request: Mapping[str, Any]) -> Errors:
        yield from matching(path.child("name"), request.get("name", ""), names.dns_label)
        exactly, alternatives = request.get("exactly"), request.get("firstAvailable")
        rule = "exactly one of `exactly` or `firstAvailable` is required"
        if exactly is not None and alternatives:
            yield invalid(path, None, f"{rule}, but multiple fields are set")
        elif alternatives:
            yield from self._alternatives(path.child("firstAvailable"), request.get("name", ""), alternatives)
        elif exactly is not None:
            yield from self._exactly(path.child("exactly"), request.get("name", ""), exactly)
        else:
            yield required(path, rule)

    def _alternatives(self, path: Path, name: str, value: Sequence[Any]) -> Errors:
        def alternative(path: Path, value: Mapping[str, Any]) -> Errors:
            yield from matching(path.child("name"), value.get("name", ""), names.dns_label)
            class_name = value.get("deviceClassName")
            yield from declared(required_matching(path.child("deviceClassName"), class_name, names.dns_subdomain))
            yield from self._common(path, f"{name}/{value.get('name', '')}", value)

        yield from declared_set(
            path,
            value,
            _MAX_ALTERNATIVES,
            alternative,
            key=lambda item: item.get("name", ""),
            shown=lambda item: schema.ordered("resource.v1.DeviceSubRequest", item),
        )

    def _exactly(self, path: Path, name: str, value: Mapping[str, Any]) -> Errors:
        yield from required_matching(path.child("deviceClassName"), value.get("deviceClassName"), names.dns_subdomain)
        yield from self._common(path, name, value)

    def _common(self, path: Path, name: str, value: Mapping[str, Any]) -> Errors:
        yield from selectors(path.child("selectors"), value.get("selectors"), self.context)
        yield from self._derived_attributes(path.child("derivedAttributes"), name, value.get("derivedAttributes") or ())
        yield from _allocation_mode(path, value)
        yield from each(path.child("tolerations"), value.get("tolerations"), device_toleration)

    def _derived_attributes(self, path: Path, request: str, value: Sequence[Mapping[str, Any]]) -> Errors:
        if len(value) > _MAX:
            yield from declared([too_many(path, len(value), _MAX)])
        for index, attribute in enumerate(value):
            yield from self._derived_attribute(path.index(index), request, attribute)
        yield from repeated(path, value, key=lambda item: item.get("name"), shown=lambda item: item.get("name"))

    def _derived_attribute(self, path: Path, request: str, attribute: Mapping[str, Any]) -> Errors:
        name = attribute.get("name", "")
        if not name:
            yield from declared([required(path.child("name"))])
        else:
            targets = ("", request, request.partition("/")[0])
            if not any((target, name) in self.constrained for target in targets):
                text = (
                    "must be referenced by at least one matchAttribute or distinctAttribute "
                    "constraint targeting this request"
                )
                yield invalid(path.child("name"), name, text)
            yield from declared_qualified_name(path.child("name"), name)
        expression = attribute.get("expression")
        if not expression:
            yield from declared([required(path.child("expression"))])
        else:
            yield from checked_expression(path.child("expression"), expression, self.context, costs=self.costs)


def _allocation_mode(path: Path, request: Mapping[str, Any]) -> Errors:
    mode, count = request.get("allocationMode", ""), request.get("count", 0)
    if mode == "All":
        if count != 0:
            yield invalid(path.child("count"), count, "must not be specified when allocationMode is 'All'")
    elif mode == "ExactCount":
        if count <= 0:
            yield invalid(path.child("count"), count, "must be greater than zero")
    else:
        yield from declared([not_supported(path.child("allocationMode"), mode, ("All", "ExactCount"))])
