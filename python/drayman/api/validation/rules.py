"""What rules are made of.

A rule takes the path and the value of a field and yields what is wrong with it. The building blocks here make rules
about lists, sets and maps out of rules about their items.

Some of upstream's rules are generated from the API's types ("declarative validation"). They run after the handwritten
ones, replace those that say the same, and word some things in another way; their errors come last. :func:`declared`
marks them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from drayman.api.field import FieldError, Path, duplicate, invalid, not_supported, required, too_many

Errors: TypeAlias = Iterator[FieldError]
Rule: TypeAlias = Callable[[Path, Any], Iterable[FieldError]]


def declared(errors: Iterable[FieldError]) -> Errors:
    """Mark errors as those of a generated rule."""
    for error in errors:
        yield replace(error, declared=True)


def in_order(errors: Iterable[FieldError]) -> list[FieldError]:
    """Return the errors as upstream does: handwritten rules first, then generated ones."""
    return sorted(errors, key=lambda error: error.declared)


def matching(path: Path, value: str, check: Callable[[str], list[str]]) -> Errors:
    """The value has the format that `check` knows."""
    for problem in check(value):
        yield invalid(path, value, problem)


def required_matching(path: Path, value: str | None, check: Callable[[str], list[str]]) -> Errors:
    """The value is given, and has the format that `check` knows."""
    if not value:
        yield required(path)
    else:
        yield from matching(path, value, check)


def one_of(path: Path, value: str | None, choices: Sequence[str]) -> Errors:
    """The value is given, and one of `choices`, which are printed in their order."""
    if not value:
        yield required(path)
    elif value not in choices:
        yield not_supported(path, value, choices)


def each(path: Path, items: Sequence[Any] | None, rule: Rule) -> Errors:
    """Every item of a list keeps `rule`."""
    for index, item in enumerate(items or ()):
        yield from rule(path.index(index), item)


def limited(path: Path, items: Sequence[Any] | None, limit: int, rule: Rule) -> Errors:
    """A list is not longer than `limit`; then every item keeps `rule`."""
    if items and len(items) > limit:
        yield too_many(path, len(items), limit)
    else:
        yield from each(path, items, rule)


def declared_list(path: Path, items: Sequence[Any] | None, limit: int, rule: Rule) -> Errors:
    """As :func:`limited`, where the limit is a generated rule."""
    if items and len(items) > limit:
        yield from declared([too_many(path, len(items), limit)])
    else:
        yield from each(path, items, rule)


def declared_set(
    path: Path,
    items: Sequence[Any] | None,
    limit: int,
    rule: Rule,
    *,
    key: Callable[[Any], Any] = lambda item: item,
    shown: Callable[[Any], Any] = lambda item: item,
) -> Errors:
    """As :func:`declared_list`, and no two items have the same key; the later one is shown."""
    items = items or ()
    yield from declared_list(path, items, limit, rule)
    if len(items) <= limit:
        yield from declared(repeated(path, items, key=key, shown=shown))


def repeated(
    path: Path,
    items: Iterable[Any],
    *,
    key: Callable[[Any], Any] = lambda item: item,
    shown: Callable[[Any], Any] = lambda item: item,
) -> Errors:
    """No two items have the same key."""
    seen = set()
    for index, item in enumerate(items):
        if key(item) in seen:
            yield duplicate(path.index(index), shown(item))
        seen.add(key(item))


def entries(path: Path, entries: Mapping[str, Any] | None, key_limit: int, key_rule: Rule, rule: Rule) -> Errors:
    """Every key of a map keeps `key_rule` (at the path of the map), every value `rule`.

    In the path of a value, a key longer than `key_limit` is cut in the middle.
    """
    for key, value in sorted((entries or {}).items()):
        yield from key_rule(path, key)
        yield from rule(path.key(_cut(key, key_limit)), value)


def _cut(text: str, limit: int) -> str:
    limit = max(limit, 16)
    if len(text) <= limit:
        return text
    kept = limit - len("...")
    return text[: (kept + 1) // 2] + "..." + text[len(text) - kept // 2 :]


def unchanged(path: Path, new: Any, old: Any) -> Errors:
    """The field keeps its value."""
    if new != old:
        yield invalid(path, new, "field is immutable")


def not_negative(path: Path, value: int | None) -> Errors:
    """The number is 0 or more, or not given."""
    if value is not None and value < 0:
        yield invalid(path, value, "must be greater than or equal to 0")


def nothing(path: Path, value: Any) -> Errors:
    """Any value will do."""
    return iter(())
