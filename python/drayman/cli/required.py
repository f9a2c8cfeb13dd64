"""What an object has to have before it can be shown: of the fields that are read, those that the API server requires.

Objects of servers have them; files may not, and are told so with the place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from drayman.cli import claims as naming
from drayman.errors import InputError

if TYPE_CHECKING:
    from drayman.manifest import Manifest

_CONTAINERS = ("containers[].name", "initContainers[].name")
_POD_TEMPLATE = tuple(f"spec.template?.spec?.{path}" for path in _CONTAINERS)
_FIELDS = {
    "ResourceSlice": (
        "spec.driver",
        "spec.pool.name",
        "spec.devices[].name",
        "spec.devices[].consumesCounters[].counterSet",
        "spec.sharedCounters[].name",
    ),
    "ResourceClaim": (
        "spec.devices?.requests[].name",
        *(f"status?.allocation?.devices?.results[].{name}" for name in ("request", "driver", "pool", "device")),
        *(
            f"status?.allocation?.nodeSelector?.nodeSelectorTerms[].{terms}[].{name}"
            for terms in ("matchFields", "matchExpressions")
            for name in ("key", "operator")
        ),
        "status?.reservedFor[].resource",
        "status?.reservedFor[].name",
    ),
    "Pod": (
        *(f"spec?.{path}" for path in _CONTAINERS),
        "spec?.resourceClaims[].name",
        "status?.conditions[].type",
        "status?.conditions[].status",
        "status?.resourceClaimStatuses[].name",
        "status?.extendedResourceClaimStatus?.requestMappings[].containerName",
        "status?.extendedResourceClaimStatus?.requestMappings[].resourceName",
        "status?.extendedResourceClaimStatus?.requestMappings[].requestName",
    ),
    **dict.fromkeys(("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"), _POD_TEMPLATE),
}
"""Paths of required fields by kind; what is before `?` may be absent, and so may lists."""
_METADATA = ("metadata.ownerReferences[].kind", "metadata.ownerReferences[].name")


def checked(one: Manifest) -> Manifest:
    """Return the object with its namespace. Raises :class:`InputError` with the place of a field that is missing."""
    placed = naming.placed(one)
    for path in (*_METADATA, *_FIELDS.get(placed.object["kind"], ())):
        for missing in _missing(placed.object, path.split(".")):
            place = one.position(missing).line
            raise InputError("not set", file=one.file, line=place, object=placed.name, field=missing)
    return placed


def _missing(value: Any, steps: Sequence[str], at: str = "") -> Iterator[str]:
    """Yield the path of every field that is required below `value` and not there."""
    if not steps:
        return
    step, rest = steps[0], steps[1:]
    name = step.rstrip("?[]")
    here = f"{at}.{name}" if at else name
    inner = value.get(name) if isinstance(value, dict) else None
    if step.endswith("[]"):
        for index, item in enumerate(inner or []):
            yield from _missing(item, rest, f"{here}[{index}]")
    elif inner is None or inner == "":
        if not step.endswith("?"):
            yield here
    else:
        yield from _missing(inner, rest, here)
