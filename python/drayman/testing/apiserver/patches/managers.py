"""Who owns which fields: the entries of `metadata.managedFields`.

Ownership is recorded from the first server-side apply of an object on. What was there before belongs to
`before-first-apply`, as on a real server for objects without entries.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from drayman.testing.apiserver.patches import fieldsets, structure

if TYPE_CHECKING:
    from drayman.testing.apiserver.patches.fieldsets import Path

Object = dict[str, Any]

BEFORE_FIRST_APPLY = "before-first-apply"

_STRIPPED = frozenset(
    {("f:apiVersion",), ("f:kind",), ("f:metadata",)}
    | {
        ("f:metadata", f"f:{name}")
        for name in (
            "name",
            "namespace",
            "generateName",
            "creationTimestamp",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "selfLink",
            "uid",
            "generation",
            "resourceVersion",
        )
    }
)


@dataclass(frozen=True, slots=True)
class Manager:
    """One entry: `operation` is `Apply` or `Update`."""

    name: str
    operation: str
    api_version: str
    subresource: str
    time: str
    owned: frozenset[Path]

    def is_same(self, other: Manager) -> bool:
        """Return whether both are entries of one manager, writing in one way."""
        return (self.name, self.operation, self.subresource) == (other.name, other.operation, other.subresource)

    def __str__(self) -> str:
        text = f'"{self.name}"'
        if self.subresource:
            text += f' with subresource "{self.subresource}"'
        if self.operation == "Update":
            text += f" using {self.api_version}" + (f" at {self.time}" if self.time else "")
        return text


def owned_fields(obj: Object, subresource: str) -> frozenset[Path]:
    """Return the fields of `obj` that a manager can own by writing them to the object or to a subresource."""
    obj = {**obj, "metadata": {name: value for name, value in obj["metadata"].items() if name != "managedFields"}}
    found = fieldsets.fields(obj, structure.root(obj["apiVersion"], obj["kind"]))
    if subresource == "status":
        return frozenset(path for path in found if path[:1] == ("f:status",))
    return frozenset(path for path in found if path not in _STRIPPED and path[:1] != ("f:status",))


def read(obj: Object) -> list[Manager]:
    """Return the entries of an object."""
    return [
        Manager(
            entry.get("manager", ""),
            entry.get("operation", ""),
            entry.get("apiVersion", ""),
            entry.get("subresource", ""),
            entry.get("time", ""),
            frozenset(fieldsets.decode(entry.get("fieldsV1") or {})),
        )
        for entry in obj["metadata"].get("managedFields") or ()
    ]


def written(obj: Object, managers: list[Manager]) -> Object:
    """Return `obj` with these entries, those that own nothing left out."""
    entries = [
        {
            "manager": manager.name,
            "operation": manager.operation,
            "apiVersion": manager.api_version,
            "time": manager.time,
            "fieldsType": "FieldsV1",
            "fieldsV1": fieldsets.encode(manager.owned),
            **({"subresource": manager.subresource} if manager.subresource else {}),
        }
        for manager in managers
        if manager.owned
    ]
    metadata = {name: value for name, value in obj["metadata"].items() if name != "managedFields"}
    return {**obj, "metadata": {**metadata, "managedFields": entries} if entries else metadata}


def updated(new: Object, old: Object, author: Manager) -> Object:
    """Return `new`, an update of `old`, with the fields that changed owned by `author` and by nobody else.

    An object without entries stays without.
    """
    before = read(old)
    if not before:
        return new
    of = structure.root(new["apiVersion"], new["kind"])
    present = owned_fields(new, "") | owned_fields(new, "status")
    changed = fieldsets.differing(present, new, old, of)
    author = replace(author, owned=changed)
    managers = []
    for manager in before:
        if manager.is_same(author):
            author = replace(author, owned=author.owned | manager.owned)
        else:
            managers.append(replace(manager, owned=manager.owned - changed))
    managers.append(author)
    return written(new, [replace(manager, owned=_still_there(manager.owned, new, of)) for manager in managers])


def equal(left: Object, right: Object) -> bool:
    """Return whether two objects differ in nothing but the times of their entries."""
    return left == right or ("managedFields" in left["metadata"] and _without_times(left) == _without_times(right))


def _without_times(obj: Object) -> Object:
    entries = [{**entry, "time": ""} for entry in obj["metadata"].get("managedFields") or ()]
    return {**obj, "metadata": {**obj["metadata"], "managedFields": entries}}


def _still_there(owned: frozenset[Path], obj: Object, of: structure.Type) -> frozenset[Path]:
    return frozenset(path for path in owned if fieldsets.find(obj, of, path) is not None)
