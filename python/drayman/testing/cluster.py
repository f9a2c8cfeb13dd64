"""The fake cluster of the test harness: a whole cluster in this process, in virtual time, without sockets to the API
server.

It runs on a thread and an event loop of its own, so that it can be used from plain functions and from coroutines alike.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import inspect
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from drayman import manifest
from drayman.clock import VirtualClock, virtual_loop
from drayman.testing.core import Core
from drayman.testing.parts import Options, checked

if TYPE_CHECKING:
    from types import TracebackType

    from drayman.kube.client import Object

T = TypeVar("T")
Input = str | Path | Mapping[str, Any] | Sequence["str | Path | Mapping[str, Any]"]
"""A file or folder, an object, or a list of these."""


class _Thread:
    """Runs one :class:`Core` on a loop of its own; calls come from any thread.

    A part that fails ends the loop; its error is raised by the call in progress, by every later one, and at the end.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._clock = VirtualClock()
        self._started: concurrent.futures.Future[Core] = concurrent.futures.Future()
        self._ended: concurrent.futures.Future[None] = concurrent.futures.Future()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="drayman fake cluster", daemon=True)

    def start(self) -> Core:
        self._thread.start()
        return self._started.result()

    def stop(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: a part has failed
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._ended.result()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:  # the loop is closed
            work.close()
            self._ended.result()
            raise
        either: tuple[concurrent.futures.Future[Any], ...] = (future, self._ended)
        concurrent.futures.wait(either, return_when=concurrent.futures.FIRST_COMPLETED)
        if not future.done() or future.cancelled():  # the loop is closing
            self._ended.result()
        return future.result()

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: virtual_loop(self._clock)) as runner:
                self._loop = runner.get_loop()
                runner.run(self._main())
        except BaseException as error:  # handed to the thread that uses the cluster
            failure = _leaf(error)
            self._ended.set_exception(failure)
            if not self._started.done():
                self._started.set_exception(failure)
        else:
            self._ended.set_result(None)

    async def _main(self) -> None:
        async with Core.running(self._options, self._clock) as core:
            core.start_control()
            await core.start_nodes()
            await self._clock.settle()
            self._started.set_result(core)
            await self._stop.wait()


