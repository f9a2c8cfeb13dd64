"""Print how fast drayman is, beside upstream on the same input in the same run, and whether the targets are met.

Times are medians of repeated calls, taken around the call; what each includes is said in docs/speed.md. Upstream is
asked through hack/oracle, which needs Go. Nothing fails because it is slow: machines differ.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from hack.benchmarks import clusters, explaining, loading, searches, selectors, starting
from hack.benchmarks.figure import HEADINGS, Figure, table
from hack.benchmarks.measure import Bench, DisagreementError
from hack.oracle.client import GoMissingError, Oracle, OracleError, build

from drayman import _native

GROUPS = {
    "selector": selectors.figures,
    "cluster": clusters.figures,
    "search": searches.figures,
    "explain": explaining.figures,
    "load": loading.figures,
    "start": starting.figures,
}


def main() -> int:
    options = parse()
    if _native.BUILD_PROFILE != "release" and not options.debug_build_is_fine:
        print(f"error: drayman is a {_native.BUILD_PROFILE} build: its figures mean nothing", file=sys.stderr)
        print(
            "hint: remove .venv/drayman-build and run hack/bench again, or add --debug-build-is-fine", file=sys.stderr
        )
        return 1
    repeats, search_limit = (5, 1.0) if options.quick else (31, 10.0)
    figures: list[Figure] = []
    with contextlib.ExitStack() as stack:
        oracle = ask_upstream(stack)
        try:
            for figure in measure(options.names, Bench(repeats, search_limit, oracle)):
                print(f"{figure.name.strip()} …", file=sys.stderr)
                figures.append(figure)
        except DisagreementError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    print(table([HEADINGS, *(figure.cells() for figure in figures)]))
    if options.json:
        options.json.write_text(json.dumps([figure.json() for figure in figures], indent=2) + "\n")
    return 0


def parse() -> argparse.Namespace:
    arguments = argparse.ArgumentParser(prog="hack/bench", description=__doc__)
    arguments.add_argument(
        "names", nargs="*", metavar="NAME", help=f"groups of figures: {', '.join(GROUPS)}; all unless given"
    )
    arguments.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    arguments.add_argument("--quick", action="store_true", help="repeat less, and give up upstream's searches sooner")
    arguments.add_argument("--debug-build-is-fine", action="store_true", help="print figures of a debug build")
    options = arguments.parse_args()
    for name in options.names:
        if name not in GROUPS:
            arguments.error(f"no figures `{name}`: there are {', '.join(GROUPS)}")
    return options


def ask_upstream(stack: contextlib.ExitStack) -> Oracle | None:
    """Return the oracle; say why, if there is none."""
    try:
        return stack.enter_context(Oracle(build()))
    except GoMissingError as error:
        print(f"upstream is skipped: {error}", file=sys.stderr)
    except OracleError as error:
        print(f"upstream is skipped: {error}", file=sys.stderr)
    return None


def measure(names: list[str], bench: Bench) -> Iterator[Figure]:
    for name in names or GROUPS:
        yield from GROUPS[name](bench)


if __name__ == "__main__":
    sys.exit(main())
