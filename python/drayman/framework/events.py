"""Changes in the cluster that may let a waiting pod fit, and what plugins want to know of them.

Names and meaning of resources and actions are those of `k8s.io/kube-scheduler/framework/events.go`.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drayman.pods.objects import Object

if TYPE_CHECKING:
    from typing import TypeAlias


class EventResource(enum.StrEnum):
    """What changed. `TARGET_POD` is the waiting pod itself, `ASSIGNED_POD` a pod that holds room on a node."""

    ASSIGNED_POD = "AssignedPod"
    TARGET_POD = "TargetPod"
    NODE = "Node"
    RESOURCE_CLAIM = "ResourceClaim"
    RESOURCE_SLICE = "ResourceSlice"
    DEVICE_CLASS = "DeviceClass"


class Action(enum.IntFlag):
    """How it changed. The parts of an update are told apart where a plugin cares for one of them only."""

    ADD = enum.auto()
    DELETE = enum.auto()
    UPDATE_NODE_ALLOCATABLE = enum.auto()
    UPDATE_NODE_LABEL = enum.auto()
    UPDATE_NODE_TAINT = enum.auto()
    UPDATE_NODE_CONDITION = enum.auto()
    UPDATE_POD_LABEL = enum.auto()
    UPDATE_POD_SCALE_DOWN = enum.auto()
    UPDATE_POD_TOLERATION = enum.auto()
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = enum.auto()
    UPDATE_POD_GENERATED_RESOURCE_CLAIM = enum.auto()
    UPDATE_OTHER = enum.auto()
    UPDATE = (
        UPDATE_NODE_ALLOCATABLE
        | UPDATE_NODE_LABEL
        | UPDATE_NODE_TAINT
        | UPDATE_NODE_CONDITION
        | UPDATE_POD_LABEL
        | UPDATE_POD_SCALE_DOWN
        | UPDATE_POD_TOLERATION
        | UPDATE_POD_SCHEDULING_GATES_ELIMINATED
        | UPDATE_POD_GENERATED_RESOURCE_CLAIM
        | UPDATE_OTHER
    )


@dataclass(frozen=True, slots=True)
class ClusterEvent:
    """A change of one resource; as a registration, all changes that share an action with it."""

    resource: EventResource
    action: Action

    def covers(self, event: ClusterEvent) -> bool:
        """Tell whether `event` is one of the changes that this registration is about."""
        return self.resource is event.resource and bool(self.action & event.action)


class QueueingHint(enum.Enum):
    """Whether a change is worth another attempt."""

    SKIP = enum.auto()
    QUEUE = enum.auto()


HintFunction: TypeAlias = Callable[[Object, Object | None, Object | None], QueueingHint]
"""`(waiting pod, old object, new object)`; old is None for an addition, new for a deletion."""

AffectedFunction: TypeAlias = Callable[[Object | None, Object | None], Collection[str] | None]
"""`(old object, new object)`; the keys of the only pods that the change can help, None when it may help any."""


@dataclass(frozen=True, slots=True)
class Registration:
    """A plugin's interest in `event`.

    Without `hint` every such change queues every pod that the plugin refused. `affected` narrows the pods down by an
    index, before hints are asked: without it a change costs time in proportion to the waiting pods.
    """

    event: ClusterEvent
    hint: HintFunction | None = None
    affected: AffectedFunction | None = None


ANY_CHANGE = tuple(
    Registration(ClusterEvent(resource, Action.ADD | Action.DELETE | Action.UPDATE)) for resource in EventResource
)
"""What a plugin waits for that does not say."""


@dataclass(frozen=True, slots=True)
class Happening:
    """One change that did happen, with the objects before and after it."""

    event: ClusterEvent
    old: Object | None
    new: Object | None
