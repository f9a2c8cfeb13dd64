"""What the viewing verbs have in common: where objects come from, which are shown, and how they are printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from drayman import cli
from drayman.cli import inputs, required, sources
from drayman.cli.output import Printer, note, print_json, print_yaml
from drayman.cli.view.fleet import Fleet

if TYPE_CHECKING:
    import argparse

    from drayman.cli.sources import Source
    from drayman.manifest import Manifest

OUTPUTS = ("table", "wide", "json", "yaml", "name")


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that a view shows: its row in tables, what wide ones have besides, and its JSON."""

    name: str
    cells: Sequence[str]
    wide: Sequence[str] = ()
    json: Mapping[str, Any] = field(default_factory=dict)
    namespace: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    waits: bool | None = None
    """Whether it waits for devices; None where it is nothing that could."""


@dataclass(frozen=True, slots=True)
class View:
    """A viewing verb: what it reads, and how it makes entries of that.

    `plural` is the member of the JSON output, `resource` stands before names (`-o name`). `after` prints what follows
    the table, and `members` returns more members of the JSON output; both are given the entries that are shown.
    `scoped` views need nothing outside the namespace that is shown.
    """

    plural: str
    resource: str
    kinds: frozenset[str]
    columns: Sequence[str]
    wide: Sequence[str]
    entries: Callable[[Fleet, argparse.Namespace], Iterable[Entry]]
    after: Callable[[Printer, Fleet, Sequence[Entry], argparse.Namespace], None] | None = None
    members: Callable[[Fleet, Sequence[Entry]], Mapping[str, Any]] | None = None
    scoped: bool = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of every view."""
    inputs.add_arguments(parser, what="manifests or snapshots (default: the live cluster)")
    sources.add_arguments(parser)
    parser.add_argument(
        "-l", "--selector", default="", metavar="LABELS", help="only what has these labels: a=b,c in (d)"
    )
    parser.add_argument("-o", "--output", choices=OUTPUTS, default="table", help="how to print")
    parser.add_argument("-w", "--watch", action="store_true", help="go on and show what changes (live clusters)")


def run(view: View, arguments: argparse.Namespace) -> int:
    """Show once, or until interrupted."""
    files = [*arguments.files, *arguments.filename]
    if arguments.watch:
        from drayman.cli.view import watching

        if not sources.is_live(arguments, files):
            arguments.usage_error("--watch is for live clusters")
        return watching.run(view, arguments)
    source = sources.load(arguments, files, kinds=view.kinds, scoped=view.scoped)
    fleet = Fleet(usable(view, source.manifests))
    entries = chosen(view, fleet, arguments, source.namespace)
    show(view, fleet, entries, arguments)
    if not entries and arguments.output in ("table", "wide"):
        note(f"no {view.plural}{_where(source) if view.scoped else ''}")
    return cli.DONE


def usable(view: View, manifests: Sequence[Manifest]) -> list[Manifest]:
    """Return the objects that a view uses, each with what it has to have; those of other kinds are passed over.

    Raises :class:`~drayman.errors.InputError` for one that lacks something, or is given twice.
    """
    return [*inputs.once([required.checked(one) for one in manifests if one.object["kind"] in view.kinds])]


def chosen(view: View, fleet: Fleet, arguments: argparse.Namespace, namespace: str | None) -> list[Entry]:
    """Return the entries of the namespace and with the labels that are asked for."""
    entries = [
        one
        for one in view.entries(fleet, arguments)
        if None in (one.namespace, namespace) or one.namespace == namespace
    ]
    if arguments.selector:
        from drayman import label_selector

        terms = label_selector.parse(arguments.selector)
        entries = [one for one in entries if label_selector.matches(terms, one.labels)]
    return entries


def show(view: View, fleet: Fleet, entries: Sequence[Entry], arguments: argparse.Namespace) -> None:
    """Print the entries as the options say."""
    if arguments.output == "name":
        for one in entries:
            print(f"{view.resource}/{one.name}")
    elif arguments.output in ("json", "yaml"):
        document = {
            "version": 1,
            "kubernetes": "1.37",
            "compatibility": "1.37",
            view.plural: [one.json for one in entries],
            **(view.members(fleet, entries) if view.members else {}),
        }
        {"json": print_json, "yaml": print_yaml}[arguments.output](document)
    else:
        wide = arguments.output == "wide"
        printer = Printer(wide=wide)
        columns = (*view.columns, *view.wide) if wide else view.columns
        printer.table(*_filled(columns, [(*one.cells, *one.wide) if wide else one.cells for one in entries]))
        if view.after:
            view.after(printer, fleet, entries, arguments)


def without_empty(**members: Any) -> dict[str, Any]:
    """Return the members that say something."""
    return {name: value for name, value in members.items() if value not in (None, "", [], {}, ())}


def _filled(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    """Return the table without columns that are empty in every row."""
    kept = [index for index in range(len(columns)) if any(row[index] for row in rows)]
    return [columns[index] for index in kept], [[row[index] for index in kept] for row in rows]


def _where(source: Source) -> str:
    return f" in namespace `{source.namespace}`" if source.namespace else ""
