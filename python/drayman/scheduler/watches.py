"""From what the API server tells to the cache, the plugins' observers and the queue, in this order."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

from drayman.framework import Action, ClusterEvent, EventResource, Happening, Object
from drayman.framework.changes import node_changes, pod_changes
from drayman.pods.objects import is_terminal, key_of, node_name_of, uid_of

if TYPE_CHECKING:
    from drayman.framework.queue import SchedulingQueue
    from drayman.kube.informer import Informer
    from drayman.scheduler.cache import Cache
    from drayman.scheduler.handle import SchedulerHandle
    from drayman.scheduler.verdicts import Verdicts

Handler: TypeAlias = Callable[[Object | None, Object | None], None]

_RESOURCES = {
    "ResourceClaim": EventResource.RESOURCE_CLAIM,
    "ResourceSlice": EventResource.RESOURCE_SLICE,
    "DeviceClass": EventResource.DEVICE_CLASS,
    # A taint rule changes what the slices offer, and upstream shows it as such.
    "DeviceTaintRule": EventResource.RESOURCE_SLICE,
}


class Watches:
    """Connects informers. `profile_of` returns the profile that serves a pod, None for pods of other schedulers."""

    def __init__(
        self,
        *,
        cache: Cache,
        queue: SchedulingQueue,
        verdicts: Verdicts,
        profile_of: Callable[[Object], str | None],
    ) -> None:
        self._cache = cache
        self._queue = queue
        self._verdicts = verdicts
        self._profile_of = profile_of

    def connect(self, informer: Informer, handle: SchedulerHandle) -> None:
        """Let `informer` feed the observers of its kind, then this scheduler."""
        kind = informer.resource.kind
        observers = handle.observers(kind)
        own: Handler = {"Pod": self._pod, "Node": self._node}.get(kind) or self._other(kind)

        def changed(old: Object | None, new: Object | None) -> None:
            for observer in observers:
                observer.observe(old, new)
            own(old, new)

        def raw(event: str, data: bytes) -> None:
            for observer in observers:
                observer.observe_raw(event, data)

        informer.on_raw = raw
        informer.add_handler(
            on_add=lambda new: changed(None, new), on_update=changed, on_delete=lambda old: changed(old, None)
        )

    def _other(self, kind: str) -> Handler:
        resource = _RESOURCES[kind]

        def changed(old: Object | None, new: Object | None) -> None:
            action = Action.ADD if old is None else Action.DELETE if new is None else Action.UPDATE_OTHER
            self._move(resource, action, old, new)

        return changed

    def _node(self, old: Object | None, new: Object | None) -> None:
        if new is None:
            assert old is not None
            self._cache.remove_node(key_of(old))
            self._move(EventResource.NODE, Action.DELETE, old, None)
            return
        self._cache.set_node(new)
        action = Action.ADD if old is None else _union(node_changes(old, new))
        if action:
            self._move(EventResource.NODE, action, old, new)

    def _pod(self, old: Object | None, new: Object | None) -> None:
        if new is None or is_terminal(new):
            self._pod_gone(old or new)
        elif node_name_of(new):
            self._pod_assigned(old, new)
        elif (profile := self._profile_of(new)) is not None:
            self._queue.add(new, profile)

    def _pod_gone(self, pod: Object | None) -> None:
        assert pod is not None
        self._queue.delete(pod)
        self._verdicts.forget(pod)
        if self._cache.has_pod(uid_of(pod)):
            self._cache.remove_pod(uid_of(pod))
            self._move(EventResource.ASSIGNED_POD, Action.DELETE, pod, None)

    def _pod_assigned(self, old: Object | None, new: Object) -> None:
        known = old is not None and bool(node_name_of(old)) and self._cache.has_pod(uid_of(new))
        self._cache.set_pod(new)
        if not known:
            self._queue.delete(new)
            self._verdicts.forget(new)
            self._move(EventResource.ASSIGNED_POD, Action.ADD, None, new)
        elif old is not None and (action := _union(pod_changes(old, new))):
            self._move(EventResource.ASSIGNED_POD, action, old, new)

    def _move(self, resource: EventResource, action: Action, old: Object | None, new: Object | None) -> None:
        self._queue.move(Happening(ClusterEvent(resource, action), old, new))


def _union(actions: Iterable[Action]) -> Action:
    return functools.reduce(operator.or_, actions, Action(0))
