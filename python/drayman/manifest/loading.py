"""From files and text to manifests."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from drayman.errors import InputError
from drayman.manifest import files, json_text, yaml_text
from drayman.manifest.position import Position, Tree, find
from drayman.manifest.scalars import cut

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

_START = Position(1, 1, 1, 1)


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object of a file.

    `index` counts the objects of the file from 0. `path` is where the object stands in its document: empty, or
    `items[0]` and so on in a List.
    """

    object: dict[str, Any]
    file: str | None = None
    index: int = 0
    path: str = ""
    source: _Source | None = field(default=None, repr=False, compare=False)

    def position(self, path: str = "") -> Position:
        """Return where the field at `path` stands, or the nearest part of the path that is there.

        Of a JSON file with what YAML cannot read it is the file's first line.
        """
        found = self.find(path)
        return found[0].position if found else _START

    def find(self, path: str = "") -> tuple[Tree, bool] | None:
        """Return the field at `path` with its positions and True, or the nearest part of the path and False.

        None when no positions are known.
        """
        tree = self.source.tree() if self.source else None
        if tree is None:
            return None
        return find(tree, ".".join(part for part in (self.path, path) if part))

    @property
    def line(self) -> int:
        """The line at which the object starts, 1-based."""
        return self.position().line

    @property
    def name(self) -> str:
        """The object as messages name it: `Kind namespace/name`."""
        return describe(self.object)


@dataclass(slots=True)
class _Source:
    """A document: its tree, or the text between `start` and `end` from which to make it when someone asks."""

    known: Tree | None = None
    text: str = ""
    start: int = 0
    end: int = 0

    def tree(self) -> Tree | None:
        if self.known is None and self.text:
            line_start = self.text.rfind("\n", 0, self.start) + 1
            before = "\n" * self.text.count("\n", 0, self.start) + " " * (self.start - line_start)
            alone = before + self.text[self.start : self.end]
            self.text = ""
            with contextlib.suppress(yaml_text.YAMLTextError):
                self.known = next(yaml_text.documents(alone), None)
        return self.known


def load(paths: Iterable[str | os.PathLike[str]]) -> list[Manifest]:
    """Return the objects of files, folders, patterns and `-` (standard input), in order.

    Raises :class:`InputError` naming file and line for the first thing that is not an object.
    """
    return [manifest for file, text in files.texts(paths) for manifest in parse(text, file=file)]


def parse(text: str, *, file: str | None = None) -> list[Manifest]:
    """Return the objects of YAML or JSON `text`; `file` is named in errors. Raises :class:`InputError`."""
    manifests: list[Manifest] = []
    for value, source in _documents(text, file):
        for path, obj in _objects(value):
            manifest = Manifest(obj, file, len(manifests), path, source)
            if not isinstance(obj, dict):
                what = "a list" if isinstance(obj, list) else f"`{cut(str(obj))}`"
                message = f"expected an object with `apiVersion` and `kind`, found {what}"
                raise InputError(message, file=file, line=manifest.line)
            manifests.append(manifest)
    return manifests


def _documents(text: str, file: str | None) -> Iterator[tuple[Any, _Source]]:
    try:
        if json_text.looks_like_json(text):
            try:
                values = list(json_text.documents(text))
            except json_text.JSONTextError:
                # YAML's flow style starts like JSON too. If it is neither, the YAML parser's error is as good.
                pass
            else:
                yield from ((value, _Source(text=text, start=start, end=end)) for value, start, end in values)
                return
        for tree in yaml_text.documents(text):
            yield tree.value, _Source(known=tree)
    except yaml_text.YAMLTextError as error:
        hint = _hint(text.split("\n", error.line)[error.line - 1 : error.line])
        raise InputError(f"not YAML: {error}", file=file, line=error.line, hint=hint) from error


def _hint(lines: Sequence[str]) -> str | None:
    """Return what is probably wrong with the line that is not YAML."""
    line = "".join(lines)
    if "{{" in line:
        return "that is a template: render it first, as in `helm template . | drayman lint -`"
    if line[: len(line) - len(line.lstrip())].count("\t"):
        return "YAML takes no tabulators at the beginning of a line: write blanks"
    if "expression:" in line:
        return "put the expression in quotes, or in lines of its own below `expression: |-`"
    return None


def _objects(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the object of a document, or the objects of a List, with their paths in the document."""
    if isinstance(value, dict) and isinstance(value.get("items"), list) and str(value.get("kind", "")).endswith("List"):
        kind, version = value["kind"].removesuffix("List"), value.get("apiVersion")
        for index, item in enumerate(value["items"]):
            yield f"items[{index}]", _with_type(item, kind, version) if kind else item
    elif isinstance(value, dict) and value.get("kind") == "List" and value.get("items") is None:
        return
    else:
        yield "", value


def _with_type(item: Any, kind: str, version: Any) -> Any:
    """Give the items of a typed list, such as PodList, the type that they leave out."""
    if not isinstance(item, dict) or "kind" in item:
        return item
    return {"apiVersion": version, "kind": kind, **item}


def describe(obj: dict[str, Any]) -> str:
    """Return `Kind namespace/name` of an object, as far as it has them."""
    metadata = obj.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    name = metadata.get("name") or metadata.get("generateName")
    path = "/".join(str(part) for part in (metadata.get("namespace"), name) if part)
    return " ".join(str(part) for part in (obj.get("kind"), path) if part)
