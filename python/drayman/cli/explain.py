"""say why a pod is not scheduled, or a claim not allocated, and what to change

Looks at a pod in the order in which a scheduler does: what holds it back, which nodes are out of the question and why,
and on the others why which devices cannot be used. FILES are manifests, snapshots, or what `kubectl get -o yaml`
prints; without any, the cluster that kubectl would use is read. Pods that no cluster has seen are taken in the order
of the files, each seeing the ones before, as `drayman allocate` does. Exit code 0 when it fits, or has what it needs;
3 when it does not.

examples:
  drayman explain pod team-a/train
  drayman explain pod team-a/train cluster.yaml pods.yaml
  drayman explain claim team-a/one-gpu claim.yaml --with gpu.example.com
  drayman explain deployment team-a/web *.yaml --node worker-1 -o json
  drayman explain --all --snapshot DIR --compare
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from drayman import cli
from drayman.cli import inputs, options, sources
from drayman.cli.output import columns, note, plain_table, print_json
from drayman.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from drayman.cli.sources import Source
    from drayman.cluster import Cluster
    from drayman.manifest import Manifest
    from drayman.reasons import Answer

COMPATIBILITIES = ("1.37", "fixed")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.usage = (
        "%(prog)s [-h] KIND NS/NAME [FILE ...] [OPTION ...]\n"
        "       %(prog)s [-h] --all [FILE ...] [OPTION ...]\n\n"
        "KIND is pod, claim, job, deployment, replicaset, statefulset or daemonset"
    )
    parser.add_argument(
        "files",
        nargs="*",
        metavar="KIND NS/NAME FILE",
        help="what to explain, and manifests; folders, globs, - for stdin",
    )
    parser.add_argument("-f", "--filename", action="append", default=[], metavar="FILE", help="the same as FILE")
    parser.add_argument("--all", action="store_true", help="explain every pending pod")
    inputs.add_context(parser)
    sources.add_arguments(parser)
    parser.add_argument("--node", help="look at this node only")
    options.add_kubernetes(parser, compatibility="1.37")
    parser.add_argument("--compare", action="store_true", help="answer under both compatibilities")
    parser.add_argument("-o", "--output", choices=("tree", "line", "json"), default="tree", help="how to print")
    parser.set_defaults(usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """Explain and print."""
    target, named = _target(arguments)
    source = sources.load(arguments, named)
    given = [*inputs.load_context(arguments.context_files), *inputs.some(source.manifests, named)]
    inputs.once(given)
    compared = COMPATIBILITIES if arguments.compare else (arguments.compatibility,)
    answers = {each: _answers(_cluster(arguments, given, each), arguments, target, source) for each in compared}
    if arguments.output == "json":
        print_json(_document(arguments, answers))
    else:
        _print(arguments, answers)
    ours = answers.get(arguments.compatibility, [])
    return cli.DONE if all(answer.fits for answer in ours) else cli.NO


def _target(arguments: argparse.Namespace) -> tuple[tuple[str, str] | None, list[str]]:
    """Return the kind and the "namespace/name" that are asked for, and the files."""
    words = list(arguments.files)
    if arguments.all:
        return None, [*words, *arguments.filename]
    from drayman.reasons import targets

    kind, slash, name = words[0].partition("/") if words else ("", "", "")
    if slash and kind.lower() in {one for names in targets.NAMES.values() for one in names}:
        del words[0]  # KIND/NAME, as kubectl takes it too
    elif len(words) >= 2:
        kind, name = words[0], words[1]
        del words[:2]
    else:
        arguments.usage_error("say what to explain: KIND NS/NAME, or --all")
    try:
        targets.kind_named(kind)
    except InputError as error:
        arguments.usage_error(f"{error}; {error.hint}" if error.hint else str(error))
    return (kind, name), [*words, *arguments.filename]


def _cluster(arguments: argparse.Namespace, given: Sequence[Manifest], compatibility: str) -> Cluster:
    """Return the cluster of the files. Raises :class:`InputError` with the place of what it cannot take."""
    from drayman.cluster import Cluster

    try:
        return Cluster.from_objects(
            [one.object for one in given],
            kubernetes_version=arguments.kubernetes_version,
            feature_gates=arguments.feature_gates,
            compatibility=compatibility,
        )
    except InputError as error:
        source = next((one for one in given if error.object and one.name == error.object), None)
        if source is not None:
            error.file, error.line = source.file, source.position(error.field or "").line
        raise


def _answers(
    cluster: Cluster, arguments: argparse.Namespace, target: tuple[str, str] | None, source: Source
) -> Sequence[Answer]:
    if target is None:
        answers = cluster.explain_all(node=arguments.node, in_order=True)
        return [one for one in answers if arguments.namespace in (None, one.name.partition("/")[0])]
    kind, name = target
    if "/" not in name:
        name = f"{source.namespace or 'default'}/{name}"
    return [cluster.explain(name, kind, node=arguments.node, in_order=True)]


def _document(arguments: argparse.Namespace, answers: Mapping[str, Sequence[Answer]]) -> dict[str, Any]:
    """Return the JSON: one answer as it is, several as a list, and under `compare` one of these for each."""
    top = {"version": 1, "kubernetes": arguments.kubernetes_version}
    contents = {each: _content(arguments, answers[each]) for each in answers}
    if arguments.compare:
        return {**top, "compare": contents}
    return {**top, "compatibility": arguments.compatibility, **contents[arguments.compatibility]}


def _content(arguments: argparse.Namespace, answers: Sequence[Answer]) -> dict[str, Any]:
    if arguments.all:
        return {"answers": [answer.content() for answer in answers]}
    return answers[0].content()


def _print(arguments: argparse.Namespace, answers: Mapping[str, Sequence[Answer]]) -> None:
    if not any(answers.values()):
        note("no pod is pending")
    texts = {each: [_text(arguments, answer) for answer in those] for each, those in answers.items()}
    if arguments.compare and len(set(map(tuple, texts.values()))) > 1:
        _print_compared(answers)
        for each, those in texts.items() if arguments.output == "tree" else ():
            print(f"\ncompatibility {each}:")
            print("\n\n".join(those))
        return
    if arguments.compare:
        note(f"the answer is the same under {' and '.join(answers)}")
    separator = "\n" if arguments.output == "line" else "\n\n"
    first = next(iter(texts.values()))
    if first:
        print(separator.join(first))


def _print_compared(answers: Mapping[str, Sequence[Answer]]) -> None:
    """Print the answers side by side, those first that both compatibilities have about one object."""
    rows = []
    for together in zip(*answers.values(), strict=True):
        for compatibility, answer in zip(answers, together, strict=True):
            why = "\n".join(textwrap.wrap(answer.line(), _WHY, break_on_hyphens=False))
            rows.append((answer.name, compatibility, answer.verdict, why))
    print(plain_table(("NAME", "COMPATIBILITY", "VERDICT", "WHY"), rows))


_WHY = 50
"""Columns of the reason beside the other columns."""


def _text(arguments: argparse.Namespace, answer: Answer) -> str:
    if arguments.output == "tree":
        return answer.tree(columns())
    return f"{answer.name}: {answer.line()}" if arguments.all else answer.line()
