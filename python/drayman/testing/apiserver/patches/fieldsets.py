"""Sets of fields of an object, and `fieldsV1`, the form in which `managedFields` keeps them.

A field is a path of steps in the notation of `fieldsV1`: `f:spec`, `k:{"name":"a"}` (an item of a keyed list),
`v:"x"` (a value of a set).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from drayman.testing.apiserver.patches.structure import Type

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Object = dict[str, Any]
Path = tuple[str, ...]

_KEY_DEFAULTS = {"protocol": "TCP"}


def fields(value: Any, of: Type, path: Path = ()) -> Iterator[Path]:
    """Yield the fields that `value` sets: its leaves, and the items of its keyed lists."""
    if isinstance(value, dict) and value and not of.atomic:
        for name, inner in value.items():
            yield from fields(inner, of.member(name), (*path, f"f:{name}"))
    elif isinstance(value, list) and of.list_type != "atomic":
        for item in value:
            step = item_step(item, of)
            yield (*path, step)
            if of.list_type == "map":
                yield from fields(item, of.item, (*path, step))
    else:
        yield path


def item_step(item: Any, of: Type) -> str:
    """Return the step to an item of a list that is a set or has keys."""
    if of.list_type == "set" or not isinstance(item, dict):
        return f"v:{_compact(item)}"
    return f"k:{_compact({key: item.get(key, _KEY_DEFAULTS.get(key)) for key in sorted(of.keys)})}"


def find(value: Any, of: Type, path: Path) -> Any:
    """Return what stands at `path`, or None when there is nothing."""
    for step in path:
        if isinstance(value, dict) and step.startswith("f:"):
            name = step[2:]
            value, of = value.get(name), of.member(name)
        elif isinstance(value, list):
            value = next((item for item in value if item_step(item, of) == step), None)
            of = of.item
        else:
            return None
    return value


def differing(paths: Iterable[Path], left: Any, right: Any, of: Type) -> frozenset[Path]:
    """Return those of `paths` that differ between two objects.

    An item of a keyed list differs by being there or not.
    """

    def differs(path: Path) -> bool:
        ours, theirs = find(left, of, path), find(right, of, path)
        return (ours is None) is not (theirs is None) if path[-1].startswith("k:") else ours != theirs

    return frozenset(path for path in paths if differs(path))


def without(value: Any, of: Type, path: Path) -> Any:
    """Return `value` without what stands at `path`."""
    step, *rest = path
    if isinstance(value, dict):
        name = step[2:]
        if name not in value:
            return value
        if not rest:
            return {key: inner for key, inner in value.items() if key != name}
        return {**value, name: without(value[name], of.member(name), tuple(rest))}
    if isinstance(value, list):
        if not rest:
            return [item for item in value if item_step(item, of) != step]
        return [without(item, of.item, tuple(rest)) if item_step(item, of) == step else item for item in value]
    return value


def encode(paths: Iterable[Path]) -> Object:
    """Return a set as `fieldsV1`. A field that has others below it is marked with `.`."""
    tree: Object = {}
    for path in sorted(paths):
        node = tree
        for step in path:
            node = node.setdefault(step, {})
        node["."] = {}
    return _compacted(tree)


def _compacted(node: Object) -> Object:
    return {step: {} if inner == {".": {}} else _compacted(inner) for step, inner in node.items()}


def decode(tree: Object, path: Path = ()) -> Iterator[Path]:
    """Yield the fields of a `fieldsV1`."""
    if path and (not tree or "." in tree):
        yield path
    for step, inner in tree.items():
        if step != ".":
            yield from decode(inner, (*path, step))


def text(path: Path) -> str:
    """Return a path as upstream prints it: `.spec.containers[name="a"].image`."""
    return "".join(_step_text(step) for step in path)


def _step_text(step: str) -> str:
    if step.startswith("f:"):
        return f".{step[2:]}"
    if step.startswith("v:"):
        return f"[={step[2:]}]"
    keys = json.loads(step[2:])
    return f"[{','.join(f'{key}={_compact(value)}' for key, value in keys.items())}]"


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
