"""Edits of YAML text that change one thing and leave every other character as it is.

Each function returns a fix, or None where the text has a form for which it would have to rewrite more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from drayman import manifest
from drayman.errors import InputError
from drayman.lint.diagnostic import Edit, Fix
from drayman.lint.source import BREAK

if TYPE_CHECKING:
    from drayman.lint.document import Document
    from drayman.lint.source import Source
    from drayman.manifest import Tree


def rename(document: Document, path: str, name: str, *, safe: bool = True) -> Fix | None:
    """Give the field at `path` (as written) another name."""
    tree = document.tree(path)
    if tree is None or tree.key is None or document.source is None:
        return None
    return Fix((Edit(tree.key, _quoted_like(document.source, tree, name)),), safe)


def replace(document: Document, path: str, text: str, *, safe: bool = True) -> Fix | None:
    """Write `text` for the scalar at `path` (as written)."""
    tree = document.tree(path)
    if tree is None or tree.members is not None or tree.items is not None or document.source is None:
        return None
    return Fix((Edit(tree.content, text),), safe)


def replace_within(document: Document, path: str, start: int, end: int, text: str, *, safe: bool = True) -> Fix | None:
    """Write `text` for the characters from `start` up to `end` of the text at `path` (as written).

    None where the style of the scalar does not let `text` stand there as it is: quotes in quotes, for one.
    """
    tree, source = document.tree(path), document.source
    if source is None or tree is None or not isinstance(tree.value, str) or not start <= end <= len(tree.value):
        return None
    position = document.position_within(path, start, end)
    first, last = source.span(position)
    written = source.text[:first] + text + source.text[last:]
    wanted = tree.value[:start] + text + tree.value[end:]
    return Fix((Edit(position, text),), safe) if _reads(written, document, path) == wanted else None


def _reads(text: str, document: Document, path: str) -> object:
    """Return what stands at `path` of the object when its file holds `text`, or None."""
    try:
        loaded = manifest.parse(text, file=document.manifest.file)[document.manifest.index]
    except (InputError, IndexError):
        return None
    found = loaded.find(path)
    return found[0].value if found and found[1] else None


def remove(document: Document, path: str, *, safe: bool = True) -> Fix | None:
    """Remove the field at `path` (as written), which must not be the only one of its object."""
    source = document.source
    parent_path, _, name = path.rpartition(".")
    parent = document.tree(parent_path)
    if source is None or parent is None or parent.members is None or name not in parent.members:
        return None
    siblings = list(parent.members.values())
    at = siblings.index(parent.members[name])
    span = _removed(source, siblings, at, flow=_is_flow(source, parent))
    return Fix((Edit(source.position(*span), ""),), safe) if span else None


def _removed(source: Source, siblings: Sequence[Tree], at: int, *, flow: bool) -> tuple[int, int] | None:
    if len(siblings) == 1:
        return None
    start, end = source.span(siblings[at].position)[0], content_end(source, siblings[at])
    if flow:
        if at + 1 < len(siblings):
            return start, source.span(siblings[at + 1].position)[0]
        return content_end(source, siblings[at - 1]), end
    line_start = start - siblings[at].position.column + 1
    line_end = BREAK.search(source.text, end)
    if source.text[line_start:start].strip():
        # The first field of a list item stands behind its dash: the next one takes its place.
        following = source.span(siblings[at + 1].position)[0] if at + 1 < len(siblings) else None
        return (start, following) if following else None
    return line_start, line_end.end() if line_end else len(source.text)


def nest(document: Document, parent: str, names: Sequence[str], under: str, *, safe: bool = True) -> Fix | None:
    """Move the fields `names` of the object at `parent` (as written) into a new object `under`.

    The fields must stand one after the other, in the order of the file.
    """
    source, tree = document.source, document.tree(parent)
    if source is None or tree is None or tree.members is None or under in tree.members:
        return None
    order = list(tree.members)
    chosen = [name for name in order if name in names]
    first = order.index(chosen[0]) if chosen else 0
    if not chosen or order[first : first + len(chosen)] != chosen:
        return None
    members = [tree.members[name] for name in chosen]
    start, end = source.span(members[0].position)[0], content_end(source, members[-1])
    if _is_flow(source, tree):
        opening = Edit(source.position(start, start), f"{_quoted_like(source, members[0], under)}: {{")
        return Fix((opening, Edit(source.position(end, end), "}")), safe)
    if any(member.key is None or member.key.column != members[0].position.column for member in members):
        return None
    indent = members[0].position.column - 1
    first_break = BREAK.search(source.text)
    line_break = first_break[0] if first_break else "\n"
    name = _quoted_like(source, members[0], under)
    opening = Edit(source.position(start, start), f"{name}:{line_break}{' ' * (indent + 2)}")
    return Fix((opening, *_indents(source, start, end, 2)), safe)


def _quoted_like(source: Source, member: Tree, name: str) -> str:
    """Return a name in quotes where that of `member` has some, as all names in JSON."""
    quote = source.slice(member.key)[:1] if member.key else ""
    return f"{quote}{name}{quote}" if quote in ("'", '"') else name


def _indents(source: Source, start: int, end: int, by: int) -> tuple[Edit, ...]:
    """Return the edits that indent the lines after the first one between two offsets."""
    found = []
    for line_break in BREAK.finditer(source.text, start, end):
        at = line_break.end()
        following = BREAK.search(source.text, at)
        if source.text[at : following.start() if following else len(source.text)].strip():
            found.append(Edit(source.position(at, at), " " * by))
    return tuple(found)


def unnest(document: Document, path: str, *, safe: bool = True) -> Fix | None:
    """Put the fields of the object at `path` (as written) in its place; it must be the only field of its parent."""
    source, tree = document.source, document.tree(path)
    parent = document.tree(path.rpartition(".")[0])
    if source is None or tree is None or tree.key is None or not tree.members or parent is None:
        return None
    if len(parent.members or {}) != 1 or _is_flow(source, tree) or _is_flow(source, parent):
        return None
    first = next(iter(tree.members.values()))
    by = first.position.column - tree.key.column
    start, begins = source.span(tree.key)[0], source.span(first.position)[0]
    if by <= 0 or source.text[start - tree.key.column + 1 : start].strip() or "#" in source.text[start:begins]:
        return None
    edits = [Edit(source.position(start, begins), "")]
    for line_break in BREAK.finditer(source.text, begins, content_end(source, tree)):
        at = line_break.end()
        following = BREAK.search(source.text, at)
        line = source.text[at : following.start() if following else len(source.text)]
        blanks = len(line) - len(line.lstrip(" "))
        if line.strip() and blanks < by:
            return None
        if line.strip():
            edits.append(Edit(source.position(at, at + by), ""))
    return Fix(tuple(edits), safe)


def content_end(source: Source, tree: Tree) -> int:
    """Return the offset behind a value, without the comments and empty lines that the parser counts to it."""
    current = tree
    while not _is_flow(source, current):
        below = list((current.members or {}).values()) or (current.items or [])
        if not below:
            break
        current = below[-1]
    start, end = source.span(current.content)
    return start + len(source.text[start:end].rstrip())


def _is_flow(source: Source, tree: Tree) -> bool:
    """Whether an object or list is written in braces or brackets."""
    if tree.members is None and tree.items is None:
        return False
    start = source.span(tree.content)[0]
    return source.text[start : start + 1] in ("{", "[", "*")
