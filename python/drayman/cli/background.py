"""Clusters that run in the background: started, and ended by name, for several verbs."""

from __future__ import annotations

import subprocess
import sys

from drayman.errors import DraymanError, InputError

_START_SECONDS = {"fake": 60.0, "local": 300.0, "existing": 300.0}
_END_SECONDS = {"fake": 30.0, "local": 30.0, "kind": 300.0, "existing": 200.0}


def check_free(name: str) -> None:
    """Raise :class:`InputError` when a cluster `name` is running."""
    from drayman.testing.clusters import registry

    if registry.find(name):
        raise InputError(f"a cluster `{name}` is running", hint=f"drayman cluster down {name}")


def start(name: str, arguments: list[str], *, backend: str = "fake") -> None:
    """Run `drayman ARGUMENTS`, which starts the cluster `name`, in the background until it is ready.

    Raises :class:`~drayman.errors.DraymanError` with the end of its log when it does not become so.
    """
    import asyncio

    from drayman.testing.clusters import registry

    registry.folder(name).mkdir(parents=True, exist_ok=True)
    with registry.log(name).open("w+") as log:
        child = subprocess.Popen(  # noqa: S603 - ourselves
            [sys.executable, "-m", "drayman", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        if asyncio.run(_is_ready(name, child, _START_SECONDS[backend])):
            child.returncode = 0  # from here on it is on its own, and nothing waits for it
            return
        child.terminate()
        child.wait()
        log.seek(0)  # the child has removed the file's name
        said = log.read().strip()
    registry.forget(name)
    raise DraymanError(f"cluster `{name}` did not start:\n{said or f'it said nothing; exit code {child.returncode}'}")


async def _is_ready(name: str, child: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait until the cluster `name` is recorded by the process `child`; False when it ends or takes too long."""
    from drayman.clock import RealClock
    from drayman.testing.clusters import registry

    clock = RealClock()
    limit = clock.monotonic() + seconds
    while child.poll() is None and clock.monotonic() < limit:
        if (entry := registry.find(name)) and entry.pid == child.pid:
            return True
        await clock.sleep(0.05)
    return False


def end(name: str) -> None:
    """End the cluster `name` and wait until it is gone."""
    import asyncio

    from drayman.clock import RealClock
    from drayman.testing.clusters import registry

    entry = registry.existing(name)
    registry.ask_to_end(entry)
    seconds = _END_SECONDS[entry.backend]

    async def gone() -> bool:
        clock = RealClock()
        limit = clock.monotonic() + seconds
        while entry.attended() and clock.monotonic() < limit:
            await clock.sleep(0.05)
        return not entry.attended()

    if not asyncio.run(gone()):
        raise DraymanError(f"cluster `{name}` (process {entry.pid}) did not end within {seconds:.0f} s")
    _remove_containers(name)
    registry.forget(name)


def remove_killed(name: str, kubeconfig: str | None, context: str | None) -> None:
    """Remove what the cluster `name` left, whose process was killed; a kubeconfig may say where it left objects."""
    import asyncio

    from drayman.clock import RealClock
    from drayman.testing.clusters import registry

    left, last = registry.noted(name), registry.last(name)
    if left is not None and left.get("backend") == "existing":
        from drayman.testing.clusters import existing

        asyncio.run(existing.remove_left(name, kubeconfig, context))
    elif last is not None and last.backend == "local":
        from drayman.testing.clusters.local.folder import clean_up

        asyncio.run(clean_up(RealClock()))
    _remove_containers(name)
    registry.forget(name)


def _remove_containers(name: str) -> None:
    import asyncio

    from drayman.testing.clusters import backends, registry

    if registry.noted(name) is not None:
        with registry.reserved(name):
            asyncio.run(backends.remove_containers(name))
