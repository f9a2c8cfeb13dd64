"""A virtual clock on the loop of the test."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pytest

from drayman.clock import VirtualClock, virtual_loop

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_CLOCKS: WeakKeyDictionary[asyncio.AbstractEventLoop, VirtualClock] = WeakKeyDictionary()


def _loop() -> asyncio.AbstractEventLoop:
    clock = VirtualClock()
    loop = virtual_loop(clock)
    _CLOCKS[loop] = clock
    return loop


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"virtual": _loop}


@pytest.fixture
async def clock() -> VirtualClock:
    return _CLOCKS[asyncio.get_running_loop()]


@pytest.fixture
def make_pod() -> Callable[..., Any]:
    """Return a function that makes pods in the namespace `default`; keywords go to the spec."""

    def make(name: str, *, labels: Mapping[str, str] | None = None, **spec: Any) -> Any:
        metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}", "labels": dict(labels or {})}
        return {"metadata": metadata, "spec": {"containers": [{"name": "main"}], **spec}}

    return make
