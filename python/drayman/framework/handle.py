"""What the scheduler gives its plugins: the API server, the nodes, what other objects look like, events and the time.

Plugins know the scheduler only through these protocols, so that they run in tests, and in other processes, without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from drayman.pods.node_info import NodeInfo
from drayman.pods.objects import Object

if TYPE_CHECKING:
    from drayman.clock import Clock
    from drayman.framework.events import Happening
    from drayman.framework.waiting import WaitingPod

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for the scheduler as a whole.

    `compatibility` is `1.37` (what upstream does) or `fixed`; `features` are the feature gates that are on; `explain`
    says whether verdicts carry a line of explanation (never under `1.37`); `strategy` names how devices are chosen.
    """

    compatibility: str = "fixed"
    kubernetes_version: str = "1.37"
    features: frozenset[str] = frozenset()
    strategy: str = "first-fit"
    explain: bool = True

    @property
    def fixed(self) -> bool:
        """Whether known defects of upstream are left out."""
        return self.compatibility == "fixed"

    @property
    def explains(self) -> bool:
        """Whether verdicts carry an explanation."""
        return self.explain and self.fixed


class API(Protocol):
    """Writes and live reads. `kind` is a Kubernetes kind, such as `ResourceClaim`.

    Every call raises :class:`~drayman.errors.APIStatusError` when the server refuses, and `ConnectionError` when it
    cannot be reached.
    """

    async def get(self, kind: str, name: str, namespace: str | None = None) -> Object:
        """Return the object as it is now."""

    async def update(self, kind: str, obj: Object, *, subresource: str | None = None) -> Object:
        """Replace the object, or its subresource, if its resourceVersion still holds."""

    async def patch(
        self,
        kind: str,
        name: str,
        namespace: str | None,
        patch: Mapping[str, Any],
        *,
        type_: Literal["merge", "strategic"] = "merge",
        subresource: str | None = None,
    ) -> Object:
        """Patch the object, or its subresource."""

    async def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        """Bind a pod to a node."""


class Snapshot(Protocol):
    """The nodes of this attempt. Nothing changes between PreFilter and Reserve: no extension point there waits."""

    def nodes(self) -> Sequence[NodeInfo]:
        """Return all nodes, in byte order of their names."""

    def get(self, name: str) -> NodeInfo | None:
        """Return one node."""


class Observer(Protocol):
    """Learns of changes of one kind before any waiting pod is woken by them."""

    def observe_raw(self, event: str, raw: bytes) -> None:
        """Take the object's JSON; `event` is ADDED, MODIFIED or DELETED. Comes before :meth:`observe`."""

    def observe(self, old: Object | None, new: Object | None) -> None:
        """Take the object before and after the change."""


class Events(Protocol):
    """Tells people what happens, in events of the API server."""

    def record(self, regarding: Object, type_: str, reason: str, action: str, note: str) -> None:
        """Write an event soon; `type_` is `Normal` or `Warning`."""


class Handle(Protocol):
    """The scheduler, as its plugins see it."""

    @property
    def api(self) -> API:
        """The API server."""

    @property
    def clock(self) -> Clock:
        """The time."""

    @property
    def random(self) -> Random | None:
        """The source of chance; None: the first of equals is taken."""

    @property
    def settings(self) -> Settings:
        """What holds for the scheduler as a whole."""

    @property
    def snapshot(self) -> Snapshot:
        """The nodes and the pods on them."""

    @property
    def events(self) -> Events:
        """The recorder of events."""

    def objects(self, kind: str) -> Mapping[str, Object]:
        """Return the objects of a watched kind as last seen, by "namespace/name" or "name"."""

    def observe(self, kind: str, observer: Observer) -> None:
        """Tell `observer` of every change of `kind` from the start on. To be called while plugins are made."""

    def shared(self, key: str, make: Callable[[], T]) -> T:
        """Return the one object called `key` in this scheduler, made at the first call, for plugins of all profiles."""

    def wake(self, happening: Happening) -> None:
        """Queue the pods that `happening` may help, as for a change that was watched."""

    def waiting_pod(self, uid: str) -> WaitingPod | None:
        """Return the pod that Permit plugins hold back."""
