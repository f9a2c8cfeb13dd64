"""SupportedFeatures: refuses pods that ask for what this scheduler does not look at, and names the field.

A pod that were scheduled without regard to its anti-affinity or its volumes would run in the wrong place, silently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from drayman.framework import SUCCESS, CycleState, Handle, Object, PreFilterResult, Registration, Status, unresolvable

_VOLUMES = frozenset(
    {
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "gitRepo",
        "hostPath",
        "image",
        "nfs",
        "projected",
        "secret",
    }
)
"""Sources of volumes that bind a pod to no node."""


class SupportedFeatures:
    """Knows what the built-in plugins leave out. Not in upstream; disable it to schedule such pods all the same."""

    name = "SupportedFeatures"

    def __init__(self, _arguments: Mapping[str, Any], _handle: Handle) -> None:
        pass

    def pre_filter(self, _state: CycleState, pod: Object) -> tuple[Status, PreFilterResult | None]:
        """Refuse the pod, naming the fields."""
        fields = list(unsupported_fields(pod))
        if not fields:
            return SUCCESS, None
        named = ", ".join(f"`{field}`" for field in fields)
        return unresolvable(f"{named}: not supported by drayman"), None

    def events_to_register(self) -> Sequence[Registration]:
        """Wait for nothing: no change in the cluster makes the pod supported."""
        return ()


def unsupported_fields(pod: Object) -> Iterator[str]:
    """Yield the paths of the fields of `pod` that no built-in plugin looks at, in the order of the spec."""
    spec = pod["spec"]
    affinity = spec.get("affinity") or {}
    for field in ("podAffinity", "podAntiAffinity"):
        if any(affinity.get(field, {}).values()):
            yield f"spec.affinity.{field}"
    if spec.get("topologySpreadConstraints"):
        yield "spec.topologySpreadConstraints"
    if spec.get("schedulingGroup"):
        yield "spec.schedulingGroup"
    for index, volume in enumerate(spec.get("volumes") or ()):
        for source in sorted(volume.keys() - _VOLUMES - {"name"}):
            yield f"spec.volumes[{index}].{source}"