class FakeCluster:
    """A fake cluster for tests: ``with FakeCluster() as cluster: cluster.apply("input.yaml"); cluster.settle()``.

    An API server like that of `kubernetes_version` with `feature_gates` laid over its defaults, the controllers of
    claims, jobs and taints, and, unless `scheduler` is false, the drayman scheduler serving every schedulerName.
    `nodes` fake nodes run a kubelet and the mock driver with `devices` devices each; with `nodes=0` bring nodes and
    slices of your own. Time is virtual: it moves only in :meth:`settle`, :meth:`advance` and :meth:`wait_for`. Two
    runs give the same objects to the byte, unless two drivers race to answer over their sockets.

    Also an asynchronous context manager, which gives an :class:`AsyncFakeCluster`. Methods may be called from any
    thread, one at a time. They raise :class:`drayman.errors.APIStatusError` when the API server refuses.
    """

    def __init__(
        self,
        kubernetes_version: str = "1.37",
        feature_gates: Mapping[str, bool] | None = None,
        *,
        scheduler: bool = True,
        compatibility: str = "fixed",
        nodes: int = 0,
        driver: str = "gpu.example.com",
        devices: int = 8,
        seed: int = 0,
    ) -> None:
        options = Options(
            kubernetes_version=kubernetes_version,
            feature_gates=dict(feature_gates or {}),
            compatibility=compatibility,
            scheduler=scheduler,
            nodes=nodes,
            driver=driver,
            devices=devices,
            seed=seed,
        )
        self._thread = _Thread(checked(options))
        self._started: Core | None = None

    def __enter__(self) -> FakeCluster:
        self._started = self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._thread.stop()

    async def __aenter__(self) -> AsyncFakeCluster:
        await asyncio.to_thread(self.__enter__)
        return AsyncFakeCluster(self)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self._thread.stop)

    def apply(self, *inputs: Input) -> Sequence[Object]:
        """Create the objects of files, folders, dicts or lists of these, or update those that exist; return them as
        stored.

        A `status` in an object is written after it. Missing namespaces are created.
        """
        return self._call(self._core.apply(objects(*inputs)))

    def settle(self, seconds: float = 60.0) -> None:
        """Let everything happen that happens by itself within `seconds`."""
        self._call(self._core.clock.settle(seconds))

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass."""
        self._call(self._core.clock.advance(seconds))

    def wait_for(self, predicate: Callable[[], Any], seconds: float = 60.0) -> None:
        """Let time pass until `predicate()` is true; it may call methods of this cluster.

        Raises `TimeoutError` when it is not true within `seconds`.
        """
        limit = self._begin_wait(seconds)
        more = True
        while not predicate():
            if not more:
                raise _timeout(seconds)
            more = self._step(limit)

    def get(self, kind: str, name: str) -> Object:
        """Return the object of a kind (or plural, or short name) called "namespace/name" or "name"."""
        return self._call(self._core.get(kind, name))

    def list(self, kind: str, namespace: str | None = None) -> Sequence[Object]:
        """Return all objects of a kind, in one namespace if given."""
        return self._call(self._core.list(kind, namespace))

    def delete(self, kind: str, name: str) -> None:
        """Delete an object; what that causes happens in the next :meth:`settle`."""
        self._call(self._core.delete(kind, name))

    def logs(self, pod: str, container: str | None = None) -> str:
        """Return what a container of the pod "namespace/name" printed; the first one when none is named."""
        return self._call(self._core.logs(pod, container))

    def state(self) -> Object:
        """Return what became of pods and claims, in the shape of `drayman simulate -o json`."""
        return self._call(self._core.state())

    def events(self) -> Sequence[Object]:
        """Return all events (`events.k8s.io/v1`), oldest first."""
        return self._call(self._core.events())

    def _begin_wait(self, seconds: float) -> float:
        """Let happen what happens without time passing; return when the wait of `seconds` is over."""
        self._call(self._core.clock.settle(0))
        return self._core.clock.monotonic() + seconds

    def _step(self, limit: float) -> bool:
        """Let time pass until the next thing happens; False when nothing does by `limit`."""
        return self._call(self._core.clock.step(limit))

    @property
    def _core(self) -> Core:
        if self._started is None:
            raise RuntimeError("the cluster is not running: use it in a `with` block")
        return self._started

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        return self._thread.call(work)


class AsyncFakeCluster:
    """The same cluster for coroutines: every method of :class:`FakeCluster`, awaited."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster

    async def apply(self, *inputs: Input) -> Sequence[Object]:
        """See :meth:`FakeCluster.apply`."""
        return await asyncio.to_thread(self._cluster.apply, *inputs)

    async def settle(self, seconds: float = 60.0) -> None:
        """See :meth:`FakeCluster.settle`."""
        await asyncio.to_thread(self._cluster.settle, seconds)

    async def advance(self, seconds: float) -> None:
        """See :meth:`FakeCluster.advance`."""
        await asyncio.to_thread(self._cluster.advance, seconds)

    async def wait_for(self, predicate: Callable[[], Any], seconds: float = 60.0) -> None:
        """See :meth:`FakeCluster.wait_for`; `predicate` may be a coroutine function."""
        limit = await asyncio.to_thread(self._cluster._begin_wait, seconds)
        more = True
        while not await _outcome(predicate):
            if not more:
                raise _timeout(seconds)
            more = await asyncio.to_thread(self._cluster._step, limit)

    async def get(self, kind: str, name: str) -> Object:
        """See :meth:`FakeCluster.get`."""
        return await asyncio.to_thread(self._cluster.get, kind, name)

    async def list(self, kind: str, namespace: str | None = None) -> Sequence[Object]:
        """See :meth:`FakeCluster.list`."""
        return await asyncio.to_thread(self._cluster.list, kind, namespace)

    async def delete(self, kind: str, name: str) -> None:
        """See :meth:`FakeCluster.delete`."""
        await asyncio.to_thread(self._cluster.delete, kind, name)

    async def logs(self, pod: str, container: str | None = None) -> str:
        """See :meth:`FakeCluster.logs`."""
        return await asyncio.to_thread(self._cluster.logs, pod, container)

    async def state(self) -> Object:
        """See :meth:`FakeCluster.state`."""
        return await asyncio.to_thread(self._cluster.state)

    async def events(self) -> Sequence[Object]:
        """See :meth:`FakeCluster.events`."""
        return await asyncio.to_thread(self._cluster.events)


def objects(*inputs: Input) -> list[Mapping[str, Any]]:
    """Return the objects that files, folders, dicts and lists of these hold, in their order; Lists are taken apart.

    Raises :class:`~drayman.errors.InputError` for a file that cannot be used, and for an object without a type.
    """
    found: list[Mapping[str, Any]] = []
    for given in inputs:
        if isinstance(given, str | Path):
            found += [loaded.object for loaded in manifest.load([given])]
        elif isinstance(given, Mapping):
            found += objects(*given["items"]) if given.get("kind") == "List" else [given]
        else:
            found += objects(*given)
    for obj in found:
        manifest.check_type(manifest.Manifest(dict(obj)))
    return found


async def _outcome(predicate: Callable[[], Any]) -> Any:
    outcome = predicate()
    return await outcome if inspect.isawaitable(outcome) else outcome


def _timeout(seconds: float) -> TimeoutError:
    return TimeoutError(f"the condition did not come true within {seconds:g} s of virtual time")


def _leaf(error: BaseException) -> BaseException:
    """Return what went wrong in the part that failed, without the groups of tasks around it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
