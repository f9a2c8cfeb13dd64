"""Asks the oracle: builds it into the user's cache folder, and speaks JSON lines with it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

Case = dict[str, Any]

MODULE = Path(__file__).parent
IMPLEMENTATION = "experimental"
"""Upstream's allocator that knows every feature; without the alpha ones it answers as the default one does."""

SEARCH_LIMIT = 5.0
"""Seconds after which upstream's search is given up."""


class OracleError(Exception):
    """The oracle does not build, or did not understand the question."""


class UpstreamPanicError(OracleError):
    """Upstream's code panicked: there is no answer to agree with."""


class GoMissingError(OracleError):
    """There is no Go to build the oracle with."""


class Oracle:
    """A running oracle; a context manager."""

    def __init__(self, program: Path) -> None:
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Oracle:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def ask(self, kind: str, question: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer. Raises :class:`OracleError`, or its subclass for a panic, when there is none."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({**question, "kind": kind}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"malformed": "the oracle ended"}
        if "malformed" in answer:
            raise OracleError(answer["malformed"])
        if "panic" in answer:
            raise UpstreamPanicError(answer["panic"])
        return answer

    def allocate(self, case: Case) -> dict[str, Any]:
        """Return what upstream's allocator does with a case: its answer, with share IDs masked."""
        answer = self.ask("allocate", {"implementation": IMPLEMENTATION, "limit": SEARCH_LIMIT, **case})
        for one in (answer, *answer.get("nodes", {}).values()):
            for allocation in one["results"] or ():
                mask_share_ids(allocation)
        return answer


def expectation(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the member `expect` of a case that upstream answered so."""
    if answer.get("interrupted"):
        raise OracleError(f"upstream found no answer within {SEARCH_LIMIT} seconds")
    return {"error": answer["error"]} if "error" in answer else {"results": answer["results"]}


def mask_share_ids(allocation: dict[str, Any]) -> dict[str, Any]:
    """Replace the share IDs, which are random, in an AllocationResult."""
    for result in allocation["devices"].get("results", ()):
        if "shareID" in result:
            result["shareID"] = "<share-id>"
    return allocation


def build() -> Path:
    """Build the oracle outside the tree. Raises :class:`GoMissingError`, and :class:`OracleError` for what Go says."""
    if shutil.which("go") is None:
        raise GoMissingError("`go` was not found: the oracle needs it")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "drayman"
    program = cache / "oracle" / "oracle"
    program.parent.mkdir(parents=True, exist_ok=True)
    built = subprocess.run(["go", "build", "-o", program, "."], cwd=MODULE, capture_output=True, text=True, check=False)
    if built.returncode != 0:
        raise OracleError(f"the oracle does not build: {built.stderr.strip()}")
    return program
