"""check manifests: what the API server refuses, and what people get wrong

Reads pods and what makes pods, claims, templates, classes, slices and taint rules. What a manifest refers to is looked
for in all files together and in what --with names; nothing is said about what may exist elsewhere. Exit code 1 when
there are errors; warnings alone give 0. A comment `# drayman: ignore[RULE]` on the line, or alone on the line above,
switches a rule off there.

examples:
  drayman lint deploy/
  drayman lint claim.yaml --with gpu.example.com
  helm template . | drayman lint - -o github
  drayman lint --explain pod-claim-not-consumed
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from drayman import cli
from drayman.cli import inputs
from drayman.cli.output import print_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from drayman.lint import Diagnostic, Options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    inputs.add_arguments(parser, what="manifests")
    inputs.add_context(parser)
    parser.add_argument("--kubernetes-version", metavar="VERSION", help="1.34 to 1.37 (default: 1.37)")
    parser.add_argument("--feature-gates", metavar="A=true,B=false", help="gates, laid over the version's defaults")
    parser.add_argument("--select", action="append", metavar="RULES", help="only these rules, or beginnings of names")
    parser.add_argument("--ignore", action="append", metavar="RULES", help="not these rules, or beginnings of names")
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
    texts = list(files.texts(inputs.files(arguments)))
    options = _options(arguments)
    found = lint(texts, options)
    _print(arguments.output, found, texts, options.kubernetes_version)
    return cli.ERROR if any(one.severity is Severity.ERROR for one in found) else cli.DONE


def _options(arguments: argparse.Namespace) -> Options:
    from drayman import features
    from drayman.lint import Options

    return Options(
        kubernetes_version=arguments.kubernetes_version or features.LATEST,
        feature_gates=arguments.feature_gates or None,
        context=inputs.load_context(arguments.context_files),
        select=_names(arguments.select),
        ignore=_names(arguments.ignore),
    )


def _names(given: Sequence[str] | None) -> list[str]:
    return [name.strip() for part in given or () for name in part.split(",") if name.strip()]


def _explain(name: str) -> int:
    from drayman.lint import all_rules
    from drayman.lint.engine import unknown_rule
    from drayman.lint.page import explanation

    if name not in all_rules():
        raise unknown_rule(name)
    print(explanation(all_rules()[name]))
    return cli.DONE


def _print(how: str, found: Sequence[Diagnostic], texts: Sequence[tuple[str, str]], kubernetes: str) -> None:
    import drayman
    from drayman.lint import output
    from drayman.lint.source import Source

    match how:
        case "json":
            print_json(output.json_object(found, kubernetes=kubernetes))
        case "sarif":
            print_json(output.sarif_object(found, tool_version=drayman.__version__))
        case "github":
            print(output.github(found), end="")
        case _:
            colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
            print(output.text(found, {file: Source(file, text) for file, text in texts}, colour=colour), end="")
            print(output.summary(found))
