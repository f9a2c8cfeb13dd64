"""Starts the processes of a cluster, notices when one ends by itself, and ends them all."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from drayman.errors import DraymanError, InputError

if TYPE_CHECKING:
    from drayman.clock import Clock
    from drayman.testing.clusters.local.record import Record

log = logging.getLogger(__name__)

GRACE_SECONDS = 3.0
"""How long processes may take to end when asked to; nothing of a cluster that goes away is worth more."""

_KILL_SECONDS = 10.0
_LINES = 8
_KILLED = {-signal.SIGKILL: "was killed", -signal.SIGTERM: "was ended", 0: "was ended"}
_INTERVAL = 0.05


class Processes:
    """The processes of one cluster. Each writes into a file of its name in `logs`, and into no terminal.

    They end with this process, however it ends; what is left then of containers is cleaned up by the `record`.
    """

    def __init__(self, logs: Path, record: Record, clock: Clock, group: asyncio.TaskGroup) -> None:
        self.logs = logs
        self._record = record
        self._clock = clock
        self._group = group
        self._running: dict[str, asyncio.subprocess.Process] = {}
        self._watchers: list[asyncio.Task[None]] = []
        self._bound = ["setpriv", "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []
        logs.mkdir(parents=True, exist_ok=True)

    async def start(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        environment: Mapping[str, str] | None = None,
        prefix: Sequence[str] = (),
        stdin: int = asyncio.subprocess.DEVNULL,
        revived: bool = False,
    ) -> asyncio.subprocess.Process:
        """Start `command`, after `prefix`; its end is an error from now on, which ends the task group.

        One that is `revived` may be killed or told to end: it is started again, as a kubelet does with containers.
        """
        log.info("starting %s", name)

        async def again() -> None:
            await self.start(name, command, environment=environment, prefix=prefix, stdin=stdin, revived=True)

        with self.log(name).open("ab") as output:
            process = await asyncio.create_subprocess_exec(
                *self._bound,
                *prefix,
                *(str(part) for part in command),
                stdin=stdin,
                stdout=output,
                stderr=output,
                env=environment,
                # Ctrl-C is for us: we end the others in our order.
                start_new_session=True,
            )
        self._running[name] = process
        self._record.add(process.pid)
        self._watchers.append(
            self._group.create_task(self._watch(name, process, again if revived else None), name=f"end of {name}")
        )
        return process

    async def run(self, name: str, command: Sequence[str | Path], *, prefix: Sequence[str] = ()) -> None:
        """Run `command` to its end. Raises :class:`~drayman.errors.DraymanError` when it fails."""
        with self.log(name).open("ab") as output:
            process = await asyncio.create_subprocess_exec(
                *self._bound,
                *prefix,
                *(str(part) for part in command),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self._record.add(process.pid)
        if code := await process.wait():
            raise self._failure(name, code)

    def log(self, name: str) -> Path:
        """Return where the output of a process is."""
        return self.logs / f"{name}.log"

    async def until(self, what: str, condition: Callable[[], Awaitable[bool]], seconds: float) -> None:
        """Wait until `condition()` holds. Raises :class:`~drayman.errors.DraymanError` when it takes too long."""
        limit = self._clock.monotonic() + seconds
        while not await condition():
            if self._clock.monotonic() > limit:
                raise DraymanError(f"{what}: not within {seconds:.0f} s")
            await self._clock.sleep(_INTERVAL)

    async def stop(self) -> None:
        """End everything that was started, and what that has started on the node."""
        for watcher in self._watchers:
            watcher.cancel()
        for process in self._running.values():
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with self._clock.timeout(GRACE_SECONDS):
                await asyncio.gather(*(process.wait() for process in self._running.values()))
        await self.kill()

    async def kill(self) -> None:
        """Kill what is left. Raises :class:`~drayman.errors.DraymanError` when something cannot be killed."""
        await kill(self._record, self._clock)
        for process in self._running.values():
            await process.wait()

    async def _watch(
        self, name: str, process: asyncio.subprocess.Process, again: Callable[[], Awaitable[None]] | None
    ) -> None:
        code = await process.wait()
        if again is None or code not in _KILLED:
            raise self._failure(name, code)
        log.warning("%s %s, and is started again", name, _KILLED[code])
        await again()

    def _failure(self, name: str, code: int) -> DraymanError:
        path = self.log(name)
        lines = path.read_text(errors="replace").splitlines()
        said = "\n".join(lines[-_LINES:])
        if "address already in use" in said:
            error: DraymanError = InputError(f"`{name}` found its port taken:\n{said}")
        elif "no space left on device" in said.lower():
            error = InputError(f"`{name}` found the disk of `{self.logs.parent}` full:\n{said}")
        else:
            how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
            error = DraymanError(f"`{name}` {how}:\n{said}")
        error.hint = f"its whole output: {path}"
        return error


async def kill(record: Record, clock: Clock) -> None:
    """Kill the processes of a cluster until none is left.

    Raises :class:`~drayman.errors.DraymanError` when some cannot be killed.
    """
    limit = clock.monotonic() + _KILL_SECONDS
    while alive := record.kill():
        if clock.monotonic() > limit:
            raise DraymanError(f"processes of `{record.folder}` cannot be killed: {', '.join(map(str, alive))}")
        await clock.sleep(_INTERVAL)
