"""What each container of a pod gets: CDI devices of its claims, environment, output, health of its devices."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman import resourceclaim
from drayman.testing.kubelet.environment import environment, expand
from drayman.testing.kubelet.script import Outcome, interpret

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from drayman.kube.client import Object
    from drayman.testing.kubelet.cdi import Registry
    from drayman.testing.kubelet.checkpoint import ClaimState
    from drayman.testing.kubelet.plugins import Device
    from drayman.testing.kubelet.resources import ResourceManager


@dataclass(frozen=True, slots=True)
class Container:
    """One container, ready to start."""

    name: str
    env: dict[str, str]
    devices: list[dict[str, Any]]
    mounts: list[dict[str, Any]]
    cdi_devices: list[str]
    outcome: Outcome

    def record(self) -> dict[str, Any]:
        """Return the container's entry in the annotation that tests and the demo read."""
        return {
            "env": dict(sorted(self.env.items())),
            "devices": self.devices,
            "mounts": self.mounts,
            "cdiDevices": self.cdi_devices,
        }


def create(
    pod: Object,
    spec: Mapping[str, Any],
    resources: ResourceManager,
    registry: Registry,
    *,
    host_ip: str,
    pod_ip: str,
) -> Container:
    """Return the container `spec` of `pod` with the devices of its claims, which the CDI `registry` describes.

    Raises :class:`~drayman.testing.kubelet.cdi.CDIError` when a device is in no CDI file and
    :class:`~drayman.testing.kubelet.environment.VariableError` when the environment cannot be computed.
    """
    names = list(dict.fromkeys(name for _, device in _devices(pod, spec, resources) for name in device.cdi_ids))
    edits = registry.inject(names)
    env = {**environment(pod, spec, host_ip=host_ip, pod_ip=pod_ip), **edits.env}
    command = [expand(word, env) for word in (*spec.get("command", ()), *spec.get("args", ()))]
    return Container(spec["name"], env, edits.devices, edits.mounts, names, interpret(command, env))


def annotation(containers: Sequence[Container]) -> str:
    """Return the annotation's JSON, which is the same for the same containers."""
    entries = {container.name: container.record() for container in containers}
    return json.dumps(entries, sort_keys=True, separators=(",", ":"))


def health(pod: Object, spec: Mapping[str, Any], resources: ResourceManager) -> list[dict[str, Any]]:
    """Return `allocatedResourcesStatus`: the devices of each claim entry. Drivers are not asked how they are."""
    entries = []
    for reference in spec.get("resources", {}).get("claims", ()):
        request = reference.get("request", "")
        state = _state(pod, reference["name"], resources)
        if state is None:
            continue
        # Devices that begin with the same CDI device are one resource: names have to be unique.
        ids = dict.fromkeys(_resource_id(driver, device) for driver, device in state.devices_for(request))
        entries.append(
            {
                "name": f"claim:{reference['name']}/{request}" if request else f"claim:{reference['name']}",
                "resources": [{"resourceID": one, "health": "Unknown"} for one in ids],
            }
        )
    return entries


def _devices(pod: Object, spec: Mapping[str, Any], resources: ResourceManager) -> Iterator[tuple[str, Device]]:
    """Yield the devices that the container `spec` names by claim and request, and those of its extended resources."""
    wanted = spec.get("resources", {}).get("claims", ())
    for entry in pod["spec"].get("resourceClaims", ()):
        state = _state(pod, entry["name"], resources)
        for reference in wanted:
            if reference["name"] == entry["name"] and state is not None:
                yield from state.devices_for(reference.get("request", ""))
    extended = pod.get("status", {}).get("extendedResourceClaimStatus")
    if extended:
        state = resources.claim(pod["metadata"]["namespace"], extended["resourceClaimName"])
        for mapping in extended.get("requestMappings", ()):
            if mapping["containerName"] == spec["name"] and state is not None:
                yield from state.devices_for(mapping["requestName"])


def _state(pod: Object, entry: str, resources: ResourceManager) -> ClaimState | None:
    names = {name: found.name for name, found in resourceclaim.references(pod)}
    return resources.claim(pod["metadata"]["namespace"], names[entry]) if entry in names else None


def _resource_id(driver: str, device: Device) -> str:
    return device.cdi_ids[0] if device.cdi_ids else f"{driver}/{device.pool}/{device.device}"
