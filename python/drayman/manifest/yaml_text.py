"""YAML documents as values with positions.

PyYAML's C parser gives events, from which the values are composed here without recursion: duplicate keys are errors,
aliases are copied up to a limit, and nothing but objects, lists, text, numbers, booleans and null can come out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from drayman.api import gotext
from drayman.manifest.position import Position, Tree
from drayman.manifest.scalars import ScalarError, resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = 250
MAX_ALIASED = 100_000
"""How many values of one document may come from aliases."""

_TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep"
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class YAMLTextError(ValueError):
    """Text that is not YAML, or YAML that does not fit JSON; `line` is 1-based."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def documents(text: str) -> Iterator[Tree]:
    """Yield the documents of `text`, empty ones left out. Raises :class:`YAMLTextError`."""
    composer = _Composer()
    try:
        for event in yaml.parse(text, Loader=_Loader):
            tree = composer.feed(event)
            if tree is not None and tree.value is not None:
                yield tree
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YAMLTextError(error.problem or str(error), mark.line + 1 if mark else 1) from error
    except yaml.YAMLError as error:
        raise YAMLTextError(str(error).splitlines()[0], 1) from error
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise YAMLTextError("text that is no Unicode: half a surrogate pair", line) from error


@dataclass(slots=True)
class _Open:
    """A list or object whose end has not come yet. `key` is the member that waits for its value."""

    start: Any
    anchor: str | None
    members: dict[str, Tree] | None = None
    items: list[Tree] | None = None
    key: str | None = None
    key_event: Any = None
    merged: list[Tree] = field(default_factory=list)
    size: int = 1
    height: int = 1


@dataclass(frozen=True, slots=True)
class _Anchored:
    """What an alias stands for: the value, how many values it consists of, and how many levels it has."""

    tree: Tree
    size: int
    height: int


class _Composer:
    """Builds one document after the other from events."""

    def __init__(self) -> None:
        self._stack: list[_Open] = []
        self._anchors: dict[str, _Anchored] = {}
        self._aliased = 0

    def feed(self, event: Any) -> Tree | None:
        """Take the next event; return a document when it ends one."""
        match event:
            case yaml.DocumentStartEvent():
                self._anchors.clear()
                self._aliased = 0
            case yaml.ScalarEvent():
                return self._scalar(event)
            case yaml.AliasEvent():
                return self._alias(event)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._open(event)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                return self._close(event)
            case _:
                pass
        return None

    def _scalar(self, event: Any) -> Tree | None:
        parent = self._stack[-1] if self._stack else None
        if parent and parent.members is not None and parent.key is None:
            self._key(parent, event)
            return None
        tree = Tree(_value(event), _span(event, event))
        if event.anchor:
            self._anchors[event.anchor] = _Anchored(tree, 1, 0)
        return self._add(tree, 1, 0)

    def _key(self, parent: _Open, event: Any) -> None:
        value = _value(event)
        if value is None:
            raise YAMLTextError("the name of a field must be text", event.start_mark.line + 1)
        name = event.value if isinstance(value, float) else gotext.plain(value)
        if parent.members is not None and name in parent.members:
            raise YAMLTextError(f"field `{name}` is given twice", event.start_mark.line + 1)
        parent.key, parent.key_event = name, event

    def _alias(self, event: Any) -> Tree | None:
        line = event.start_mark.line + 1
        if any(opened.anchor == event.anchor for opened in self._stack):
            raise YAMLTextError(f"anchor `{event.anchor}` contains itself", line)
        if event.anchor not in self._anchors:
            raise YAMLTextError(f"unknown anchor `{event.anchor}`", line)
        anchored = self._anchors[event.anchor]
        self._aliased += anchored.size
        if self._aliased > MAX_ALIASED:
            raise YAMLTextError("document contains excessive aliasing", line)
        if len(self._stack) + anchored.height > MAX_DEPTH:
            raise YAMLTextError(_TOO_DEEP, line)
        tree = anchored.tree
        copied = Tree(_copy(tree.value), _span(event, event), tree.members, tree.items)
        return self._add(copied, anchored.size, anchored.height)

    def _open(self, event: Any) -> None:
        line = event.start_mark.line + 1
        parent = self._stack[-1] if self._stack else None
        if parent and parent.members is not None and parent.key is None:
            raise YAMLTextError("the name of a field must be text", line)
        if len(self._stack) >= MAX_DEPTH:
            raise YAMLTextError(_TOO_DEEP, line)
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        if event.tag and not event.implicit and event.tag not in {"tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"}:
            raise YAMLTextError(f"tag `{event.tag}` is not supported", line)
        self._stack.append(
            _Open(event, event.anchor, members={} if is_mapping else None, items=None if is_mapping else [])
        )

    def _close(self, event: Any) -> Tree | None:
        opened = self._stack.pop()
        value: Any
        if opened.members is not None:
            for source in opened.merged:
                for name, member in (source.members or {}).items():
                    opened.members.setdefault(name, member)
            value = {name: member.value for name, member in opened.members.items()}
        else:
            value = [item.value for item in opened.items or []]
        tree = Tree(value, _span(opened.start, event), opened.members, opened.items)
        if opened.anchor:
            self._anchors[opened.anchor] = _Anchored(tree, opened.size, opened.height)
        return self._add(tree, opened.size, opened.height)

    def _add(self, tree: Tree, size: int, height: int) -> Tree | None:
        if not self._stack:
            return tree
        parent = self._stack[-1]
        parent.size += size
        parent.height = max(parent.height, height + 1)
        if parent.items is not None:
            parent.items.append(tree)
        elif parent.members is not None and parent.key is not None:
            name, event, parent.key = parent.key, parent.key_event, None
            if name == "<<" and _is_plain(event):
                parent.merged += _merge_sources(tree, event)
            else:
                start = event.start_mark
                position = Position(start.line + 1, start.column + 1, tree.position.end_line, tree.position.end_column)
                key = _span(event, event)
                parent.members[name] = Tree(tree.value, position, tree.members, tree.items, key, tree.position)
        return None


def _merge_sources(tree: Tree, event: Any) -> list[Tree]:
    sources = tree.items if tree.items is not None else [tree]
    if any(source.members is None for source in sources):
        raise YAMLTextError("map merge requires map or sequence of maps as the value", event.start_mark.line + 1)
    return sources


def _is_plain(event: Any) -> bool:
    return bool(event.implicit[0])


def _value(event: Any) -> Any:
    try:
        if event.tag is None or event.tag == "!":
            return resolve(event.value, None if _is_plain(event) else "!")
        return resolve(event.value, event.tag)
    except ScalarError as error:
        raise YAMLTextError(str(error), event.start_mark.line + 1) from error


def _copy(value: Any) -> Any:
    """Copy what an alias stands for, so that no two parts of an object are one; depth is limited by the composer."""
    if isinstance(value, dict):
        return {name: _copy(member) for name, member in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


def _span(first: Any, last: Any) -> Position:
    start, end = first.start_mark, last.end_mark
    return Position(start.line + 1, start.column + 1, end.line + 1, end.column + 1)
