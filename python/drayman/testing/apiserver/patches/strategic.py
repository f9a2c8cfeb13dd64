"""Strategic merge patch: it knows which lists are keyed, and has directives for what merging cannot say."""

from __future__ import annotations

from typing import Any

from drayman.api import status
from drayman.testing.apiserver.govalue import go_value
from drayman.testing.apiserver.patches import structure
from drayman.testing.apiserver.patches.structure import Type
from drayman.testing.apiserver.refusal import Refusal

Object = dict[str, Any]

_DIRECTIVE = "$patch"
_RETAIN_KEYS = "$retainKeys"
_DELETE_FROM = "$deleteFromPrimitiveList/"
_SET_ORDER = "$setElementOrder/"


def apply(document: Object, patch: Any) -> Object:
    """Return `document`, a whole object, with `patch` merged in.

    Raises :class:`Refusal` (400) for directives that do not fit.
    """
    if not isinstance(patch, dict):
        raise Refusal(status.bad_request("the patch is not an object"))
    return _merge_object(document, patch, structure.root(document["apiVersion"], document["kind"]))


def _merge_object(original: Object, patch: Object, of: Type) -> Object:
    match patch.get(_DIRECTIVE):
        case "replace":
            return {name: _without_directives(value) for name, value in patch.items() if not name.startswith("$")}
        case "delete":
            return {}
        case None | "merge":
            pass
        case other:
            raise Refusal(status.bad_request(f"Unknown patch type found: {other}"))
    merged = _retain(original, patch)
    for name, value in patch.items():
        if name.startswith(_DELETE_FROM):
            _delete_from(merged, name.removeprefix(_DELETE_FROM), value)
    for name, value in patch.items():
        if name.startswith("$"):
            continue
        if value is None:
            merged.pop(name, None)
        else:
            order = patch.get(_SET_ORDER + name)
            merged[name] = _merge_value(merged.get(name), value, of.member(name), order)
    for name, order in patch.items():
        field = name.removeprefix(_SET_ORDER)
        if name.startswith(_SET_ORDER) and field not in patch and isinstance(merged.get(field), list):
            merged[field] = _ordered(merged[field], order, merged[field], of.member(field).merge_key)
    return merged


def _retain(original: Object, patch: Object) -> Object:
    """Return the original without the keys that the patch does not list as retained."""
    retained = patch.get(_RETAIN_KEYS)
    if retained is None:
        return dict(original)
    if not isinstance(retained, list):
        raise Refusal(status.bad_request(f"{_RETAIN_KEYS} must be a list"))
    return {name: value for name, value in original.items() if name in retained}


def _delete_from(merged: Object, name: str, values: Any) -> None:
    if isinstance(merged.get(name), list) and isinstance(values, list):
        merged[name] = [value for value in merged[name] if value not in values]


def _merge_value(original: Any, value: Any, of: Type, order: Any) -> Any:
    if isinstance(value, dict):
        if not isinstance(original, dict) or "replace" in of.patch:
            original = {}
        return _merge_object(original, value, of)
    if isinstance(value, list) and "merge" in of.patch:
        return _merge_list(original if isinstance(original, list) else [], value, of, order)
    return _without_directives(value)


def _merge_list(original: list[Any], patch: list[Any], of: Type, order: Any) -> list[Any]:
    if not any(isinstance(item, dict) for item in patch):
        added = [value for position, value in enumerate(patch) if value not in patch[:position]]
        merged = original + [value for value in added if value not in original]
        return _ordered(merged, added if order is None else order, original, "")
    if any(isinstance(item, dict) and item.get(_DIRECTIVE) == "replace" for item in patch):
        return [_without_directives(item) for item in patch if item.get(_DIRECTIVE) != "replace"]
    key = of.merge_key
    merged = list(original)
    for item in patch:
        if not isinstance(item, dict) or key not in item:
            raise Refusal(status.bad_request(f"map: {go_value(item)} does not contain declared merge key: {key}"))
        same = [position for position, other in enumerate(merged) if other.get(key) == item[key]]
        if item.get(_DIRECTIVE) == "delete":
            merged = [other for position, other in enumerate(merged) if position not in same]
            continue
        result = _merge_object(merged[same[0]] if same else {}, item, of.item)
        if same:
            merged[same[0]] = result
        else:
            merged.append(result)
    return _ordered(merged, patch if order is None else order, original, key)


def _ordered(items: list[Any], order: Any, live: list[Any], key: str) -> list[Any]:
    """Return the items in the order that the patch sets; the others keep their place before what followed them."""
    if not isinstance(order, list):
        return items

    def identity(item: Any) -> Any:
        return item.get(key) if isinstance(item, dict) else item

    wanted = [identity(item) for item in order]
    before = [identity(item) for item in live]
    named = sorted((item for item in items if identity(item) in wanted), key=lambda item: wanted.index(identity(item)))
    rest = [item for item in items if identity(item) not in wanted]
    result: list[Any] = []
    for item in named:
        while rest and _precedes(identity(rest[0]), identity(item), before):
            result.append(rest.pop(0))
        result.append(item)
    return result + rest


def _precedes(left: Any, right: Any, order: list[Any]) -> bool:
    return left in order and right in order and order.index(left) < order.index(right)


def _without_directives(value: Any) -> Any:
    """Return a value that replaces another, without directives and nulls in it."""
    if isinstance(value, dict):
        return {
            name: _without_directives(inner)
            for name, inner in value.items()
            if inner is not None and not name.startswith("$")
        }
    if isinstance(value, list):
        return [_without_directives(item) for item in value if not (isinstance(item, dict) and item.get(_DIRECTIVE))]
    return value
