"""check manifests: what the API server refuses, and what people get wrong

Reads pods and what makes pods, claims, templates, classes, slices and taint rules. What a manifest refers to is looked
for in all files together, in what --with names, and in a snapshot or a live cluster; nothing is said about what may
exist elsewhere. Exit code 1 when there are errors; warnings alone give 0. A comment `# drayman: ignore[RULE]` on the
line, or alone on the line above, switches a rule off there; `[tool.drayman.lint]` in pyproject.toml has settings.

examples:
  drayman lint -R deploy/
  drayman lint claim.yaml --with gpu.example.com
  drayman lint job.yaml --kubeconfig ~/.kube/config
  helm template . | drayman lint - -o github
  drayman lint --fix deploy/
  drayman lint --explain pod-claim-not-consumed
"""

from __future__ import annotations

import codecs
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from drayman import cli
from drayman.cli import inputs, options, sources
from drayman.cli.output import note, print_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from drayman.lint import Diagnostic, Options
    from drayman.lint.settings import Settings
    from drayman.manifest import Manifest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    inputs.add_arguments(parser, what="manifests")
    parser.add_argument("-R", "--recursive", action="store_true", help="also the folders below those that are named")
    inputs.add_context(parser)
    sources.add_arguments(parser, namespace=False)
    parser.add_argument("-n", "--namespace", help="the one of objects that name none (default: as kubectl has it)")
    parser.add_argument(
        "--kubernetes-version", type=options.version, metavar="VERSION", help="1.34 to 1.37 (default: 1.37)"
    )
    parser.add_argument("--feature-gates", metavar="A=true,B=false", help="gates, laid over the version's defaults")
    parser.add_argument("--select", action="append", metavar="RULES", help="only these rules, or beginnings of names")
    parser.add_argument("--ignore", action="append", metavar="RULES", help="not these rules, or beginnings of names")
    parser.add_argument("--fix", action="store_true", help="apply the safe fixes; standard input goes to output, fixed")
    parser.add_argument("--explain", metavar="RULE", help="print what a rule is about, with examples, and exit")
    parser.add_argument(
        "-o", "--output", choices=("text", "json", "sarif", "github"), default="text", help="how to print"
    )


def run(arguments: argparse.Namespace) -> int:
    """Lint and print what was found."""
    from drayman.lint import Severity, lint
    from drayman.manifest import files

    if arguments.explain:
        return _explain(arguments.explain)
    texts = _texts(arguments)
    chosen = _options(arguments)
    fixed = 0
    if arguments.fix:
        texts, fixed = _fix(texts, chosen)
    found = lint(list(texts.items()), chosen)
    if arguments.fix and files.STDIN in texts:
        _write(texts[files.STDIN])
        print(_text(found, texts, fixed, colour=False), end="", file=sys.stderr)
    else:
        _print(arguments.output, found, texts, fixed, chosen.kubernetes_version)
    return cli.ERROR if any(one.severity is Severity.ERROR for one in found) else cli.DONE


def _texts(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the texts of the files by their names; a file that is named twice is one."""
    from drayman.manifest import files

    named = inputs.files(arguments)
    for name in named:
        if not arguments.recursive and files.more_below(name):
            note(f"the folders below `{name}` are left out: -R takes them too")
    found: dict[str, tuple[str, str]] = {}
    for name, text in files.texts(named, strict=False, recursive=arguments.recursive):
        found.setdefault(os.path.normpath(name), (name, text))
    return dict(found.values())


def _options(arguments: argparse.Namespace) -> Options:
    """Return the options of the command line, where they are given, else those of the project."""
    from drayman import features
    from drayman.lint import Options, settings

    project = settings.find(Path())
    context, complete, namespace = _context(arguments, project)
    return Options(
        kubernetes_version=arguments.kubernetes_version or project.kubernetes_version or features.LATEST,
        feature_gates=arguments.feature_gates or project.feature_gates or None,
        context=context,
        complete=complete,
        namespace=arguments.namespace or namespace or "default",
        select=_names(arguments.select) or project.select,
        ignore=[*_names(arguments.ignore), *project.ignore],
        ignore_in=project.ignore_in,
    )


def _context(arguments: argparse.Namespace, project: Settings) -> tuple[list[Manifest], bool, str | None]:
    """Return the objects beside those of the files, whether they are all that there is, and the namespace to be in."""
    from drayman.driver import catalogue

    named = [name if name in catalogue.NAMES else str(project.folder / name) for name in project.context]
    context = inputs.load_context([*arguments.context_files, *named])
    if not (arguments.snapshot or arguments.kubeconfig or arguments.context):
        return context, False, None
    behind = sources.load(arguments)
    return [*context, *behind.manifests], True, behind.namespace


def _names(given: Sequence[str] | None) -> list[str]:
    return [name.strip() for part in given or () for name in part.split(",") if name.strip()]


def _fix(texts: Mapping[str, str], options: Options) -> tuple[dict[str, str], int]:
    """Return the texts with the safe fixes, and how many; the files are written anew, as far as they change."""
    from drayman.lint import fix
    from drayman.manifest import files

    fixed, count = fix(list(texts.items()), options)
    for file, text in fixed.items():
        if file != files.STDIN and text != texts[file]:
            before = Path(file).read_bytes()
            mark = codecs.BOM_UTF8 if before.startswith(codecs.BOM_UTF8) else b""
            Path(file).write_bytes(mark + text.encode())
    return dict(fixed), count


def _write(text: str) -> None:
    """Write text as it is, whatever the terminal takes."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
    sys.stdout.flush()


def _explain(name: str) -> int:
    from drayman.lint import all_rules
    from drayman.lint.engine import unknown_rule
    from drayman.lint.page import explanation

    if name not in all_rules():
        raise unknown_rule(name)
    print(explanation(all_rules()[name]))
    return cli.DONE


def _print(how: str, found: Sequence[Diagnostic], texts: Mapping[str, str], fixed: int, kubernetes: str) -> None:
    import drayman
    from drayman.lint import output

    match how:
        case "json":
            print_json(output.json_object(found, kubernetes=kubernetes))
        case "sarif":
            print_json(output.sarif_object(found, tool_version=drayman.__version__))
        case "github":
            print(output.github(found), end="")
        case _:
            colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
            print(_text(found, texts, fixed, colour=colour), end="")


def _text(found: Sequence[Diagnostic], texts: Mapping[str, str], fixed: int, *, colour: bool) -> str:
    from drayman.lint import output
    from drayman.lint.source import Source

    shown = output.text(found, {file: Source(file, text) for file, text in texts.items()}, colour=colour)
    return f"{shown}{output.summary(found, fixed=fixed)}\n"
