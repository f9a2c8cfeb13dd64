"""Runs programs to their end, each in a session of its own, and keeps what they say."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from drayman.clock import RealClock
from drayman.errors import DraymanError, InputError

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping
    from typing import Any

_GRACE_SECONDS = 5.0
_LINES = 12
_WORDS = 3
_STACK = re.compile(r"^\S.*\n\t\S+\.(?:go|s):\d+(?: .*)?\n?", re.MULTILINE)
_INFORMATION = re.compile(r"I\d{4} ")


class CommandError(DraymanError):
    """A program failed or took too long; `said` is the end of what it said, `log` has all of it."""

    def __init__(self, message: str, said: str, log: Path) -> None:
        super().__init__(f"{message}:\n{said}" if said else message)
        self.said = said
        self.hint = f"its whole output: {log}"


class Commands:
    """Runs programs; what they say to standard error is added to a file of the program's name in `logs`.

    `environment` is laid over that of this process; None takes a variable away.
    """

    def __init__(self, logs: Path, environment: Mapping[str, str | None] | None = None) -> None:
        self.logs = logs
        laid_over = {**os.environ, **(environment or {})}
        self._environment = {name: value for name, value in laid_over.items() if value is not None}
        self._clock = RealClock()
        # Who is killed takes its programs along; what they have made is found by the next start.
        self._bound = ["setpriv", "--pdeathsig", "TERM", "--"] if shutil.which("setpriv") else []

    def extend_path(self, folder: Path) -> None:
        """Let programs find others in `folder`, after those on the PATH."""
        self._environment["PATH"] = os.pathsep.join([self._environment.get("PATH", os.defpath), str(folder)])

    async def run(self, *command: str | Path, seconds: float = 60.0, stdin: str | None = None) -> str:
        """Run `command` and return what it wrote to standard output.

        Raises :class:`CommandError` when it fails or takes longer than `seconds`, and
        :class:`~drayman.errors.InputError` on a full disk. A task that is cancelled ends the program first.
        """
        log = self.logs / f"{Path(command[0]).name}.log"
        with log.open("ab") as errors:
            errors.write(f"$ {' '.join(str(part) for part in command)}\n".encode())
            errors.flush()
            before = errors.tell()
            code, output = await self._ended([str(part) for part in command], errors.fileno(), stdin, seconds)
        if code == 0:
            return output
        said = _end_of(log.read_bytes()[before:].decode(errors="replace") or output)
        raise _failure(_name(command), code, seconds, said, log)

    async def _ended(
        self, command: list[str], errors: int, stdin: str | None, seconds: float
    ) -> tuple[int | None, str]:
        """Return exit code, None where it took too long, and output."""
        process = await self._started(command, errors, stdin is not None)
        try:
            async with self._clock.timeout(seconds):
                output, _ = await process.communicate(None if stdin is None else stdin.encode())
        except TimeoutError:
            return None, ""
        finally:
            if process.returncode is None:
                await to_the_end(self._end(process))
        return process.returncode, output.decode(errors="replace")

    async def _started(self, command: list[str], errors: int, has_input: bool) -> asyncio.subprocess.Process:
        starting = asyncio.create_task(
            asyncio.create_subprocess_exec(
                *self._bound,
                *command,
                stdin=asyncio.subprocess.PIPE if has_input else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                env=self._environment,
                start_new_session=True,  # Ctrl-C is for us
            )
        )
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            # It runs already, and may have started others.
            await to_the_end(self._end_when_started(starting))
            raise
        except OSError as error:
            raise InputError(f"`{command[0]}` cannot be run: {(error.strerror or '').lower()}") from error

    async def _end_when_started(self, starting: asyncio.Task[asyncio.subprocess.Process]) -> None:
        with contextlib.suppress(OSError):
            await self._end(await starting)

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        """End a program, asked first so that it finishes what it is at, and then all that it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with self._clock.timeout(_GRACE_SECONDS):
                await process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


async def to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Do `work` to its end, also when this task is cancelled meanwhile; it is cancelled afterwards then."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
        except Exception:
            break
    if cancelled is None or task.exception() is not None:
        task.result()
    if cancelled is not None:
        raise cancelled


def _failure(name: str, code: int | None, seconds: float, said: str, log: Path) -> DraymanError:
    if "no space left on device" in said.lower():
        return InputError(f"`{name}` found a disk full:\n{said}", hint="docker system df says what Docker keeps there")
    if code is None:
        return CommandError(f"`{name}` took longer than {seconds:.0f} s", said, log)
    how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return CommandError(f"`{name}` {how}", said, log)


def _name(command: tuple[str | Path, ...]) -> str:
    """Return the program with its verbs, without options and what follows."""
    words = [Path(command[0]).name]
    for part in command[1:_WORDS]:
        if str(part).startswith("-"):
            break
        words.append(str(part))
    return " ".join(words)


def _end_of(text: str) -> str:
    """Return the last lines without what a Go program adds for its developers: stacks of calls, and information."""
    text = _STACK.sub("", text)
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    important = [line for line in lines if not _INFORMATION.match(line)]
    return "\n".join((important or lines)[-_LINES:])
