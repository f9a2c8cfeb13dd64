"""The claim that the scheduler makes for extended resources which DeviceClasses serve."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drayman.pods import extended_resources
from drayman.reasons.claims import Entry
from drayman.reasons.facts import Fact

if TYPE_CHECKING:
    from drayman.pods.node_info import NodeInfo
    from drayman.reasons.state import Object, State

ENTRY = "<extended-resources>"
"""What stands for the name of the claim entry, which the pod does not have."""

_GATE = "DRAExtendedResource"


@dataclass(frozen=True, slots=True)
class Extended:
    """What a pod asks for of extended resources that classes serve: `asked` names them, `classes` who serves them."""

    pod: Object
    classes: Mapping[str, str]
    asked: frozenset[str]

    @classmethod
    def of(cls, state: State, pod: Object) -> Extended:
        """Look at a pod in a cluster."""
        classes = extended_resources.classes_by_resource(state.of_kind("DeviceClass").values())
        asked = extended_resources.asked_for(pod, classes) if _GATE in state.features else frozenset()
        return cls(pod, classes, asked)

    def on(self, node: NodeInfo) -> frozenset[str]:
        """Return the resources that are devices on `node`: it has no device plugin for them."""
        return frozenset(name for name in self.asked if not node.allocatable.get(name))

    def entry(self, resources: frozenset[str]) -> Entry:
        """Return the claim for some of the resources."""
        metadata = self.pod["metadata"]
        claim = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"name": f"{metadata['name']}-extended-resources", "namespace": metadata["namespace"]},
            "spec": {
                "devices": {"requests": extended_resources.device_requests(self.pod, self.classes, resources)},
            },
        }
        return Entry(ENTRY, claim, exists=False)

    def notes(self) -> Iterator[Fact]:
        """Say which classes serve the resources."""
        for name in sorted(self.asked):
            message = f"`{name}` is served by DeviceClass `{self.classes[name]}` where no device plugin has it"
            yield Fact("extended-resource", message, {"resource": name, "class": self.classes[name]})
