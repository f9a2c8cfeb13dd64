"""What pods may ask for that drayman does not look at."""

from __future__ import annotations

from collections.abc import Iterator

from drayman.pods.objects import Object

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
