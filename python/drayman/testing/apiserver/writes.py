"""Creating, changing and removing objects: the path that every write takes, whichever request caused it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drayman.api import field, status
from drayman.testing.apiserver import admission, strategy
from drayman.testing.apiserver.patches import managers
from drayman.testing.apiserver.refusal import Refusal
from drayman.testing.apiserver.store import Store, Stored, key, key_of
from drayman.timestamps import rfc3339

if TYPE_CHECKING:
    from collections.abc import Callable

    from drayman.clock import Clock
    from drayman.testing.apiserver.identity import Identity
    from drayman.testing.apiserver.kinds import Kind
    from drayman.testing.apiserver.patches.managers import Manager
    from drayman.testing.apiserver.rules import Rules

Object = dict[str, Any]

_NAME_ATTEMPTS = 8


class Writes:
    """Writes to the store by the API's rules. Objects are in their stored version.

    `after_create` and `after_remove` are called with what was stored and what is gone; the garbage collector hangs
    there.
    """

    def __init__(self, store: Store, rules: Rules, clock: Clock, identity: Identity, *, trust_metadata: bool) -> None:
        self._store = store
        self._rules = rules
        self._clock = clock
        self._identity = identity
        self._trust_metadata = trust_metadata
        self.after_create: Callable[[Kind, Object], object] = _nothing
        self.after_remove: Callable[[Kind, Object], object] = _nothing

    def get(self, kind: Kind, namespace: str, name: str) -> Stored:
        """Return an object. Raises :class:`Refusal` (404) when it does not exist."""
        found = self._store.collection(kind.collection).get(key(namespace, name))
        if found is None:
            raise Refusal(status.not_found(kind.group, kind.plural, name))
        return found

    def create(self, kind: Kind, obj: Object, *, dry_run: bool = False) -> Stored:
        """Store a new object.

        Raises :class:`Refusal`: 404 when the namespace does not exist, 403 while it is being deleted, 409 when the
        name is taken, 422 when a rule is broken.
        """
        self._check_namespace(kind, obj["metadata"])
        obj = self._with_new_metadata(kind, obj)
        obj = strategy.for_create(kind, self._rules.with_defaults(admission.admit(self._store, kind, obj)))
        obj = self._rules.without_disabled(obj, None)
        self._rules.check_create(kind, obj)
        key = key_of(obj["metadata"])
        if self._store.collection(kind.collection).get(key) is not None:
            raise Refusal(status.already_exists(kind.group, kind.plural, obj["metadata"]["name"]))
        if dry_run:
            return Stored(obj, 0)
        stored = self._store.put(kind.collection, obj)
        self.after_create(kind, stored.obj)
        return stored

    def update(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        change: Callable[[Object], Object],
        *,
        subresource: str = "",
        author: Manager | None = None,
        dry_run: bool = False,
    ) -> Stored:
        """Replace an object by what `change` makes of it; nothing is written when that is equal.

        The new object's resourceVersion, where set, must be the present one (409). `author` becomes the owner of what
        changed; without one `change` has seen to that. Raises :class:`Refusal`.
        """
        current = self.get(kind, namespace, name)
        old = current.obj
        new = change(old)
        self._check_version(kind, new["metadata"], old["metadata"])
        metadata = {"resourceVersion": old["metadata"]["resourceVersion"], **without_empty(new["metadata"])}
        metadata.pop("selfLink", None)
        new = {**new, "metadata": metadata}
        new = self._rules.with_defaults(new)
        if subresource:
            new = strategy.for_part_update(subresource, kind, new, old)
        else:
            new = strategy.for_update(kind, new, old, rfc3339(self._clock.now()))
        new = self._rules.without_disabled(new, old)
        self._rules.check_update(kind, new, old, subresource)
        if author is not None:
            new = managers.updated(new, old, author)
        return self.commit(kind, new, current, dry_run=dry_run)

    def commit(self, kind: Kind, new: Object, current: Stored, *, dry_run: bool = False) -> Stored:
        """Store `new` in place of `current`, or remove the object when nothing keeps it any more."""
        new = {**new, "metadata": {**new["metadata"], "resourceVersion": str(current.revision)}}
        if managers.equal(new, current.obj):
            return current
        if dry_run:
            return Stored(new, current.revision)
        if _finished(new):
            # Never stored like this: what was there goes, and only the author sees what it would have been.
            self.remove(kind, current)
            return Stored(new, current.revision)
        return self._store.put(kind.collection, new)

    def remove(self, kind: Kind, stored: Stored) -> Stored:
        """Take an object out of the store, and everything that it owns."""
        gone = self._store.remove(kind.collection, key_of(stored.obj["metadata"]))
        self.after_remove(kind, gone.obj)
        return gone

    def _check_namespace(self, kind: Kind, metadata: Object) -> None:
        if not kind.namespaced:
            return
        name = metadata.get("namespace", "")
        namespace = self._store.collection("namespaces").get(name)
        if namespace is None:
            raise Refusal(status.not_found("", "namespaces", name))
        if "deletionTimestamp" in namespace.obj["metadata"]:
            reason = f"unable to create new content in namespace {name} because it is being terminated"
            refusal = status.forbidden(kind.group, kind.plural, metadata.get("name", ""), reason)
            cause = {
                "reason": "NamespaceTerminating",
                "message": f"namespace {name} is being terminated",
                "field": "metadata.namespace",
            }
            refusal["details"] = {**refusal.get("details", {}), "causes": [cause]}
            raise Refusal(refusal)

    def _with_new_metadata(self, kind: Kind, obj: Object) -> Object:
        metadata = {name: value for name, value in obj["metadata"].items() if name not in _NOT_FOR_CREATE}
        if not metadata.get("name") and metadata.get("generateName"):
            metadata["name"] = self._free_name(kind, metadata.get("namespace", ""), metadata["generateName"])
        trusted = metadata if self._trust_metadata else {}
        metadata = without_empty(metadata)
        metadata["uid"] = trusted.get("uid") or self._identity.uid()
        metadata["creationTimestamp"] = trusted.get("creationTimestamp") or rfc3339(self._clock.now())
        return {**obj, "metadata": metadata}

    def _free_name(self, kind: Kind, namespace: str, base: str) -> str:
        collection = self._store.collection(kind.collection)
        for _ in range(_NAME_ATTEMPTS):
            name = self._identity.name(base)
            if collection.get(key(namespace, name)) is None:
                return name
        raise Refusal(status.already_exists(kind.group, kind.plural, name))

    def _check_version(self, kind: Kind, wanted: Object, present: Object) -> None:
        version = wanted.get("resourceVersion")
        if not version and not kind.unconditional:
            path = field.Path("metadata").child("resourceVersion")
            error = field.invalid(path, 0, "must be specified for an update")
            raise Refusal(status.invalid(kind.group, kind.plural, present["name"], [error]))  # so says its storage
        if version and version != present["resourceVersion"]:
            raise Refusal(status.conflict(kind.group, kind.plural, present["name"], status.OBJECT_MODIFIED))


def without_empty(metadata: Object) -> Object:
    """Return `metadata` without maps, lists and texts that are empty, as the API's types drop them."""
    return {name: value for name, value in metadata.items() if value not in ("", {}, [], None)}


def precondition_failed(kind: Kind, present: Object, label: str, wanted: str, found: str) -> Refusal:
    """Return the refusal (409) of a write that was meant for another object, or another version of it."""
    reason = (
        f"StorageError: invalid object, Code: 4, Key: /registry/{kind.plural}/{key_of(present)}, ResourceVersion: 0, "
        f"AdditionalErrorMsg: {status.precondition_failed(label, wanted, found)}"
    )
    return Refusal(status.conflict(kind.group, kind.plural, present["name"], reason))


_NOT_FOR_CREATE = frozenset(
    {"resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation"}
)


def _finished(obj: Object) -> bool:
    """Return whether nothing keeps an object that is being deleted."""
    metadata = obj["metadata"]
    kept = (
        metadata.get("finalizers")
        or metadata.get("deletionGracePeriodSeconds")
        or (obj.get("spec") or {}).get("finalizers")
    )
    return "deletionTimestamp" in metadata and not kept


def _nothing(kind: Kind, obj: Object) -> None:
    """Stand in for a listener."""
