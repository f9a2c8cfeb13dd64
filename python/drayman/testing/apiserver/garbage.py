"""The garbage collector: what is owned goes with its last owner, and the contents of a namespace with the namespace.

A real cluster has a controller for each; here both act at once, as part of the write that makes something garbage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drayman.testing.apiserver.deletion import FOREGROUND, DeleteOptions, Deletion
from drayman.testing.apiserver.kinds import BY_COLLECTION, KINDS

if TYPE_CHECKING:
    from drayman.clock import Clock
    from drayman.testing.apiserver.kinds import Kind
    from drayman.testing.apiserver.store import Place, Store, Stored
    from drayman.testing.apiserver.writes import Writes

Object = dict[str, Any]

_REMEMBERED_OWNERS = 10_000


class GarbageCollector:
    """Deletes what has lost its owners or its namespace; knows which deletions wait for dependents."""

    def __init__(self, store: Store, writes: Writes, clock: Clock) -> None:
        self._store = store
        self._writes = writes
        self._gone: dict[str, None] = {}
        self.deletion = Deletion(writes, clock, self)
        writes.after_create = self._created
        writes.after_remove = self._removed

    def present(self, kind: Kind, uid: str) -> Stored | None:
        """Return the object of this kind and uid, if it still exists."""
        place = self._store.place_of(uid)
        return None if place is None else self._store.collection(kind.collection).get(place.key)

    def blocking(self, uid: str) -> bool:
        """Return whether a dependent holds up the foreground deletion of its owner."""
        return any(
            reference["uid"] == uid and reference.get("blockOwnerDeletion")
            for _, stored in self._dependents(uid)
            for reference in stored.obj["metadata"]["ownerReferences"]
        )

    def delete_dependents(self, uid: str) -> None:
        """Delete what this owner was the last living owner of; from the rest, take the reference to it."""
        for kind, stored in self._dependents(uid):
            references = stored.obj["metadata"]["ownerReferences"]
            others = [ref for ref in references if ref["uid"] != uid and self._store.place_of(ref["uid"])]
            if others:
                self._set_owners(kind, stored, [ref for ref in references if ref["uid"] != uid])
            else:
                self._delete(kind, stored)

    def orphan_dependents(self, uid: str) -> None:
        """Let all dependents live on without this owner."""
        for kind, stored in self._dependents(uid):
            references = stored.obj["metadata"]["ownerReferences"]
            self._set_owners(kind, stored, [ref for ref in references if ref["uid"] != uid])

    def empty_namespace(self, name: str) -> None:
        """Delete everything in a namespace, then the namespace itself as soon as nothing is left."""
        for kind in KINDS:
            if kind.namespaced and not kind.storage:
                for stored in self._store.collection(kind.collection).items():
                    if stored.obj["metadata"]["namespace"] == name:
                        self._delete(kind, stored)
        self._finish_namespace(name)

    def _created(self, kind: Kind, obj: Object) -> None:
        owners = [reference["uid"] for reference in obj["metadata"].get("ownerReferences") or ()]
        if owners and all(owner in self._gone for owner in owners):
            self._delete(kind, self._writes.get(kind, obj["metadata"].get("namespace", ""), obj["metadata"]["name"]))

    def _removed(self, kind: Kind, obj: Object) -> None:
        metadata = obj["metadata"]
        self._gone[metadata["uid"]] = None
        if len(self._gone) > _REMEMBERED_OWNERS:
            del self._gone[next(iter(self._gone))]
        self.delete_dependents(metadata["uid"])
        for reference in metadata.get("ownerReferences") or ():
            self._finish_foreground(reference["uid"])
        if kind.namespaced:
            self._finish_namespace(metadata["namespace"])

    def _finish_foreground(self, owner: str) -> None:
        place = self._store.place_of(owner)
        if place is None or self.blocking(owner):
            return
        kind, stored = self._at(place)
        finalizers = stored.obj["metadata"].get("finalizers") or []
        if FOREGROUND in finalizers:
            metadata = {**stored.obj["metadata"], "finalizers": [name for name in finalizers if name != FOREGROUND]}
            self._writes.commit(kind, {**stored.obj, "metadata": metadata}, stored)

    def _finish_namespace(self, name: str) -> None:
        stored = self._store.collection("namespaces").get(name)
        if (
            stored is None
            or "deletionTimestamp" not in stored.obj["metadata"]
            or stored.obj["metadata"].get("finalizers")
        ):
            return
        if not any(self._in_namespace(name)):
            self._writes.remove(BY_COLLECTION["namespaces"], stored)

    def _in_namespace(self, name: str) -> list[Stored]:
        return [
            stored
            for collection_name, collection in self._store.all()
            if BY_COLLECTION[collection_name].namespaced
            for stored in collection.items()
            if stored.obj["metadata"]["namespace"] == name
        ]

    def _dependents(self, uid: str) -> list[tuple[Kind, Stored]]:
        return [self._at(place) for place in self._store.dependents(uid)]

    def _at(self, place: Place) -> tuple[Kind, Stored]:
        stored = self._store.collection(place.collection).get(place.key)
        assert stored is not None
        return BY_COLLECTION[place.collection], stored

    def _set_owners(self, kind: Kind, stored: Stored, references: list[Object]) -> None:
        metadata = {name: value for name, value in stored.obj["metadata"].items() if name != "ownerReferences"}
        if references:
            metadata["ownerReferences"] = references
        self._writes.commit(kind, {**stored.obj, "metadata": metadata}, stored)

    def _delete(self, kind: Kind, stored: Stored) -> None:
        metadata = stored.obj["metadata"]
        if self._store.place_of(metadata["uid"]) is None:
            return
        options = DeleteOptions(propagation_policy="Background", uid=metadata["uid"])
        self.deletion.delete(kind, metadata.get("namespace", ""), metadata["name"], options)
