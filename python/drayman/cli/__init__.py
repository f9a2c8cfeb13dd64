"""The command line: `drayman VERB …`.

Exit codes: 0 done and fits; 1 an error (bad input, refused, unreachable); 2 wrong usage; 3 the answer is no; 130
interrupted. Verbs on files import neither aiohttp nor gRPC, so that they start quickly.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import signal
import sys
from typing import TYPE_CHECKING

from drayman.errors import DraymanError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

VERBS = ("allocate", "lint", "cel", "simulate", "demo", "cluster", "scheduler", "driver")
"""Each verb is the module of that name in this package, with `add_arguments(parser)`, `run(arguments)` and a docstring
for `--help`.
"""

DONE, ERROR, USAGE, NO, INTERRUPTED = 0, 1, 2, 3, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code. Wrong usage and `--help` raise `SystemExit`, as argparse does."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parsed = _parser().parse_args(given)
    parsed.given = given
    try:
        with _ending_like_interrupted():
            return _run(parsed)
    except DraymanError as error:
        complain(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of a pipe went away, as `head` does; what is still buffered has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        complain(DraymanError(_reason(error)))
    return ERROR


def complain(error: DraymanError) -> None:
    """Print an error, and its hint apart, to standard error."""
    print(f"error: {error}", file=sys.stderr)
    if error.hint:
        print(f"hint: {error.hint}", file=sys.stderr)


def _run(arguments: argparse.Namespace) -> int:
    try:
        return int(arguments.run(arguments))
    except ExceptionGroup as group:
        error: Exception = group
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, (DraymanError, OSError)):
            raise error from group
        raise


@contextlib.contextmanager
def _ending_like_interrupted() -> Iterator[None]:
    """Take being told to end like being interrupted: what was started is ended, and sockets are removed."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(*_: object) -> None:
    """Do what Ctrl-C does. Shells let their background jobs ignore interrupts; then asyncio does not wait for one."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)


def _reason(error: OSError) -> str:
    """Return what the system says about a file, or what a part says about a server that cannot be reached."""
    if error.strerror is None:
        return str(error)
    return ": ".join(str(part) for part in (error.filename, error.strerror.lower()) if part is not None)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the examples of the descriptions as they are written."""


class _Version(argparse.Action):
    """Prints the versions of the kernel and of the Kubernetes release whose answers it gives."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        import drayman

        print(f"drayman {drayman.__version__} (Kubernetes {drayman.KUBERNETES}, compatibility 1.37 and fixed)")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="drayman",
        description="Which devices would this claim get, and if none, why: DRA allocation for Kubernetes.",
        formatter_class=_Formatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the versions and exit")
    verbs = parser.add_subparsers(title="verbs", dest="verb", required=True, metavar="VERB")
    for verb in VERBS:
        module = importlib.import_module(f"drayman.cli.{verb}")
        description = (module.__doc__ or "").strip()
        added = verbs.add_parser(
            verb, help=description.splitlines()[0], description=description, formatter_class=_Formatter
        )
        module.add_arguments(added)
        added.set_defaults(run=module.run)
    return parser
