"""Health of devices, as reported to the kubelet."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from drayman.errors import InputError

if TYPE_CHECKING:
    from drayman.clock import Clock

REPORT_SECONDS = 10.0
"""How often an unchanged report is sent again: after 30 s of silence the kubelet takes a device's health as unknown."""


@dataclass(frozen=True, slots=True)
class DeviceHealth:
    """How one device of a pool is; `message` is for people."""

    pool: str
    device: str
    healthy: bool = True
    message: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """The health of all devices at one moment; `version` rises with every change."""

    version: int
    time: dt.datetime
    devices: tuple[DeviceHealth, ...]


class Health:
    """The health of a driver's devices; all are healthy at first. Used on the driver's event loop only."""

    def __init__(self, clock: Clock, devices: Iterable[DeviceHealth]) -> None:
        self._clock = clock
        self._devices = {device.device: device for device in devices}
        self._version = 0
        self._changed = asyncio.Event()

    def set(self, device: str, *, healthy: bool, message: str = "") -> None:
        """Report `device` as healthy or not from now on.

        Raises :class:`~drayman.errors.InputError` for a device that there is not.
        """
        if device not in self._devices:
            raise InputError(f"there is no device `{device}`")
        self._devices[device] = replace(self._devices[device], healthy=healthy, message=message)
        self._version += 1
        self._changed.set()  # wakes those that wait now, and nobody later
        self._changed.clear()

    async def report(self, after: int | None = None) -> Report:
        """Return the health of every device.

        Given the version of the last report, wait until something has changed since or that report gets old.
        """
        if after == self._version:
            with contextlib.suppress(TimeoutError):
                async with self._clock.timeout(REPORT_SECONDS):
                    await self._changed.wait()
        return Report(self._version, self._clock.now(), tuple(self._devices.values()))
