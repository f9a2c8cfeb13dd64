"""Checks and what is said about them, in the words of `k8s.io/apiserver/pkg/server/healthz`."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Check:
    """A named question; `test` returns why the answer is no, or nothing when all is well. It must not take long."""

    name: str
    test: Callable[[], str | Awaitable[str]]

    async def reason(self) -> str:
        """Return why the check fails, or nothing. A test that raises has failed."""
        try:
            found = self.test()
            return await found if inspect.isawaitable(found) else found
        except Exception as error:  # whatever is wrong with a test, the part is not known to be well
            return f"{type(error).__name__}: {error}"


PING = Check("ping", lambda: "")
"""Answers always: that it does shows that the event loop is not stuck."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent back: an HTTP status and a text."""

    status: int
    text: str


class Probes:
    """The endpoints of one part: `livez`, `readyz`, and `healthz`, which asks what `livez` asks.

    A part that is not live is to be killed and started anew; one that is not ready only needs time, or somebody else.
    """

    def __init__(self, live: Iterable[Check] = (), ready: Iterable[Check] = ()) -> None:
        alive = (PING, *live)
        self._checks: dict[str, Sequence[Check]] = {"livez": alive, "readyz": (PING, *ready), "healthz": alive}
        self._failed: dict[str, str] = {}

    async def answer(self, path: str, *, verbose: bool = False, exclude: Iterable[str] = ()) -> Answer | None:
        """Answer for `/ENDPOINT`, or `/ENDPOINT/CHECK` for one check; None for paths that there are not."""
        endpoint, _, name = path.removeprefix("/").partition("/")
        checks = self._checks.get(endpoint)
        if checks is None:
            return None
        if not name:
            return await self._all(endpoint, checks, verbose, sorted(set(exclude)))
        for check in checks:
            if check.name == name:
                reason = await check.reason()
                return Answer(500, f"internal server error: {reason}\n") if reason else Answer(200, "ok")
        return None

    async def _all(self, endpoint: str, checks: Sequence[Check], verbose: bool, excluded: Sequence[str]) -> Answer:
        said, failed = [], {}
        for check in checks:
            if check.name in excluded:
                said.append(f"[+]{check.name} excluded: ok\n")
            elif reason := await check.reason():
                # Anybody may ask: reasons go to the log.
                said.append(f"[-]{check.name} failed: reason withheld\n")
                failed[check.name] = reason
            else:
                said.append(f"[+]{check.name} ok\n")
        if unknown := [name for name in excluded if all(name != check.name for check in checks)]:
            listed = ",".join(f'"{name}"' for name in unknown)
            said.append(f"warn: some health checks cannot be excluded: no matches for {listed}\n")
        self._note(endpoint, failed)
        if failed:
            return Answer(500, f"{''.join(said)}{endpoint} check failed\n")
        return Answer(200, f"{''.join(said)}{endpoint} check passed\n" if verbose else "ok")

    def _note(self, endpoint: str, failed: dict[str, str]) -> None:
        """Log failures when they are new: probes ask every few seconds."""
        text = ", ".join(f"{name}: {reason}" for name, reason in failed.items())
        before, self._failed[endpoint] = self._failed.get(endpoint, ""), text
        if text and text != before:
            log.warning("%s check failed: %s", endpoint, text)
        elif before and not text:
            log.info("%s check passed", endpoint)
