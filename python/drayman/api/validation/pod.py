"""Rules about pods as wholes: what a new one may have, and what may change later.

Source: `pkg/apis/core/validation`.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from drayman.api import schema
from drayman.api.field import Path, forbidden, invalid, required
from drayman.api.validation import names
from drayman.api.validation.context import Context
from drayman.api.validation.metadata import metadata, metadata_update
from drayman.api.validation.pod_claims import claim_statuses, extended_resource_claim
from drayman.api.validation.pod_spec import pod_spec
from drayman.api.validation.rules import Errors, matching, not_negative, unchanged

SPEC = Path("spec")
STATUS = Path("status")
_CHANGEABLE = (
    "`spec.containers[*].image`",
    "`spec.initContainers[*].image`",
    "`spec.activeDeadlineSeconds`",
    "`spec.tolerations` (only additions to existing tolerations)",
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
)
_FREE = ("activeDeadlineSeconds", "tolerations", "schedulingGates")


def pod(obj: Mapping[str, Any], context: Context) -> Errors:
    """A new pod."""
    spec = obj.get("spec") or {}
    yield from _metadata_and_spec(obj)
    if spec.get("ephemeralContainers"):
        yield forbidden(SPEC.child("ephemeralContainers"), "cannot be set on create")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        yield forbidden(SPEC.child("nodeName"), "cannot be set until all schedulingGates have been cleared")


def _metadata_and_spec(obj: Mapping[str, Any]) -> Errors:
    described, spec = obj.get("metadata") or {}, obj.get("spec") or {}
    yield from metadata(described, namespaced=True)
    yield from pod_spec(SPEC, spec, described)
    yield from not_negative(SPEC.child("terminationGracePeriodSeconds"), spec.get("terminationGracePeriodSeconds"))


def pod_update(new: Mapping[str, Any], old: Mapping[str, Any], context: Context) -> Errors:
    """Little of a pod's spec can change."""
    spec, old_spec = new.get("spec") or {}, old.get("spec") or {}
    yield from metadata_update(new.get("metadata") or {}, old.get("metadata") or {})
    yield from _metadata_and_spec(new)
    for name in ("containers", "initContainers"):
        if len(spec.get(name) or ()) != len(old_spec.get(name) or ()):
            yield forbidden(SPEC.child(name), "pod updates may not add or remove containers")
            return
        yield from _images(SPEC.child(name), spec.get(name) or ())
    yield from _deadline(spec.get("activeDeadlineSeconds"), old_spec.get("activeDeadlineSeconds"))
    yield from _tolerations(spec.get("tolerations") or (), old_spec.get("tolerations") or ())
    yield from _gates(spec.get("schedulingGates") or (), old_spec.get("schedulingGates") or ())
    yield from _rest(_without_free_fields(spec), _without_free_fields(old_spec), gated=_is_gated(old_spec))


def _is_gated(spec: Mapping[str, Any]) -> bool:
    return bool(spec.get("schedulingGates"))


def _images(path: Path, containers: Sequence[Mapping[str, Any]]) -> Errors:
    for index, container in enumerate(containers):
        image = container.get("image", "")
        if not image:
            yield required(path.index(index).child("image"))
        if image.strip() != image:
            yield invalid(path.index(index).child("image"), image, "must not have leading or trailing whitespace")


def _deadline(new: int | None, old: int | None) -> Errors:
    path = SPEC.child("activeDeadlineSeconds")
    if new is None:
        if old is not None:
            yield invalid(path, None, "must not update from a positive integer to nil value")
    elif old is not None and old < new:
        yield invalid(path, new, "must be less than or equal to previous value")


def _tolerations(new: Sequence[Mapping[str, Any]], old: Sequence[Mapping[str, Any]]) -> Errors:
    kept = [{**toleration, "tolerationSeconds": None} for toleration in new]
    for toleration in old:
        if {**toleration, "tolerationSeconds": None} not in kept:
            text = "existing toleration can not be modified except its tolerationSeconds"
            yield forbidden(SPEC.child("tolerations"), text)
            return


def _gates(new: Sequence[Mapping[str, Any]], old: Sequence[Mapping[str, Any]]) -> Errors:
    known = {gate.get("name") for gate in old}
    for index, gate in enumerate(new):
        if gate.get("name") not in known:
            text = f"only deletion is allowed, but found new scheduling gate '{gate.get('name', '')}'"
            yield forbidden(SPEC.child("schedulingGates").index(index).child("name"), text)


def _without_free_fields(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the spec without what has rules of its own."""
    rest = {name: value for name, value in spec.items() if name not in _FREE}
    for name in ("containers", "initContainers"):
        if rest.get(name):
            rest[name] = [{**container, "image": ""} for container in rest[name]]
    return rest


def _rest(new: dict[str, Any], old: dict[str, Any], *, gated: bool) -> Errors:
    """All else is fixed; only a pod that is gated may still get requirements on nodes."""
    if gated:
        new = {**new, **{name: old.get(name) for name in ("nodeSelector", "affinity") if name in old or name in new}}
        new = {name: value for name, value in new.items() if value is not None}
    if (old.get("terminationGracePeriodSeconds") or 0) < 0 and new.get("terminationGracePeriodSeconds") == 1:
        new = {**new, "terminationGracePeriodSeconds": old["terminationGracePeriodSeconds"]}
    if new != old:
        text = f"pod updates may not change fields other than {','.join(_CHANGEABLE)}\n{_difference(old, new)}"
        yield forbidden(SPEC, text)


def _difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Return the lines in which two specs differ, with what is around them; the form is ours."""
    before, after = (
        json.dumps(schema.ordered("core.v1.PodSpec", dict(spec)), indent=2, ensure_ascii=False).splitlines()
        for spec in (old, new)
    )
    return "\n".join(list(difflib.unified_diff(before, after, n=1, lineterm=""))[3:])


def pod_status_update(new: Mapping[str, Any], old: Mapping[str, Any], context: Context) -> Errors:
    """What kubelets, schedulers and controllers report."""
    spec, status, old_status = new.get("spec") or {}, new.get("status") or {}, old.get("status") or {}
    yield from metadata_update(new.get("metadata") or {}, old.get("metadata") or {})
    if spec.get("nodeName") != (old.get("spec") or {}).get("nodeName"):
        yield forbidden(STATUS.child("nodeName"), "may not be changed directly")
    nominated = status.get("nominatedNodeName")
    if nominated and nominated != old_status.get("nominatedNodeName"):
        yield from matching(STATUS.child("nominatedNodeName"), nominated, names.dns_subdomain)
    if old_status.get("qosClass"):
        yield from unchanged(STATUS.child("qosClass"), status.get("qosClass"), old_status["qosClass"])
    yield from claim_statuses(STATUS.child("resourceClaimStatuses"), status.get("resourceClaimStatuses"), spec)
    path = STATUS.child("extendedResourceClaimStatus")
    yield from extended_resource_claim(path, status.get("extendedResourceClaimStatus"), spec)
