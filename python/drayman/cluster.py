"""A snapshot of a cluster from manifests, to ask what its claims would get."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from drayman import features, manifest
from drayman.allocator import Allocated, Failed, Unallocatable
from drayman.errors import InputError
from drayman.inventory import Evaluation, Inventory

if TYPE_CHECKING:
    import os

    from drayman import reasons

UNUSED_KINDS = frozenset({"ResourceClaimTemplate", "ResourcePoolStatusRequest"})
"""Kinds of `resource.k8s.io` that no allocation depends on."""

GROUP = "resource.k8s.io/"


class Options(TypedDict, total=False):
    """Options of :class:`drayman.Inventory`, under which a cluster is looked at."""

    features: Iterable[str] | None
    feature_gates: Mapping[str, bool] | str | None
    kubernetes_version: str
    compatibility: str


class Cluster:
    """An immutable snapshot, made by :meth:`from_yaml`, :meth:`from_objects`, :meth:`from_snapshot` or
    :meth:`from_kubeconfig`.

    API defaults are applied. Claims, pods and workloads are named "namespace/name"; one without a namespace is in
    `default`. While there is no Node object, the nodes are those that slices name.
    """

    def __init__(
        self,
        inventory: Inventory,
        claims: Mapping[str, bytes],
        nodes: frozenset[str],
        objects: Sequence[Mapping[str, Any]],
        options: Options,
    ) -> None:
        self._inventory = inventory
        self._claims = claims
        self._nodes = nodes
        self._objects = objects
        self._options = options
        self._state: reasons.State | None = None

    @classmethod
    def from_objects(cls, objects: Iterable[Mapping[str, Any]], **options: Unpack[Options]) -> Cluster:
        """Build a snapshot from objects, in any version that the API serves; Lists are taken apart.

        Kinds that no allocation depends on are passed over. Raises :class:`drayman.InputError` for an object that
        cannot be read.
        """
        builder = _Builder(options)
        for obj in _flatten(objects):
            builder.add(obj)
        return builder.cluster(cls)

    @classmethod
    def from_yaml(cls, *paths: str | os.PathLike[str], **options: Unpack[Options]) -> Cluster:
        """Build a snapshot from YAML or JSON files, folders, patterns and `-` (standard input).

        Objects are read strictly: an unknown field is an error. Raises :class:`drayman.InputError` with file, line,
        object and field.
        """
        builder = _Builder(options)
        for loaded in manifest.load(paths):
            try:
                builder.add(manifest.check(loaded).object)
            except InputError as error:
                error.file = error.file or loaded.file
                error.line = error.line or loaded.position(error.field or "").line
                raise
        return builder.cluster(cls)

    @classmethod
    def from_snapshot(cls, folder: str | os.PathLike[str], **options: Unpack[Options]) -> Cluster:
        """Build a snapshot from a folder that `drayman snapshot` has written.

        Raises :class:`drayman.InputError` for a folder that is none or cannot be read.
        """
        from drayman import snapshots

        return cls.from_objects((loaded.object for loaded in snapshots.read(folder)), **options)

    @classmethod
    def from_kubeconfig(
        cls, path: str | os.PathLike[str] | None = None, *, context: str | None = None, **options: Unpack[Options]
    ) -> Cluster:
        """Build a snapshot from a live cluster, which is only read.

        Without `path` the kubeconfig is found as kubectl finds it. Raises :class:`drayman.InputError` for one that
        cannot be used, :class:`drayman.UnreachableError` when no server answers, and :class:`drayman.APIStatusError`
        when it refuses.
        """
        from drayman import live

        return cls.from_objects(live.load(path, context=context).objects, **options)

    @property
    def claims(self) -> Sequence[str]:
        """The claims, "namespace/name", in the order in which they were given."""
        return tuple(self._claims)

    @property
    def nodes(self) -> Sequence[str]:
        """The nodes, in byte order of their names."""
        return tuple(name for name in self._inventory.nodes() if not self._nodes or name in self._nodes)

    def allocate(
        self, claims: str | Sequence[str], *, node: str | Sequence[str] | None = None
    ) -> Allocated | Unallocatable:
        """Allocate one claim, or several together; the snapshot stays as it is (see :meth:`with_allocation`).

        Of several nodes, or of all without `node`, the first in byte order of names that fits is taken; when none fits,
        the explanation speaks of all of them. Raises :class:`drayman.AllocationError` where upstream's allocator
        returns an error, and :class:`drayman.InputError` for a claim that does not exist or is allocated already, and
        for a node that is not among the Node objects, if there are any.
        """
        if isinstance(node, str):
            outcome = self._evaluate(claims, [self._node(node)])[node]
        else:
            nodes = self.nodes if node is None else sorted(map(self._node, node))
            evaluation = self._evaluate(claims, nodes)
            if not evaluation.fitting:
                return _none_fits(evaluation, _keys(claims))
            outcome = evaluation[evaluation.fitting[0]]
        return outcome.unwrap() if isinstance(outcome, Failed) else outcome

    def evaluate(self, claims: str | Sequence[str]) -> Evaluation:
        """Allocate one claim, or several together, on every node by itself; return the outcomes by name of node.

        Raises as :meth:`allocate`; under compatibility `fixed` an error of one node is that node's
        :class:`drayman.Failed`.
        """
        return self._evaluate(claims, self.nodes)

    def with_allocation(self, outcome: Allocated) -> Cluster:
        """Return the next snapshot, in which the claims of `outcome` are allocated as it says.

        Raises :class:`drayman.InputError` when a claim of `outcome` is not in this cluster.
        """
        inventory, claims = self._inventory.copy(), dict(self._claims)
        for key, allocation in zip(outcome.claims, outcome.allocations, strict=True):
            claim = json.loads(self._claim(key))
            claim["status"] = {**_mapping(claim.get("status")), "allocation": allocation}
            claims[key] = json.dumps(claim).encode()
            inventory.apply(claims[key])
        return Cluster(inventory, claims, self._nodes, self._objects, self._options)

    def explain(
        self, name: str, kind: str = "pod", *, node: str | None = None, in_order: bool = False
    ) -> reasons.Answer:
        """Say why a pod, claim, job, deployment or other workload is not scheduled, on one node or on all.

        `in_order` takes pods that are mere manifests as if they were created in the order in which they were given:
        those before `name` are placed first, each where it fits. Raises :class:`drayman.InputError` for what does not
        exist or cannot be read.
        """
        from drayman.reasons import targets

        key = name if "/" in name else f"default/{name}"
        named = None if node is None else self._known(node)
        return targets.explain(self._look(), targets.kind_named(kind), key, node=named, in_order=in_order)

    def explain_all(self, *, node: str | None = None, in_order: bool = False) -> Sequence[reasons.Answer]:
        """Explain every pending pod, in the order in which they were given; see :meth:`explain`."""
        from drayman.reasons import targets

        named = None if node is None else self._known(node)
        return list(targets.explain_all(self._look(), node=named, in_order=in_order))

    def _look(self) -> reasons.State:
        """Return the objects that explanations look at. Raises :class:`drayman.InputError` for one that is broken."""
        from drayman.reasons import state

        if self._state is None:
            claims = map(json.loads, self._claims.values())
            self._state = state.State(
                inventory=self._inventory,
                nodes=tuple(self.nodes),
                objects=state.indexed([*self._objects, *claims]),
                features=features.resolve(
                    self._options.get("features"),
                    feature_gates=self._options.get("feature_gates"),
                    kubernetes_version=self._options.get("kubernetes_version", features.LATEST),
                ),
                kubernetes=self._options.get("kubernetes_version", features.LATEST),
                compatibility=self._options.get("compatibility", "1.37"),
            )
        return self._state

    def _evaluate(self, claims: str | Sequence[str], nodes: Sequence[str]) -> Evaluation:
        objects = [self._claim(key) for key in _keys(claims)]
        for key, claim in zip(_keys(claims), objects, strict=True):
            if _mapping(json.loads(claim).get("status")).get("allocation"):
                raise InputError(f"claim `{key}` is allocated already")
        return self._inventory.evaluate(objects, nodes)

    def _claim(self, key: str) -> bytes:
        if key not in self._claims:
            raise InputError(f"claim `{key}` does not exist; there are: {_listed(self._claims)}")
        return self._claims[key]

    def _known(self, name: str) -> str:
        """Return a node that there is an object for, or that slices name where there are no objects of nodes."""
        if name not in self.nodes:
            raise InputError(f"node `{name}` does not exist; there are: {_listed(self.nodes)}")
        return name

    def _node(self, name: str) -> str:
        if self._nodes and name not in self._nodes:
            raise InputError(f"node `{name}` does not exist; there are: {_listed(sorted(self._nodes))}")
        return name


class _Builder:
    """Takes objects into an inventory, and keeps what a snapshot needs besides."""

    def __init__(self, options: Options) -> None:
        self.inventory = Inventory(**options)
        self.claims: dict[str, bytes] = {}
        self.nodes: set[str] = set()
        self._others: list[Mapping[str, Any]] = []
        self._options = options

    def cluster(self, kind: type[Cluster]) -> Cluster:
        return kind(self.inventory, self.claims, frozenset(self.nodes), tuple(self._others), self._options)

    def add(self, obj: Mapping[str, Any]) -> None:
        version, kind = _named(obj, "apiVersion"), _named(obj, "kind")
        if kind != "ResourceClaim":
            self._others.append(obj)
        if version == "v1" and kind == "Node":
            self.nodes.add(self.inventory.apply(obj).name)
        elif kind == "ResourceClaim":
            self._add_claim(obj)
        elif version.startswith(GROUP) and kind not in UNUSED_KINDS:
            self.inventory.apply(obj)

    def _add_claim(self, obj: Mapping[str, Any]) -> None:
        metadata = obj.get("metadata") or {}
        if isinstance(metadata, Mapping):
            obj = {**obj, "metadata": {**metadata, "namespace": metadata.get("namespace") or "default"}}
        change = self.inventory.apply(obj)
        self.claims[f"{change.namespace}/{change.name}"] = json.dumps(obj).encode()


def _named(obj: Mapping[str, Any], member: str) -> str:
    """Return `apiVersion` or `kind`."""
    name = obj.get(member)
    if not name:
        raise InputError(f"object has no `{member}`", field=member)
    if not isinstance(name, str):
        raise InputError(f"expected a string, found `{type(name).__name__}`", field=member)
    return name


def _keys(claims: str | Sequence[str]) -> tuple[str, ...]:
    return (claims,) if isinstance(claims, str) else tuple(claims)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def _mapping(value: Any) -> Mapping[str, Any]:
    """Return a member that is an object; one that is absent or something else counts as empty."""
    return value if isinstance(value, Mapping) else {}


def _none_fits(evaluation: Evaluation, claims: tuple[str, ...]) -> Unallocatable:
    """Return the joint answer of all nodes; an error is raised only where every node failed."""
    outcomes = list(evaluation.values())
    failed = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
    if failed and len(failed) == len(outcomes):
        raise failed[0].error
    return Unallocatable(evaluation.explanation(), claims)


def _flatten(objects: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    for obj in objects:
        if not isinstance(obj, Mapping):
            raise InputError(f"expected an object with `apiVersion` and `kind`, found `{type(obj).__name__}`")
        if str(obj.get("kind", "")).endswith("List") and isinstance(obj.get("items"), Sequence):
            yield from _flatten(obj["items"])
        else:
            yield obj
