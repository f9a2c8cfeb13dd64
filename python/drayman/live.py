"""The objects of a live cluster, as they are now: what allocating, explaining and simulating need. Only reads.

Blocking, and without dependencies; long-running parts watch with :mod:`drayman.kube.informer` instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from drayman.api import convert
from drayman.errors import APIStatusError, DraymanError
from drayman.kube import config, resources
from drayman.kube.blocking import Reader
from drayman.kube.resources import Resource

if TYPE_CHECKING:
    import os

    from drayman.kube.client import WatchEvent

Object = dict[str, Any]

DRA = (
    resources.SLICES,
    resources.DEVICE_CLASSES,
    resources.CLAIMS,
    resources.CLAIM_TEMPLATES,
    resources.TAINT_RULES,
)
CORE = (resources.NAMESPACES, resources.NODES, resources.PODS)
OWNERS = (
    resources.DEPLOYMENTS,
    resources.REPLICASETS,
    Resource("apps", "v1", "StatefulSet", "statefulsets"),
    Resource("apps", "v1", "DaemonSet", "daemonsets"),
    resources.JOBS,
    Resource("batch", "v1", "CronJob", "cronjobs"),
)
"""What makes pods. A user who may not read these can still be told about their pods."""

KINDS = (*DRA, *CORE, *OWNERS)
"""Everything that is loaded unless less is asked for."""

_OPTIONAL = {resource.kind for resource in OWNERS} | {"Namespace", "DeviceTaintRule"}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Objects of a cluster, those of `resource.k8s.io` in `v1`; `skipped` says what could not be read, and why."""

    objects: Sequence[Object]
    server: str
    namespace: str
    skipped: Sequence[str] = ()


def connect(kubeconfig: str | os.PathLike[str] | None = None, *, context: str | None = None) -> Live:
    """Return access to the cluster of a kubeconfig, which is found as kubectl finds it when none is given.

    Raises :class:`~drayman.errors.InputError` for a kubeconfig that cannot be used.
    """
    return Live(Reader(config.load(kubeconfig, context=context)))


def load(
    kubeconfig: str | os.PathLike[str] | None = None,
    *,
    context: str | None = None,
    namespace: str | None = None,
    kinds: Iterable[str] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Snapshot:
    """Return the objects of a live cluster: see :func:`connect` and :meth:`Live.load`."""
    with connect(kubeconfig, context=context) as live:
        return live.load(kinds, namespace=namespace, progress=progress)


class Live:
    """One live cluster, read through one connection; use it in a `with` block, by one thread at a time.

    Methods raise :class:`~drayman.errors.APIStatusError` when the server refuses and
    :class:`~drayman.errors.UnreachableError` when it cannot be reached.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._served: dict[str, Resource] | None = None

    def __enter__(self) -> Live:
        return self

    def __exit__(self, *_: object) -> None:
        self._reader.close()

    @property
    def namespace(self) -> str:
        """The namespace of the kubeconfig's context."""
        return self._reader.config.namespace

    @property
    def server(self) -> str:
        """The URL of the API server."""
        return self._reader.config.url

    def again(self) -> Live:
        """Return the same cluster through a connection of its own, for another thread."""
        twin = Live(Reader(self._reader.config))
        twin._served = self._served
        return twin

    def interrupt(self) -> None:
        """End what another thread is reading; to it, the server has become unreachable."""
        self._reader.interrupt()

    def load(
        self,
        kinds: Iterable[str] | None = None,
        *,
        namespace: str | None = None,
        label_selector: str = "",
        progress: Callable[[str], None] | None = None,
    ) -> Snapshot:
        """Return the objects of `kinds` (None: :data:`KINDS`), of all namespaces unless one is given.

        Kinds that the server does not have, and owners of pods that the user may not read, are left out and named in
        `skipped`. `progress` is called with the kind that is read next.
        """
        wanted = None if kinds is None else set(kinds)
        objects: list[Object] = []
        skipped: list[str] = []
        for resource in KINDS:
            if wanted is not None and resource.kind not in wanted:
                continue
            if progress:
                progress(resource.plural)
            try:
                objects += self.list(resource, namespace, label_selector=label_selector)[0]
            except NotServedError as error:
                skipped.append(str(error))
            except APIStatusError as error:
                if error.code not in (403, 404) or resource.kind not in _OPTIONAL:
                    raise
                skipped.append(f"{resource.plural}: {error}")
        return Snapshot(tuple(objects), self.server, self.namespace, tuple(skipped))

    def list(
        self, resource: Resource, namespace: str | None = None, *, label_selector: str = ""
    ) -> tuple[list[Object], str]:
        """Return the objects of a resource in `v1`, and the resourceVersion of the list.

        Raises :class:`NotServedError` for a kind of `resource.k8s.io` that the server does not have.
        """
        items, version = self._reader.list(
            self._version_served(resource),
            namespace if resource.namespaced else None,
            label_selector=label_selector,
        )
        return [convert.to_v1(item) for item in items], version

    def watch(
        self, resource: Resource, namespace: str | None = None, *, resource_version: str, label_selector: str = ""
    ) -> Iterator[WatchEvent]:
        """Yield what changes after `resource_version`, objects in `v1`, until the server ends the watch.

        An error that the watch says is raised as :class:`~drayman.errors.APIStatusError`: 410 when `resource_version`
        is too old.
        """
        for event in self._reader.watch(
            self._version_served(resource),
            namespace if resource.namespaced else None,
            resource_version=resource_version,
            label_selector=label_selector,
        ):
            if event.type == "ERROR":
                raise APIStatusError(event.object)
            yield replace(event, object=convert.to_v1(event.object))

    def _version_served(self, resource: Resource) -> Resource:
        """Return `resource` in the newest version that both the server and drayman have."""
        if resource.group != convert.GROUP:
            return resource
        if self._served is None:
            self._served = self._discover()
        if resource.kind not in self._served:
            raise NotServedError(f"{resource.plural}: not served in {', '.join(convert.VERSIONS)}")
        return self._served[resource.kind]

    def _discover(self) -> dict[str, Resource]:
        """Return the kinds of `resource.k8s.io`, each in its newest version; older servers lack kinds in `v1`."""
        groups = self._reader.get("/apis").get("groups") or []
        versions = [
            str(version.get("version"))
            for group in groups
            if group.get("name") == convert.GROUP
            for version in group.get("versions") or []
        ]
        known = [version for version in convert.VERSIONS if version in versions]
        if not known:
            error = DraymanError(
                f"{self.server} does not serve {convert.GROUP} in {', '.join(convert.VERSIONS)}; "
                f"it serves: {', '.join(versions) or 'none'}"
            )
            error.hint = "dynamic resource allocation needs Kubernetes 1.32 or newer, and its API group enabled"
            raise error
        served: dict[str, Resource] = {}
        for version in known:
            for entry in self._reader.get(f"/apis/{convert.GROUP}/{version}").get("resources") or []:
                if "/" not in entry["name"]:
                    found = Resource(convert.GROUP, version, entry["kind"], entry["name"], bool(entry["namespaced"]))
                    served.setdefault(entry["kind"], found)
        return served


class NotServedError(DraymanError):
    """The server does not have a kind in a version that drayman knows."""
