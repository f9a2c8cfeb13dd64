"""Where a verb's objects come from: files, a snapshot, or a live cluster, in one place for all verbs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from drayman.cli import inputs, options
from drayman.cli.output import Progress, note

if TYPE_CHECKING:
    import argparse

    from drayman.live import Live
    from drayman.manifest import Manifest


@dataclass(frozen=True, slots=True)
class Source:
    """Objects, checked and of `resource.k8s.io` in `v1`.

    `namespace` is the one to show, None for all. `live` tells whether a server was asked.
    """

    manifests: Sequence[Manifest]
    namespace: str | None
    live: bool = False


def add_arguments(parser: argparse.ArgumentParser, *, namespace: bool = True) -> None:
    """Add `--snapshot`, the options for an API server and, with `namespace`, `-n` and `-A`."""
    parser.add_argument("--snapshot", metavar="DIR", help="a folder that `drayman snapshot` has written")
    if namespace:
        add_server_and_namespace(parser)
    else:
        options.add_server(parser)


def add_server_and_namespace(parser: argparse.ArgumentParser) -> None:
    """Add the options for an API server, `-n` and `-A`."""
    options.add_server(parser)
    parser.add_argument("-n", "--namespace", help="only this one (default: live, that of the context; else all)")
    parser.add_argument("-A", "--all-namespaces", action="store_true", help="all namespaces")


def files(arguments: argparse.Namespace) -> list[str]:
    """Return the named files, for a verb that asks no server unless one is named; nothing at all is a usage error."""
    if arguments.snapshot or arguments.kubeconfig or arguments.context:
        return [*arguments.files, *arguments.filename]
    return inputs.files(arguments)


def is_live(arguments: argparse.Namespace, files: Sequence[str]) -> bool:
    """Tell whether a server is asked: when one is named, or when nothing else is."""
    return bool(arguments.kubeconfig or arguments.context or not (files or arguments.snapshot))


def load(
    arguments: argparse.Namespace,
    files: Sequence[str] = (),
    *,
    kinds: Iterable[str] | None = None,
    scoped: bool = False,
) -> Source:
    """Return the objects of `files` and of the snapshot and the live cluster that the options name.

    Without any of them the cluster is the one that kubectl would use. An object of a file stands for the one of the
    same name in the snapshot or cluster. Of these only `kinds` are taken (None: all that any verb uses). With
    `scoped` a server is asked for nothing outside the namespace to show: the user may have no right to more. Raises
    :class:`~drayman.errors.DraymanError` for what cannot be used, read or reached.
    """
    folders = [arguments.snapshot] if arguments.snapshot else []
    folders += filter(inputs.is_snapshot, files)
    given = inputs.load([file for file in files if file not in folders])
    wanted = None if kinds is None else frozenset(kinds)
    behind = [one for folder in folders for one in inputs.load_snapshot(folder)]
    behind = [one for one in behind if wanted is None or one.object["kind"] in wanted]
    if not is_live(arguments, files):
        return Source([*given, *_without(behind, given)], namespace(arguments, None))
    source = load_live(arguments, wanted, scoped=scoped)
    return replace(source, manifests=[*given, *_without([*behind, *source.manifests], given)])


def load_files(arguments: argparse.Namespace, files: Sequence[str]) -> Source:
    """Return the objects of files and snapshots. Raises :class:`~drayman.errors.InputError`."""
    return Source(inputs.load(files), namespace(arguments, None))


def load_live(arguments: argparse.Namespace, kinds: Iterable[str] | None, *, scoped: bool = False) -> Source:
    """Return the objects of the live cluster that the options name. Raises as :func:`load`."""
    from drayman.manifest import Manifest

    with connect(arguments) as live, Progress() as progress:
        shown = namespace(arguments, live.namespace)
        snapshot = live.load(
            kinds,
            namespace=shown if scoped else None,
            progress=lambda plural: progress.show(f"reading {plural} of {live.server}"),
        )
    for skipped in snapshot.skipped:
        note(f"not read: {skipped}")
    return Source([Manifest(one) for one in snapshot.objects], shown, live=True)


def connect(arguments: argparse.Namespace) -> Live:
    """Return access to the cluster that the options name.

    Raises :class:`~drayman.errors.InputError` for a kubeconfig that cannot be used.
    """
    from drayman import live

    return live.connect(arguments.kubeconfig, context=arguments.context)


def namespace(arguments: argparse.Namespace, default: str | None) -> str | None:
    """Return the namespace that is asked for; None for all of them."""
    if getattr(arguments, "all_namespaces", False):
        return None
    return getattr(arguments, "namespace", None) or default


def _without(behind: Sequence[Manifest], given: Sequence[Manifest]) -> Iterator[Manifest]:
    """Yield what is behind the files: the objects that they do not have themselves."""
    own = {_identity(one) for one in given}
    return (one for one in behind if _identity(one) not in own)


def _identity(one: Manifest) -> tuple[str, str, str, str]:
    metadata = one.object.get("metadata") or {}
    group = str(one.object["apiVersion"]).rpartition("/")[0]
    kind = str(one.object["kind"])
    # Objects without a namespace are in `default`, if their kind has namespaces at all.
    return (group, kind, metadata.get("namespace") or "default", str(metadata.get("name")))
