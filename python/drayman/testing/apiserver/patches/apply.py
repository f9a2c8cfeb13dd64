"""Server-side apply: a manager says what it wants, owns that, and lets go of what it no longer says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from drayman.api import status
from drayman.testing.apiserver.patches import fieldsets, managers, structure
from drayman.testing.apiserver.refusal import Refusal

if TYPE_CHECKING:
    from drayman.testing.apiserver.patches.fieldsets import Path
    from drayman.testing.apiserver.patches.managers import Manager
    from drayman.testing.apiserver.patches.structure import Type

Object = dict[str, Any]


def apply(live: Object | None, configuration: Object, author: Manager, *, force: bool) -> Object:
    """Return `live`, or a new object, with `configuration` applied by `author`, and the fields that it owns recorded.

    Raises :class:`Refusal` (409) when other managers own what it would change and `force` is not set.
    """
    of = structure.root(configuration["apiVersion"], configuration["kind"])
    wanted = managers.owned_fields(configuration, author.subresource)
    if live is None:
        return managers.written(configuration, [replace(author, owned=wanted)])
    entries = managers.read(live) or [_first_owner(live, author)]
    previous = next((entry for entry in entries if entry.is_same(author)), None)
    others = [entry for entry in entries if not entry.is_same(author)]
    merged = _merge(live, configuration, of)
    changed = fieldsets.differing(wanted, merged, live, of)
    conflicts = [(entry, path) for entry in others for path in sorted(entry.owned & changed)]
    if conflicts and not force:
        raise _refuse(conflicts)
    others = [replace(entry, owned=entry.owned - changed) for entry in others]
    kept = frozenset(path for entry in others for path in entry.owned)
    if previous is not None:
        merged = _prune(merged, of, previous.owned - wanted, kept | wanted)
    position = entries.index(previous) if previous is not None else len(others)
    others.insert(position, replace(author, owned=wanted))
    return managers.written(merged, others)


def _first_owner(live: Object, author: Manager) -> Manager:
    """Return the owner of everything in an object that nobody applied before."""
    owned = managers.owned_fields(live, "") | managers.owned_fields(live, "status")
    time = live["metadata"].get("creationTimestamp", "")
    return replace(author, name=managers.BEFORE_FIRST_APPLY, operation="Update", subresource="", time=time, owned=owned)


def _refuse(conflicts: list[tuple[Manager, Path]]) -> Refusal:
    causes = [
        {"reason": "FieldManagerConflict", "message": f"conflict with {entry}", "field": fieldsets.text(path)}
        for entry, path in conflicts
    ]
    if len(conflicts) == 1:
        entry, path = conflicts[0]
        message = f"Apply failed with 1 conflict: conflict with {entry}: {fieldsets.text(path)}"
        return Refusal(status.apply_conflict(message, causes))
    lines = []
    for name in sorted({str(entry) for entry, _ in conflicts}):
        lines.append(f"conflicts with {name}:")
        lines += [f"- {fieldsets.text(path)}" for entry, path in conflicts if str(entry) == name]
    message = f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(lines)
    return Refusal(status.apply_conflict(message, causes))


def _merge(live: Any, wanted: Any, of: Type) -> Any:
    if isinstance(live, dict) and isinstance(wanted, dict) and not of.atomic:
        merged = dict(live)
        for name, value in wanted.items():
            merged[name] = _merge(live[name], value, of.member(name)) if name in live else value
        return merged
    if isinstance(live, list) and isinstance(wanted, list) and of.list_type != "atomic":
        given = {fieldsets.item_step(item, of): item for item in wanted}
        merged_items = []
        for item in live:
            step = fieldsets.item_step(item, of)
            merged_items.append(_merge(item, given.pop(step), of.item) if step in given else item)
        return [*merged_items, *given.values()]
    return wanted


def _prune(merged: Object, of: Type, dropped: frozenset[Path], kept: frozenset[Path]) -> Object:
    """Remove what its last owner no longer wants, outermost first; what holds a field that is kept stays."""
    for path in sorted(dropped, key=len):
        if not any(other[: len(path)] == path for other in kept):
            merged = fieldsets.without(merged, of, path)
    return merged
