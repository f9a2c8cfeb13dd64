"""The command line: `drayman VERB …`.

Exit codes: 0 done and fits; 1 an error (bad input, refused, unreachable); 2 wrong usage; 3 the answer is no; 130
interrupted. Verbs on files import neither aiohttp nor gRPC, so that they start quickly.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
import shutil
import signal
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from drayman.errors import DraymanError
from drayman.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import ModuleType

VERBS = {
    "allocate": "allocate claims offline: which devices would they get, and if none, why",
    "explain": "say why a pod is not scheduled, or a claim not allocated, and what to change",
    "lint": "check manifests: what the API server refuses, and what people get wrong",
    "cel": "evaluate a CEL device selector: its type, its cost, and its value on devices",
    "slices": "list ResourceSlices and their pools: devices, used and free",
    "devices": "list devices: free, used, and by whom",
    "claims": "list ResourceClaims: state, devices, and the pods that use them",
    "classes": "list DeviceClasses: the devices that each selects, used and free",
    "pods": "list pods with claims: what they got, and why they wait",
    "snapshot": "write the objects of a cluster into a folder: what explain, simulate and every other verb need",
    "diff": "say what changed in devices and claims between two states of a cluster",
    "simulate": "say what the scheduler would do with manifests, in virtual time",
    "demo": "run the tutorial: pods that ask for mock GPUs, and what they get",
    "cluster": "start, list and end clusters on this machine, with their API on a loopback socket",
    "scheduler": "run the secondary scheduler against an API server, until interrupted",
    "driver": "run the mock DRA driver for one node, until interrupted",
    "manifests": "print the manifests of the scheduler or the driver, for `kubectl apply`",
    "completion": "print a script that completes the command line in a shell",
}
"""Each verb is the module that :func:`module` returns, with `add_arguments(parser)`, `run(arguments)` and a docstring
for `--help` whose first line is repeated here: only the module of the verb that runs is imported.
"""

_VIEWS = frozenset({"slices", "devices", "claims", "classes", "pods"})
"""The verbs whose modules are in the package `view`."""

_EVERYWHERE = {"-A": 0, "--all-namespaces": 0, "-n": 1, "--namespace": 1, "--context": 1, "--kubeconfig": 1}
"""Options that may also stand before the verb, as kubectl's users write them, and how many values they take."""

_WIDTH = 98

DONE, ERROR, USAGE, NO, INTERRUPTED = 0, 1, 2, 3, 130


def main(arguments: Sequence[str] | None = None, *, prog: str = "drayman") -> int:
    """Run the command line and return the exit code. Wrong usage and `--help` raise `SystemExit`, as argparse does."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by who started this
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - until the process ends
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # what the terminal has no character for
    try:
        with _ending_like_interrupted():
            return _ended(verb_first(sys.argv[1:] if arguments is None else arguments), prog)
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


def kubectl() -> int:
    """Run as the plugin that `kubectl dra` starts."""
    return main(prog="kubectl dra")


def _parsed(given: Sequence[str], prog: str) -> argparse.Namespace:
    """Parse the arguments; files may stand before, between and after options."""
    built = parser(given[:1], prog=prog)
    verb = given[0] if given else ""
    if verb and verb not in VERBS and not verb.startswith("-"):
        import difflib

        near = difflib.get_close_matches(verb, VERBS, n=1)
        built.error(f"there is no verb `{verb}`; did you mean `{near[0]}`?" if near else f"there is no verb `{verb}`")
    parsed, rest = built.parse_known_args(given)
    if rest and (not hasattr(parsed, "files") or any(len(one) > 1 and one.startswith("-") for one in rest)):
        built.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        parsed.files = [*parsed.files, *rest]
    return parsed


def complain(error: DraymanError) -> None:
    """Print an error, and its hint apart, to standard error."""
    print(f"error: {visible(str(error))}", file=sys.stderr)
    if error.hint:
        print(f"hint: {visible(error.hint)}", file=sys.stderr)


def _ended(given: list[str], prog: str) -> int:
    """Run what is given; when this returns, all that was printed has been written."""
    try:
        parsed = _parsed(given, prog)
        parsed.given = given
        return _run(parsed)
    finally:
        sys.stdout.flush()  # at the end of the process, a pipe whose reader has gone would be complained of


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
    """Keeps the examples of the descriptions as they are written, and lines to a hundred columns."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28, width=min(shutil.get_terminal_size().columns - 2, _WIDTH))


class _Version(argparse.Action):
    """Prints the versions of the kernel and of the Kubernetes release whose answers it gives."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        import drayman

        print(f"drayman {drayman.__version__} (Kubernetes {drayman.KUBERNETES}, compatibility 1.37 and fixed)")
        parser.exit()


def parser(verbs: Iterable[str] = VERBS, *, prog: str = "drayman") -> argparse.ArgumentParser:
    """Return the parser of the command line; of all verbs but `verbs` it knows nothing but that they are there."""
    built = argparse.ArgumentParser(
        prog=prog,
        description="Which devices would this claim get, and if none, why: DRA allocation for Kubernetes.",
        formatter_class=_Formatter,
    )
    built.add_argument("--version", action=_Version, nargs=0, help="print the versions and exit")
    added = built.add_subparsers(title="verbs", dest="verb", required=True, metavar="VERB")
    for verb, summary in VERBS.items():
        if verb not in verbs:
            added.add_parser(verb, help=summary, add_help=False)
            continue
        implementation = module(verb)
        description = _refilled(implementation.__doc__ or "").replace("drayman ", f"{prog} ")
        one = added.add_parser(verb, help=summary, description=description, formatter_class=_Formatter)
        implementation.add_arguments(one)
        one.set_defaults(run=implementation.run)
    return built


def module(verb: str) -> ModuleType:
    """Import and return the module of a verb."""
    return importlib.import_module(f"drayman.cli.view.{verb}" if verb in _VIEWS else f"drayman.cli.{verb}")


def _refilled(text: str) -> str:
    """Return a docstring with its paragraphs, but not its examples, in lines for a terminal."""
    paragraphs = text.strip().split("\n\n")
    return "\n\n".join(one if "\n  " in one else textwrap.fill(one, _WIDTH) for one in paragraphs)


def verb_first(given: Sequence[str]) -> list[str]:
    """Return the arguments with the options that stand before the verb behind it."""
    at = 0
    while at < len(given):
        name, value = given[at].partition("=")[::2]
        if name not in _EVERYWHERE:
            break
        at += 1 if value else 1 + _EVERYWHERE[name]
    return [*given[at : at + 1], *given[:at], *given[at + 1 :]]
